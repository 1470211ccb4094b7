// News between processes of one PostgreSQL.
#include "adapters/postgres/postgres_news.h"

#include <thread>

#include <gtest/gtest.h>

#include "runtime/system_clock.h"
#include "tests/support/needs.h"
#include "tests/support/pgbouncer_server.h"

namespace sluice::test {
namespace {

class PostgresNewsTest : public testing::Test {
 protected:
  // One process, which hears the news of others.
  struct Member {
    Member(const PostgresServer& server, const std::string& channel, Clock& clock, const std::string& url = "")
        : news(config(server, url), channel, [this] { ++heard; }, thread, clock, random) {}

    static postgres::PostgresConfig config(const PostgresServer& server, const std::string& url) {
      postgres::PostgresConfig config;
      config.url = url.empty() ? server.url() : url;
      config.user = server.user();
      config.password = server.password();
      return config;
    }

    SeededRandom random{3};
    std::atomic<int> heard = 0;
    postgres::EngineThread thread;
    postgres::PostgresNews news;
  };

  bool eventually(const std::function<bool()>& done) const {
    const Instant end = clock_.now() + 1min;
    while (!done() && clock_.now() < end) std::this_thread::yield();
    return done();
  }
  // Until both have been heard once: they may have missed news before they listened.
  void wait_until_listening(const Member& member) const {
    ASSERT_TRUE(eventually([&member] { return member.heard > 0; }));
  }

  SystemClock clock_;
  PostgresServer server_;
};

TEST_F(PostgresNewsTest, what_one_tells_the_others_hear_and_nobody_else) {
  Member one(server_, "jobs", clock_);
  Member two(server_, "jobs", clock_);
  Member other(server_, "other", clock_);
  for (const Member* member : {&one, &two, &other}) wait_until_listening(*member);
  one.news.tell();
  EXPECT_TRUE(eventually([&two] { return two.heard == 2; }));
  EXPECT_EQ(other.heard, 1);
}

TEST_F(PostgresNewsTest, who_tells_all_the_time_is_heard_now_and_then_and_at_the_end) {
  Member one(server_, "jobs", clock_);
  Member two(server_, "jobs", clock_);
  wait_until_listening(one);
  wait_until_listening(two);
  const Instant begun = clock_.now();
  for (int i = 0; i < 10'000; ++i) one.news.tell();
  const auto most = 3 + (clock_.now() - begun) / 20ms;
  EXPECT_TRUE(eventually([&two] { return two.heard >= 2; }));
  EXPECT_LE(two.heard, 1 + most);
  const int before = two.heard;
  EXPECT_FALSE(one.heard == 0);
  two.news.tell();
  EXPECT_TRUE(eventually([&] { return two.heard > before; }));
}

TEST_F(PostgresNewsTest, a_server_that_was_away_is_listened_to_again) {
  Member one(server_, "jobs", clock_);
  Member two(server_, "jobs", clock_);
  wait_until_listening(one);
  wait_until_listening(two);
  server_.kill();
  one.news.tell();
  server_.start();
  EXPECT_TRUE(eventually([&] { return one.heard >= 2 && two.heard >= 2; }));  // each listens again
  const int before = two.heard;
  one.news.tell();
  EXPECT_TRUE(eventually([&] { return two.heard > before; }));
}

// LISTEN on a pooled session would reach the next user of that session.
TEST_F(PostgresNewsTest, behind_a_pooler_nobody_listens) {
  SLUICE_NEEDS(PgBouncerServer::why_missing());
  const PgBouncerServer pgbouncer(server_);
  Member pooled(server_, "jobs", clock_, pgbouncer.url());
  ASSERT_TRUE(eventually([&pgbouncer] { return pgbouncer.log().contains("client close request"); }));
  Member direct(server_, "jobs", clock_);
  wait_until_listening(direct);
  direct.news.tell();
  EXPECT_TRUE(eventually([&direct] { return direct.heard == 2; }));
  EXPECT_EQ(pooled.heard, 0);
}

}  // namespace
}  // namespace sluice::test
