#include "adapters/sqlite/write_queue.h"

#include <future>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "runtime/task.h"

namespace sluice::sqlite {
namespace {

Task<> submit(WriteQueue& queue) {
  Write write{};
  co_await queue.submit(write);
}

// Comes while the writer is busy, so that no round of an event loop is waited for.
TEST(WriteQueue, what_came_before_a_hold_is_taken_after_it) {
  for (int i = 0; i < 200; ++i) {
    asio::io_context io;
    const auto queue = std::make_shared<WriteQueue>(10);
    asio::co_spawn(io, submit(*queue), [](const std::exception_ptr& error) { EXPECT_FALSE(error); });
    io.run_one();
    queue->hold(true);
    std::atomic<bool> begun = false;
    auto taken = std::async(std::launch::async, [&] {
      begun = true;
      return queue->next({}) ? queue->take() : Writes{};
    });
    while (!begun) std::this_thread::yield();
    for (int look = 0; look < i; ++look) std::this_thread::yield();
    queue->hold(false);
    const bool came = taken.wait_for(1min) == std::future_status::ready;
    queue->stop();
    const Writes group = taken.get();
    ASSERT_TRUE(came) << "after " << i;
    ASSERT_EQ(group.size(), 1U);
    queue->next(group);
    io.run();
  }
}

}  // namespace
}  // namespace sluice::sqlite
