// Messages through Redis, and knowing when some were missed.
#include <condition_variable>
#include <mutex>

#include "adapters/redis/client/subscriber.h"
#include "tests/scenario/redis_client_fixture.h"
#include "tests/support/redis_cluster.h"

namespace sluice::redis {
namespace {

// Keeps the messages it received, in order.
class Notes : public Listener {
 public:
  void on_listening() override { add("listening"); }
  void on_interrupted() override { add("interrupted"); }
  void on_message(std::string_view channel, std::string_view message) override {
    add(fmt::format("{}: {}", channel, message));
  }

  // The next note, or a timeout after a long while.
  std::string next() {
    std::unique_lock lock(mutex_);
    if (!added_.wait_for(lock, std::chrono::seconds(30), [this] { return read_ < notes_.size(); })) return "nothing";
    return notes_[read_++];
  }

 private:
  void add(std::string note) {
    const std::lock_guard lock(mutex_);
    notes_.push_back(std::move(note));
    added_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable added_;
  std::vector<std::string> notes_;
  size_t read_ = 0;
};

struct RedisMessages : RedisClient {
  ~RedisMessages() override { stop_listening(); }

  void listen(RedisConfig config) {
    std::promise<void> made;
    asio::post(threads.executor(0), [&] {
      subscriber = std::make_unique<Subscriber>(patient(std::move(config)), threads.executor(0), clock,
                                                std::vector<std::string>{"a", "b"}, notes);
      made.set_value();
    });
    made.get_future().get();
  }
  void stop_listening() {
    if (subscriber) wait_for(subscriber->close(), 0);
    subscriber.reset();
  }
  void publish(const std::string& channel, const std::string& message) {
    run(Command("PUBLISH").arg(channel).arg(message));
  }

  Notes notes;
  std::unique_ptr<Subscriber> subscriber;
};

TEST_F(RedisMessages, arrive_in_order_from_every_channel) {
  test::RedisServer server;
  connect({.url = server.url()});
  listen({.url = server.url()});
  EXPECT_EQ(notes.next(), "listening");
  publish("a", "1");
  publish("b", "2");
  publish("c", "not for us");
  publish("a", "3");
  EXPECT_EQ(notes.next(), "a: 1");
  EXPECT_EQ(notes.next(), "b: 2");
  EXPECT_EQ(notes.next(), "a: 3");
}

TEST_F(RedisMessages, that_may_have_been_missed_are_made_known) {
  test::RedisServer server;
  listen({.url = server.url()});
  EXPECT_EQ(notes.next(), "listening");
  server.kill();
  EXPECT_EQ(notes.next(), "interrupted");
  server.start();
  EXPECT_EQ(notes.next(), "listening");
  server.cli({"PUBLISH", "a", "again"});
  EXPECT_EQ(notes.next(), "a: again");
}

TEST_F(RedisMessages, of_a_server_that_went_silent_are_not_waited_for) {
  test::RedisServer server;
  listen({.url = server.url()});
  EXPECT_EQ(notes.next(), "listening");
  server.pause();
  EXPECT_EQ(notes.next(), "interrupted");
  server.resume();
  EXPECT_EQ(notes.next(), "listening");
}

TEST_F(RedisMessages, keep_coming_over_a_quiet_connection) {
  test::RedisServer server;
  listen({.url = server.url()});
  EXPECT_EQ(notes.next(), "listening");
  // Twice the time after which it asks for a sign of life.
  ASSERT_TRUE(eventually([&, begin = clock.now()] { return clock.now() - begin > 2500ms; }));
  server.cli({"PUBLISH", "a", "late"});
  EXPECT_EQ(notes.next(), "a: late");
}

TEST_F(RedisMessages, reach_every_node_of_a_cluster) {
  test::RedisCluster cluster;
  connect({.url = cluster.url(), .cluster = true});
  listen({.url = fmt::format("redis://127.0.0.1:{}", cluster.node(5).port()), .cluster = true});
  EXPECT_EQ(notes.next(), "listening");
  for (size_t i = 0; i < cluster.size(); ++i) {
    cluster.node(i).cli({"PUBLISH", "a", std::to_string(i)});
    EXPECT_EQ(notes.next(), fmt::format("a: {}", i));
  }
  publish("b", "by the client");
  EXPECT_EQ(notes.next(), "b: by the client");
}

// The node stays connected to its subscribers; only the cluster has forgotten it.
void put_out(test::RedisCluster& cluster, test::RedisServer& node) {
  const std::string id = test::RedisCluster::id_of(node);
  cluster.fail_over(node);
  for (size_t i = 0; i < cluster.size(); ++i) {
    if (&cluster.node(i) != &node) cluster.node(i).cli({"CLUSTER", "FORGET", id});
  }
  node.cli({"CLUSTER", "RESET", "HARD"});
}

TEST_F(RedisMessages, keep_coming_when_the_node_they_came_from_leaves_the_cluster) {
  test::RedisCluster cluster;
  test::RedisServer* left = &cluster.master_of("a");
  listen({.url = left->url(), .cluster = true});
  EXPECT_EQ(notes.next(), "listening");
  for (size_t i = 0; i < cluster.size(); ++i) {
    if (cluster.node(i).cli({"CLIENT", "LIST"}).contains("cmd=subscribe")) left = &cluster.node(i);
  }
  test::RedisServer& stays = cluster.other_master(*left);
  put_out(cluster, *left);
  EXPECT_EQ(notes.next(), "interrupted");
  EXPECT_EQ(notes.next(), "listening");
  stays.cli({"PUBLISH", "a", "after it left"});
  EXPECT_EQ(notes.next(), "a: after it left");
}

TEST_F(RedisMessages, come_by_masters_that_joined_when_all_the_first_ones_are_none_any_more) {
  test::RedisCluster cluster;
  listen({.url = cluster.node(0).url(), .cluster = true});
  EXPECT_EQ(notes.next(), "listening");
  for (size_t i = 0; i < cluster.size() / 2; ++i) cluster.fail_over(cluster.node(i));
  const auto one_that_joined_has_it = [&] {
    for (size_t i = cluster.size() / 2; i < cluster.size(); ++i) {
      if (cluster.node(i).cli({"CLIENT", "LIST"}).contains("cmd=subscribe")) return true;
    }
    return false;
  };
  ASSERT_TRUE(eventually(one_that_joined_has_it));
  cluster.node(cluster.size() / 2).cli({"PUBLISH", "a", "after they changed"});
  std::string note = notes.next();
  while (note == "interrupted" || note == "listening") note = notes.next();
  EXPECT_EQ(note, "a: after they changed");
}

}  // namespace
}  // namespace sluice::redis
