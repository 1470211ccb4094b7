#include "messaging/bell.h"

#include <boost/asio/post.hpp>

namespace sluice::messaging {

struct Bell::Listener::Ear : std::enable_shared_from_this<Ear> {
  explicit Ear(const Executor& home) : executor(home), woken(home) {}

  Executor executor;
  Wakeup woken;
  bool heard = false;              // on the executor
  std::atomic<bool> told = false;  // a ring is on its way: the next need not be sent
};

Task<> Bell::Listener::wait_until(Clock& clock, Instant when) {
  const auto ear = ear_;
  if (!ear->heard) co_await ear->woken.wait_until(clock, when);
  ear->heard = false;
}

void Bell::Listener::wake() {
  ear_->heard = true;
  ear_->woken.notify_all();
}

Bell::Listener Bell::listen(const Executor& executor) {
  auto ear = std::make_shared<Listener::Ear>(executor);
  const std::lock_guard lock(mutex_);
  // Listeners that are gone must not pile up while nothing rings: for each new one the two oldest are looked at.
  for (int i = 0; i < 2 && !ears_.empty(); ++i) {
    if (ears_.front().expired()) {
      ears_.pop_front();
    } else {
      ears_.splice(ears_.end(), ears_, ears_.begin());
    }
  }
  ears_.push_back(ear);
  return Listener(std::move(ear));
}

void Bell::ring() {
  const std::lock_guard lock(mutex_);
  for (auto at = ears_.begin(); at != ears_.end();) {
    const auto ear = at->lock();
    if (!ear) {
      at = ears_.erase(at);
      continue;
    }
    if (!ear->told.exchange(true)) {
      asio::post(ear->executor, [ear] {
        ear->told = false;
        ear->heard = true;
        ear->woken.notify_all();
      });
    }
    ++at;
  }
}

}  // namespace sluice::messaging
