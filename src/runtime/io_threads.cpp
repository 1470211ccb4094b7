#include "runtime/io_threads.h"

#include <pthread.h>

#include "base/check.h"

namespace sluice {

IoThreads::IoThreads(unsigned count) {
  if (count == 0) count = std::max(1U, std::thread::hardware_concurrency());
  for (unsigned i = 0; i < count; ++i) loops_.push_back(std::make_unique<Loop>());
}

IoThreads::~IoThreads() {
  stop();
}

void IoThreads::start() {
  for (const auto& loop : loops_) {
    check(!loop->thread.joinable(), "the I/O threads were started twice");
    loop->thread = std::thread([&context = loop->context] { context.run(); });
    pthread_setname_np(loop->thread.native_handle(), "io");
  }
}

void IoThreads::stop() {
  for (const auto& loop : loops_) {
    loop->work.reset();
    loop->context.stop();
  }
  for (const auto& loop : loops_) {
    if (loop->thread.joinable()) loop->thread.join();
  }
}

}  // namespace sluice
