#include "adapters/redis/log/redis_log_news.h"

#include <boost/asio/post.hpp>

#include "adapters/redis/log/redis_log_keys.h"

namespace sluice::redis {

LogNews::Ear::Ear(Executor executor, std::set<std::string> topics, std::string group)
    : executor_(std::move(executor)), topics_(std::move(topics)), group_(std::move(group)), woken_(executor_) {}

LogNews::Heard LogNews::Ear::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(heard_, {});
}

Task<> LogNews::Ear::wait_until(Clock& clock, Instant when) {
  const auto self = shared_from_this();
  {
    const std::lock_guard lock(mutex_);
    if (heard_.everything || !heard_.subjects.empty()) co_return;
  }
  // Later news arrive by a post to this executor, which runs after the wait has begun.
  co_await woken_.wait_until(clock, when);
}

bool LogNews::Ear::cares_for(std::string_view subject) const {
  return subject == group_ || topics_.contains(std::string(subject.substr(0, subject.rfind(':'))));
}

void LogNews::Ear::hear(std::string_view subject) {
  if (!cares_for(subject)) return;
  const std::lock_guard lock(mutex_);
  heard_.subjects.emplace(subject);
  wake();
}

void LogNews::Ear::hear_everything() {
  const std::lock_guard lock(mutex_);
  heard_.everything = true;
  wake();
}

void LogNews::Ear::wake() {
  if (std::exchange(told_, true)) return;
  asio::post(executor_, [self = shared_from_this()] {
    {
      const std::lock_guard lock(self->mutex_);
      self->told_ = false;
    }
    self->woken_.notify_all();
  });
}

std::shared_ptr<LogNews::Ear> LogNews::listen(Executor executor, std::set<std::string> topics, std::string_view group) {
  auto ear = std::make_shared<Ear>(std::move(executor), std::move(topics), log_news_of_group(group));
  const std::lock_guard lock(mutex_);
  ears_.push_back(ear);
  return ear;
}

template <class Tell>
void LogNews::tell_all(Tell tell) {
  const std::lock_guard lock(mutex_);
  for (auto at = ears_.begin(); at != ears_.end();) {
    if (const auto ear = at->lock()) {
      tell(*ear);
      ++at;
    } else {
      at = ears_.erase(at);
    }
  }
}

void LogNews::on_listening() {
  listening_ = true;
  tell_all([](Ear& ear) { ear.hear_everything(); });
}

void LogNews::on_interrupted() {
  listening_ = false;
}

void LogNews::on_message(std::string_view, std::string_view message) {
  tell_all([message](Ear& ear) { ear.hear(message); });
}

}  // namespace sluice::redis
