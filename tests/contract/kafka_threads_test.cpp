// The log, its callers and its readers on different threads.
#include <boost/asio/use_future.hpp>

#include "runtime/io_threads.h"
#include "tests/contract/kafka_engines.h"
#include "tests/support/needs.h"

namespace sluice::test {
namespace {

using messaging::Message;
using messaging::Position;

class KafkaThreads : public testing::Test {
 protected:
  static constexpr int publishers = 8;
  static constexpr int calls = 25;
  static constexpr int messages_a_call = 10;
  static constexpr size_t all = publishers * calls * messages_a_call;

  void SetUp() override {
    SLUICE_NEEDS(KafkaBroker::why_missing());
    threads_.start();
    log_ = std::make_unique<kafka::KafkaLog>(shared_kafka().config(), threads_.executor(0), clock_);
    wait_for(0, log_->declare({{.name = "threads", .partitions = 4}}));
  }
  void TearDown() override {
    if (log_) wait_for(0, log_->close());
  }

  template <class Value>
  std::future<Value> begin(size_t thread, Task<Value> task) {
    return asio::co_spawn(threads_.executor(thread), std::move(task), asio::use_future);
  }
  template <class Value>
  Value wait_for(size_t thread, Task<Value> task) {
    return begin(thread, std::move(task)).get();
  }

  Task<size_t> publish(int publisher) {
    size_t stored = 0;
    for (int call = 0; call < calls; ++call) {
      std::vector<Message> messages;
      for (int i = 0; i < messages_a_call; ++i) {
        messages.push_back({"threads", fmt::format("key {} {}", publisher, i % 3), "payload", {{"message-type", "T"}}});
      }
      const auto outcomes = co_await log_->publish(std::move(messages));
      for (const auto& outcome : outcomes) stored += std::holds_alternative<Position>(outcome) ? 1 : 0;
    }
    co_return stored;
  }
  // Leaves again and again while its messages are under way.
  Task<> publish_and_leave() {
    for (int call = 0; call < 50; ++call) {
      auto publishing = log_->publish({{"threads", "left", "x"}, {"threads", "left", "y"}});
      try {
        co_await with_deadline(clock_, Deadline::after(clock_, Duration(call * 200)), "test", std::move(publishing));
      } catch (const DeadlineExceeded&) {
      }
    }
  }
  Task<size_t> read() {
    const Executor executor = co_await asio::this_coro::executor;
    auto subscription = log_->subscribe({.group = "threads", .topics = {"threads"}}, executor);
    std::map<messaging::AssignmentRef, int64_t> next;
    size_t seen = 0;
    for (const Deadline limit = Deadline::after(clock_, 1min); seen < all && !limit.passed(clock_);) {
      const Deadline patience = Deadline::after(clock_, 200ms);
      messaging::Fetched fetched = co_await subscription->fetch(100, patience);
      for (const auto& delivery : fetched.deliveries) {
        seen += delivery.payload == "payload" && delivery.header("message-type") == "T" ? 1 : 0;
        next[delivery.assignment] = delivery.offset + 1;
      }
      std::vector<messaging::Progress> progress;
      for (const auto& [assignment, offset] : next) progress.push_back({assignment, offset});
      co_await subscription->commit(std::move(progress));
    }
    co_await subscription->close();
    co_return seen;
  }

  SystemClock clock_;
  IoThreads threads_{4};
  std::unique_ptr<kafka::KafkaLog> log_;
};

TEST_F(KafkaThreads, publishers_readers_and_lookers_on_threads_of_their_own) {
  std::vector<std::future<size_t>> stored;
  for (int i = 0; i < publishers; ++i) stored.push_back(begin(1 + static_cast<size_t>(i) % 2, publish(i)));
  auto left = begin(1, publish_and_leave());
  auto seen = begin(3, read());
  auto topics = begin(2, log_->topics());
  auto groups = begin(2, log_->groups());
  size_t sum = 0;
  for (auto& each : stored) sum += each.get();
  left.get();
  EXPECT_EQ(sum, all);
  EXPECT_EQ(seen.get(), all);
  EXPECT_EQ(topics.get().size(), 1U);
  groups.get();
}

}  // namespace
}  // namespace sluice::test
