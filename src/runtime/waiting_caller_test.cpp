#include "runtime/waiting_caller.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "runtime/offload.h"

namespace sluice {
namespace {

// Known by how many hold it.
using Trace = std::shared_ptr<int>;
struct Failure {
  Trace trace;
};

void rethrow_any(const std::exception_ptr& error) {
  if (error) std::rethrow_exception(error);
}

Task<> catch_failures(Offload& pool, int times, int& still_held) {
  const Trace trace = std::make_shared<int>(0);
  for (int i = 0; i < times; ++i) {
    try {
      const auto failing = [failure = Failure{trace}] { throw failure; };
      co_await pool.run(failing);
    } catch (const Failure&) {
    }
    if (trace.use_count() > 1) ++still_held;
  }
}

TEST(WaitingCaller, a_thread_that_threw_has_let_go_when_the_caller_goes_on) {
  asio::io_context context;
  Offload offload("test", 1, 1);
  int still_held = 0;
  asio::co_spawn(context, catch_failures(offload, 5000, still_held), rethrow_any);
  context.run();
  EXPECT_EQ(still_held, 0);
}

TEST(WaitingCaller, what_one_caller_throws_does_not_keep_the_others_waiting) {
  asio::io_context context;
  int resumed = 0;
  std::vector<WaitingCaller> callers;
  for (int i = 0; i < 3; ++i) {
    callers.push_back({.executor = context.get_executor(), .resume = [&resumed, i] {
                         ++resumed;
                         if (i == 1) throw Failure{};
                       }});
  }
  resume_all(std::move(callers));
  EXPECT_THROW(context.run(), Failure);
  context.run();
  EXPECT_EQ(resumed, 3);
}

}  // namespace
}  // namespace sluice
