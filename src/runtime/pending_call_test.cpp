#include "runtime/pending_call.h"

#include <thread>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

namespace sluice {
namespace {

// A call whose result is a number.
struct Question : PendingCall {
  int result = 0;

  void answer(int number) {
    if (!end()) return;
    result = number;
    resume(take_caller());
  }
};
using QuestionRef = std::shared_ptr<Question>;

enum class Ending { none, answered, left };

Task<> ask(QuestionRef question, std::function<void()> submitted, Ending& ending) {
  const auto submit = [&submitted](const QuestionRef&) { submitted(); };
  try {
    co_await await_request(question, submit);
    question->throw_if_left();
    ending = Ending::answered;
  } catch (const boost::system::system_error& error) {
    EXPECT_EQ(error.code(), asio::error::operation_aborted);
    ending = Ending::left;
  }
}

struct PendingCallTest : testing::Test {
  asio::io_context context;
  asio::cancellation_signal cancel;
  QuestionRef question = std::make_shared<Question>();
  Ending ending = Ending::none;

  // Asks and runs until there is nothing to do but wait.
  void start(std::function<void()> submitted = [] {}) {
    asio::co_spawn(context, ask(question, std::move(submitted), ending),
                   asio::bind_cancellation_slot(cancel.slot(), [](const std::exception_ptr& error) {
                     if (error) std::rethrow_exception(error);
                   }));
    run();
  }
  void run() {
    context.restart();
    context.poll();
  }
  void cancel_caller() {
    cancel.emit(asio::cancellation_type::terminal);
    run();
  }
};

TEST_F(PendingCallTest, a_caller_is_resumed_with_the_result) {
  start();
  EXPECT_EQ(ending, Ending::none);
  question->answer(42);
  run();
  EXPECT_EQ(ending, Ending::answered);
  EXPECT_EQ(question->result, 42);
}

TEST_F(PendingCallTest, an_answer_before_the_submission_returns_is_not_lost) {
  start([this] { question->answer(42); });
  run();
  EXPECT_EQ(ending, Ending::answered);
}

TEST_F(PendingCallTest, a_cancelled_caller_leaves_and_a_late_answer_has_no_effect) {
  start();
  cancel_caller();
  EXPECT_EQ(ending, Ending::left);
  EXPECT_TRUE(question->left());
  question->answer(42);
  run();
  EXPECT_EQ(question->result, 0);
}

TEST_F(PendingCallTest, a_kept_caller_waits_for_the_result) {
  start();
  EXPECT_TRUE(question->keep_caller());
  cancel_caller();
  EXPECT_EQ(ending, Ending::none);
  question->answer(42);
  run();
  EXPECT_EQ(ending, Ending::answered);
}

TEST_F(PendingCallTest, a_caller_that_has_left_cannot_be_kept) {
  start();
  cancel_caller();
  EXPECT_FALSE(question->keep_caller());
}

TEST_F(PendingCallTest, a_call_that_has_ended_can_be_made_again) {
  for (const int number : {1, 2}) {
    ending = Ending::none;
    start();
    question->answer(number);
    run();
    EXPECT_EQ(ending, Ending::answered);
    EXPECT_EQ(question->result, number);
  }
}

TEST_F(PendingCallTest, one_of_two_threads_ends_it) {
  for (int i = 0; i < 500; ++i) {
    question = std::make_shared<Question>();
    ending = Ending::none;
    start();
    std::thread engine([answered = question] { answered->answer(42); });
    cancel_caller();
    engine.join();
    run();
    ASSERT_NE(ending, Ending::none);
    ASSERT_EQ(question->result, ending == Ending::answered ? 42 : 0);
  }
}

}  // namespace
}  // namespace sluice
