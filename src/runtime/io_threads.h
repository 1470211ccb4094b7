// The threads that do the I/O: one event loop each, nothing shared between them.
//
// Objects that live on a loop (a connection, a pool, a TaskScope) are used only by its thread; other threads post to
// its executor. Created first, so that later objects can be given an executor; nothing runs until `start`.
#pragma once

#include <memory>
#include <thread>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include "runtime/task.h"

namespace sluice {

class IoThreads {
 public:
  // 0: one per core.
  explicit IoThreads(unsigned count = 0);
  // Stops and joins.
  ~IoThreads();
  IoThreads(const IoThreads&) = delete;
  IoThreads& operator=(const IoThreads&) = delete;

  size_t size() const { return loops_.size(); }
  asio::io_context& context(size_t i) { return loops_[i]->context; }
  Executor executor(size_t i) { return loops_[i]->context.get_executor(); }

  void start();
  // Returns when every thread has left its loop. Pending work is dropped, so close scopes and servers first. Not from
  // one of these threads.
  void stop();

 private:
  struct Loop {
    asio::io_context context{1};
    asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
    std::thread thread;
  };
  std::vector<std::unique_ptr<Loop>> loops_;
};

}  // namespace sluice
