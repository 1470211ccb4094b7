// The thread on which PostgreSQL's connections live.
//
// libpq parses and encodes on the thread that calls it; on one of its own that work never delays an HTTP request, and
// the databases of all services can share it.
#pragma once

#include <string>
#include <thread>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include "runtime/task.h"

namespace sluice::postgres {

class EngineThread {
 public:
  explicit EngineThread(std::string name = "postgres");
  // All users of the thread must have ended.
  ~EngineThread();
  EngineThread(const EngineThread&) = delete;
  EngineThread& operator=(const EngineThread&) = delete;

  Executor executor() { return context_.get_executor(); }

  // Runs `task` there and waits for its end. From other threads only.
  void run(Task<> task);

 private:
  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  std::thread thread_;
};

}  // namespace sluice::postgres
