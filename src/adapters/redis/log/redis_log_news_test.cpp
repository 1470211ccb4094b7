#include "adapters/redis/log/redis_log_news.h"

#include <thread>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "adapters/redis/log/redis_log_keys.h"
#include "runtime/system_clock.h"

namespace sluice::redis {
namespace {

using Subjects = std::set<std::string>;

class LogNewsTest : public testing::Test {
 protected:
  // Waits until something is heard; false after `patience`.
  bool hears_within(Duration patience) {
    bool woken = false;
    asio::co_spawn(io_, ear_->wait_until(clock_, clock_.now() + patience), [&](const std::exception_ptr&) {
      const LogNews::Heard heard = ear_->take();
      woken = heard.everything || !heard.subjects.empty();
    });
    io_.restart();
    io_.run();
    return woken;
  }

  SystemClock clock_;
  asio::io_context io_;
  LogNews news_;
  std::shared_ptr<LogNews::Ear> ear_ = news_.listen(io_.get_executor(), {"topic", "a.b"}, "group");
};

TEST_F(LogNewsTest, an_ear_hears_of_its_topics_and_its_group) {
  for (const LogPartition& partition : {LogPartition{"topic", 3}, {"a.b", 0}, {"other", 3}, {"topic.b", 1}}) {
    news_.on_message(LogNews::channel, log_news_of(partition));
  }
  news_.on_message(LogNews::channel, log_news_of_group("group"));
  news_.on_message(LogNews::channel, log_news_of_group("another"));
  const LogNews::Heard heard = ear_->take();
  EXPECT_EQ(heard.subjects, (Subjects{"topic:3", "a.b:0", "group group"}));
  EXPECT_FALSE(heard.everything);
  EXPECT_TRUE(ear_->take().subjects.empty());
}

TEST_F(LogNewsTest, whoever_listens_again_may_have_missed_anything) {
  EXPECT_FALSE(news_.listening());
  news_.on_listening();
  EXPECT_TRUE(news_.listening());
  EXPECT_TRUE(ear_->take().everything);
  news_.on_interrupted();
  EXPECT_FALSE(news_.listening());
  EXPECT_FALSE(ear_->take().everything);
}

TEST_F(LogNewsTest, what_was_heard_before_waiting_is_not_waited_for) {
  news_.on_message(LogNews::channel, "topic:1");
  EXPECT_TRUE(hears_within(1min));
  EXPECT_FALSE(hears_within(10ms));
}

TEST_F(LogNewsTest, who_waits_is_woken_from_another_thread) {
  for (int i = 0; i < 100; ++i) {
    std::thread teller([this] { news_.on_message(LogNews::channel, "topic:1"); });
    EXPECT_TRUE(hears_within(1min));
    teller.join();
  }
}

TEST_F(LogNewsTest, an_ear_that_is_gone_is_forgotten) {
  ear_.reset();
  news_.on_message(LogNews::channel, "topic:1");
  news_.on_listening();
}

}  // namespace
}  // namespace sluice::redis
