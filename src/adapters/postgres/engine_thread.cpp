#include "adapters/postgres/engine_thread.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>
#include <pthread.h>

#include "base/check.h"

namespace sluice::postgres {

EngineThread::EngineThread(std::string name)
    : work_(context_.get_executor()), thread_([this, name = std::move(name)] {
        pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
        context_.run();
      }) {}

EngineThread::~EngineThread() {
  work_.reset();
  thread_.join();
}

void EngineThread::run(Task<> task) {
  check(std::this_thread::get_id() != thread_.get_id(), "a thread waits for itself");
  asio::co_spawn(context_, std::move(task), asio::use_future).get();
}

}  // namespace sluice::postgres
