#include "messaging/bell.h"

#include <thread>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <gtest/gtest.h>
#include <sanitizer/allocator_interface.h>

#include "runtime/virtual_clock.h"

namespace sluice::messaging {
namespace {

Task<> listen_for(Bell::Listener listener, Clock& clock, int times, int& heard) {
  for (int i = 0; i < times; ++i) {
    co_await listener.wait_until(clock, Instant::max());
    ++heard;
  }
}

TEST(Bell, wakes_loops_on_other_threads) {
  asio::io_context io;
  VirtualClock clock;
  Bell bell;
  int heard = 0;
  asio::co_spawn(io, listen_for(bell.listen(io.get_executor()), clock, 1, heard), asio::use_future);
  std::thread([&bell] { bell.ring(); }).join();
  io.run();
  EXPECT_EQ(heard, 1);
}

TEST(Bell, a_ring_while_the_loop_works_is_heard_at_its_next_wait_and_many_are_one) {
  asio::io_context io;
  VirtualClock clock;
  Bell bell;
  int heard = 0;
  Bell::Listener listener = bell.listen(io.get_executor());
  for (int i = 0; i < 100; ++i) bell.ring();
  io.run();  // the rings arrive without a listener
  asio::co_spawn(io, listen_for(std::move(listener), clock, 2, heard), asio::use_future);
  io.restart();
  io.poll();
  EXPECT_EQ(heard, 1);
  bell.ring();
  io.run();
  EXPECT_EQ(heard, 2);
}

TEST(Bell, a_listener_is_woken_alone) {
  asio::io_context io;
  VirtualClock clock;
  Bell bell;
  int heard = 0;
  int heard_by_another = 0;
  Bell::Listener listener = bell.listen(io.get_executor());
  asio::co_spawn(io, listen_for(listener, clock, 1, heard), asio::use_future);
  asio::co_spawn(io, listen_for(bell.listen(io.get_executor()), clock, 1, heard_by_another), asio::use_future);
  io.poll();
  listener.wake();
  io.poll();
  EXPECT_EQ(heard, 1);
  EXPECT_EQ(heard_by_another, 0);
  bell.ring();
  io.run();
  EXPECT_EQ(heard_by_another, 1);
}

TEST(Bell, listeners_that_are_gone_do_not_pile_up_while_nothing_rings) {
  asio::io_context io;
  Bell bell;
  std::list<Bell::Listener> those_who_stay;
  for (int i = 0; i < 100; ++i) those_who_stay.push_back(bell.listen(io.get_executor()));
  const auto listen_often = [&] {
    for (int i = 0; i < 10'000; ++i) bell.listen(io.get_executor());
  };
  listen_often();
  const size_t before = __sanitizer_get_current_allocated_bytes();
  listen_often();
  EXPECT_LT(__sanitizer_get_current_allocated_bytes(), before + 100'000);
}

}  // namespace
}  // namespace sluice::messaging
