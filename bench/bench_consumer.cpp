// The cost of a consumer: the log is free, and the handler does nothing.
#include <chrono>
#include <set>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <fmt/format.h>

#include "messaging/consumer.h"
#include "runtime/system_clock.h"
#include "runtime/wakeup.h"

namespace sluice::messaging {
namespace {

constexpr int64_t messages = 2'000'000;
constexpr int32_t partitions = 4;

// Messages from memory that was made before.
class EndlessSubscription : public Subscription {
 public:
  EndlessSubscription(size_t keys, const Executor& executor)
      : resumed_(executor), payload_(std::make_shared<std::string>(1000, 'x')) {
    for (size_t i = 0; i < keys; ++i) keys_.push_back(fmt::format("key-{}", i));
    for (int32_t i = 0; i < partitions; ++i) {
      assignments_.push_back(std::make_shared<const Assignment>(Assignment{"orders", i}));
    }
  }

  Task<Fetched> fetch(size_t most, Deadline) override {
    while (paused_.size() == partitions) co_await resumed_.wait();
    Fetched fetched;
    fetched.deliveries.reserve(most);
    for (; fetched.deliveries.size() < most; ++next_) {
      const auto& assignment = assignments_[static_cast<size_t>(next_) % partitions];
      if (!paused_.empty() && paused_.contains(assignment)) continue;
      const std::string& key = keys_[static_cast<size_t>(next_) % keys_.size()];
      fetched.deliveries.push_back({assignment, next_, {}, key, *payload_, headers_, payload_});
    }
    co_return fetched;
  }
  Task<> commit(std::vector<Progress>) override { co_return; }
  void pause(const AssignmentRef& assignment) override { paused_.insert(assignment); }
  void resume(const AssignmentRef& assignment) override {
    paused_.erase(assignment);
    resumed_.notify_all();
  }
  Task<> let_go(AssignmentRef) override { co_return; }
  Task<> close() override { co_return; }

 private:
  Wakeup resumed_;
  std::shared_ptr<std::string> payload_;
  std::vector<std::string> keys_;
  std::vector<AssignmentRef> assignments_;
  std::set<AssignmentRef> paused_;
  const HeaderViews headers_{{"message-id", "018f4e1c-6d2a-7c3e-9f10-0242ac120002"}, {"message-type", "Ordered"}};
  int64_t next_ = 0;
};

class EndlessLog : public MessageLog {
 public:
  explicit EndlessLog(size_t keys) : keys_(keys) {}
  Task<> declare(std::vector<Topic>) override { co_return; }
  Task<std::vector<Published>> publish(std::vector<Message>) override { co_return std::vector<Published>{}; }
  Task<int32_t> partitions(std::string) override { co_return 1; }
  std::unique_ptr<Subscription> subscribe(SubscriptionConfig, Executor executor) override {
    return std::make_unique<EndlessSubscription>(keys_, executor);
  }
  Task<Memory> memory(std::string) override { co_return Memory{}; }

 private:
  size_t keys_;
};

struct Count {
  int64_t handled = 0;
  asio::io_context io;
};

Task<Handled> nothing(Count& count) {
  if (++count.handled == messages) count.io.stop();
  co_return Handled::done();
}

Task<Handled> wait_once(Count& count) {
  co_await asio::post(count.io, asio::use_awaitable);
  if (++count.handled == messages) count.io.stop();
  co_return Handled::done();
}

void measure(const char* name, size_t keys, Task<Handled> (*handle)(Count&)) {
  Count count;
  SystemClock clock;
  SeededRandom random(1);
  EndlessLog log(keys);
  ConsumerConfig config;
  config.drain = 0s;
  const ConsumerRole role{"bench", {"orders"}, "bench"};
  Consumer consumer(
      {log, clock, random}, config, role, [&](const Delivery&) { return handle(count); }, count.io.get_executor());
  consumer.start();
  const auto began = std::chrono::steady_clock::now();
  count.io.run();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  fmt::print("{:<44} {:>9.0f} messages/s\n", name, static_cast<double>(messages) / took.count());
  bool stopped = false;
  asio::co_spawn(count.io, consumer.stop(), [&](const std::exception_ptr&) { stopped = true; });
  count.io.restart();
  while (!stopped) count.io.run_one();
}

}  // namespace
}  // namespace sluice::messaging

int main() {
  using namespace sluice::messaging;
  measure("a handler that does nothing, 100,000 keys", 100'000, nothing);
  measure("a handler that does nothing, 100 keys", 100, nothing);
  measure("a handler that waits once, 100,000 keys", 100'000, wait_once);
}
