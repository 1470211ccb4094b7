// The fixture of consumer_contract.cpp, for the engines that run it.
#pragma once

#include "messaging/consumer.h"
#include "messaging/dead_letters.h"
#include "tests/contract/log_fixture.h"

namespace sluice::test {

// Payloads are numbers that count from 0 for each key. Handled messages are noted, and have to be in order: a message
// begins only when all before it with its key have finished, in any consumer.
class ConsumerContract : public LogFixture {
 protected:
  using Consumer = messaging::Consumer;
  using Delivery = messaging::Delivery;
  using Handled = messaging::Handled;
  using Verdict = std::function<Task<Handled>(Delivery)>;

  void SetUp() override {
    LogFixture::SetUp();
    topic_ = new_topic();
    letters_ = new_topic(2);
    group_ = unique("group");
    // Nothing ends here because this machine stood still.
    config_.session = 30s;
    config_.handover = 30s;
    config_.commit_every = 100ms;
    config_.retry = {.first = 1ms, .factor = 1, .max = 1ms};
    config_.pause = {.first = 20ms, .factor = 1, .max = 20ms};
  }
  void TearDown() override {
    verdict_ = nullptr;
    for (const auto& consumer : consumers_) run(consumer->stop());
    consumers_.clear();
    LogFixture::TearDown();
  }

  // Lives until the end of the test.
  Consumer& consume() { return consume_at(log()); }
  Consumer& consume_at(messaging::MessageLog& log) {
    const messaging::ConsumerRole role{group_, {topic_}, "worker", letters_};
    consumers_.push_back(std::make_unique<Consumer>(
        messaging::ConsumerParts{log, clock_, random_}, config_, role,
        [this](Delivery delivery) { return handle(std::move(delivery)); }, io_.get_executor()));
    consumers_.back()->start();
    return *consumers_.back();
  }

  void publish(const std::string& key) {
    LogFixture::publish({topic_, key, std::to_string(published_[key])});
    ++published_[key];
  }
  // Numbers of many keys, in one call.
  void publish_many(int keys, int each) {
    std::vector<Message> messages;
    for (int i = 0; i < keys * each; ++i) {
      const std::string key = fmt::format("key {}", i % keys);
      messages.push_back({topic_, key, std::to_string(published_[key]++)});
    }
    run(log().publish(std::move(messages)));
  }

  Task<Handled> handle(Delivery delivery) {
    const std::string key(delivery.key);
    const int number = std::stoi(std::string(delivery.payload));
    ++begun_;
    EXPECT_LE(number, finished_[key]) << "of " << key << " begins too early";
    Handled handled;
    if (verdict_) {
      Task<Handled> asked = verdict_(delivery);
      handled = co_await std::move(asked);
    }
    // A message that becomes a dead letter has finished, too, before the next begins.
    const bool ends = handled.kind == Handled::Kind::done || handled.kind == Handled::Kind::dead;
    if (ends && number == finished_[key]) ++finished_[key];
    co_return handled;
  }
  static Task<Handled> say(Handled handled) { co_return handled; }
  static Task<Handled> fail_engine() {
    throw EngineUnavailable("database", "down");
    co_return Handled::done();
  }
  Task<Handled> after(Duration duration) {
    co_await clock_.sleep_for(duration);
    co_return Handled::done();
  }
  Task<Handled> once(const bool& released) {
    while (!released) co_await clock_.sleep_for(5ms);
    co_return Handled::done();
  }

  bool all_finished() { return finished_ == published_; }
  int64_t lag() {
    int64_t lag = 0;
    for (const auto& each : run(view().groups())) lag += each.group == group_ ? each.lag : 0;
    return lag;
  }

  messaging::ConsumerConfig config_;
  SeededRandom random_{1};
  Verdict verdict_;
  std::string topic_;
  std::string letters_;
  std::string group_;
  std::map<std::string, int> published_;
  std::map<std::string, int> finished_;
  int begun_ = 0;

 private:
  std::vector<std::unique_ptr<Consumer>> consumers_;
};

}  // namespace sluice::test
