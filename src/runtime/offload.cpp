#include "runtime/offload.h"

#include <pthread.h>

namespace sluice {

Offload::Offload(std::string name, unsigned threads, size_t max_waiting)
    : name_(std::move(name)), max_waiting_(max_waiting) {
  for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this] { serve(); });
}

Offload::~Offload() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_or_stop_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool Offload::try_submit(Work work) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= max_waiting_) return false;
    waiting_.push_back(std::move(work));
  }
  work_or_stop_.notify_one();
  return true;
}

void Offload::serve() {
  pthread_setname_np(pthread_self(), name_.substr(0, 15).c_str());
  while (true) {
    Work work;
    {
      std::unique_lock lock(mutex_);
      work_or_stop_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      work = std::move(waiting_.front());
      waiting_.pop_front();
    }
    work();
  }
}

}  // namespace sluice
