#include "adapters/kafka/broker_check.h"

#include <future>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <gtest/gtest.h>

namespace sluice::kafka {
namespace {

class BrokerCheckTest : public testing::Test {
 protected:
  std::future<void> ask(BrokerCheck::Ask question) {
    return asio::co_spawn(io_, check_.reach(std::move(question)), asio::use_future);
  }
  void run_until(const std::vector<std::future<void>*>& answers) {
    for (const auto* answer : answers) {
      while (answer->wait_for(0s) != std::future_status::ready) io_.run_one();
    }
  }

  asio::io_context io_;
  const asio::executor_work_guard<asio::io_context::executor_type> stays_{io_.get_executor()};
  BrokerCheck check_;
};

TEST_F(BrokerCheckTest, those_who_ask_meanwhile_share_one_question) {
  std::promise<void> brokers_answer;
  std::atomic<int> questions = 0;
  const auto question = [&, answered = brokers_answer.get_future().share()] {
    ++questions;
    answered.wait();
    return BrokerCheck::Answer{};
  };
  auto first = ask(question);
  auto second = ask(question);
  while (io_.poll() > 0) {
  }
  brokers_answer.set_value();
  run_until({&first, &second});
  first.get();
  second.get();
  EXPECT_EQ(questions, 1);
}

TEST_F(BrokerCheckTest, a_failure_is_everybodys_and_is_not_remembered) {
  auto failing = ask([] { return BrokerCheck::Answer("away"); });
  run_until({&failing});
  EXPECT_THROW(failing.get(), EngineUnavailable);
  auto working = ask([] { return BrokerCheck::Answer{}; });
  run_until({&working});
  working.get();
}

}  // namespace
}  // namespace sluice::kafka
