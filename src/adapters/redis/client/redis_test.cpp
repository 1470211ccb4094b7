#include "adapters/redis/client/redis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapters/redis/client/hash_slots.h"
#include "adapters/redis/client/reply_reader.h"
#include "runtime/config.h"

namespace sluice::redis {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string encoded(const Command& command, Command::ScriptBy by = Command::ScriptBy::hash) {
  std::string bytes;
  command.encode(bytes, by);
  return bytes;
}

TEST(RedisSlots, are_those_of_the_cluster_specification) {
  EXPECT_EQ(slot_of("123456789"), 0x31C3 % slot_count);
  EXPECT_EQ(slot_of(""), 0);
  EXPECT_EQ(slot_of("foo"), 12182);
}

TEST(RedisSlots, follow_the_first_hash_tag_unless_it_is_empty) {
  EXPECT_EQ(slot_of("{user1000}.following"), slot_of("user1000"));
  EXPECT_EQ(slot_of("foo{{bar}}zap"), slot_of("{bar"));
  EXPECT_EQ(slot_of("foo{bar}{zap}"), slot_of("bar"));
  EXPECT_NE(slot_of("foo{}{bar}"), slot_of("bar"));
  EXPECT_NE(slot_of("{bar"), slot_of("bar"));
}

TEST(RedisSlots, are_read_from_the_cluster) {
  const Address asked{"10.0.0.1", 7000};
  const Reply reply(Reply::Array{Reply::Array{Reply(0), Reply(5460), Reply::Array{"10.0.0.2", Reply(7001), "id"},
                                              Reply::Array{"replica", Reply(1)}},
                                 Reply::Array{Reply(5461), Reply(5461), Reply::Array{"", Reply(7000), "id"}},
                                 Reply::Array{Reply(9), Reply(9), Reply::Array{"?", Reply(7000), "id"}}});
  EXPECT_THAT(read_slots(reply, asked),
              ElementsAre(SlotRange{0, 5460, {"10.0.0.2", 7001}}, SlotRange{5461, 5461, asked}));
}

TEST(RedisSlots, that_cannot_be_are_refused) {
  const Reply beyond(Reply::Array{Reply::Array{Reply(0), Reply(16384), Reply::Array{"h", Reply(1)}}});
  EXPECT_THROW(read_slots(beyond, {}), EngineUnavailable);
  EXPECT_THROW(read_slots(Reply("text"), {}), EngineUnavailable);
  EXPECT_THROW(read_slots(Reply(Reply::Array{Reply::Array{Reply(0)}}), {}), EngineUnavailable);
}

TEST(RedisSlots, of_a_single_server_are_its_own_or_its_masters) {
  const Address asked{"10.0.0.1", 7000};
  EXPECT_EQ(read_master("# Replication\r\nrole:master\r\nconnected_slaves:0\r\n", asked), (SlotRange{0, 16383, asked}));
  const SlotRange followed =
      read_master("# Replication\r\nrole:slave\r\nmaster_host:10.0.0.2\r\nmaster_port:7001\r\n", asked);
  EXPECT_EQ(followed, (SlotRange{0, 16383, {"10.0.0.2", 7001}}));
  for (const char* bad : {"", "role:slave", "role:slave\r\nmaster_host:h\r\nmaster_port:0", "role"}) {
    EXPECT_THROW(read_master(bad, asked), EngineUnavailable) << bad;
  }
}

TEST(RedisRedirect, names_slot_and_node) {
  const Address asked{"10.0.0.1", 7000};
  const auto moved = Redirect::parse("MOVED 3999 127.0.0.1:6381", asked);
  ASSERT_TRUE(moved);
  EXPECT_EQ(moved->slot, 3999);
  EXPECT_EQ(moved->target, (Address{"127.0.0.1", 6381}));
  EXPECT_EQ(Redirect::parse("ASK 1 :6381", asked)->target, (Address{"10.0.0.1", 6381}));
  EXPECT_EQ(Redirect::parse("ASK 1 ::1:6381", asked)->target, (Address{"::1", 6381}));
  for (const char* bad : {"", "MOVED", "MOVED ", "MOVED 1", "MOVED 16384 h:1", "MOVED -1 h:1", "MOVED 1 h",
                          "MOVED 1 h:0", "MOVED 1 h:65536", "MOVED x h:1"}) {
    EXPECT_FALSE(Redirect::parse(bad, asked)) << bad;
  }
}

TEST(RedisCommand, is_encoded_as_an_array_of_texts) {
  EXPECT_EQ(encoded(Command("SET").key("a").arg(-5)), "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$2\r\n-5\r\n");
}

TEST(RedisCommand, sends_a_script_by_hash_or_text) {
  const Script script{"return 1"};
  const Command command = Command(script, {"{t}a", "{t}b"}).arg("x");
  const std::string rest = "$1\r\n2\r\n$4\r\n{t}a\r\n$4\r\n{t}b\r\n$1\r\nx\r\n";
  EXPECT_EQ(script.sha1(), "e0e1f9fabfc9d4800c877a703b823ac0578ff8db");
  EXPECT_EQ(encoded(command), "*6\r\n$7\r\nEVALSHA\r\n$40\r\n" + script.sha1() + "\r\n" + rest);
  EXPECT_EQ(encoded(command, Command::ScriptBy::text), "*6\r\n$4\r\nEVAL\r\n$8\r\nreturn 1\r\n" + rest);
}

TEST(RedisCommand, goes_by_its_keys_which_must_share_a_slot) {
  EXPECT_FALSE(Command("PING").slot());
  EXPECT_EQ(Command("GET").key("foo").slot(), slot_of("foo"));
  EXPECT_EQ(Command("ECHO").at("foo").slot(), slot_of("foo"));
  EXPECT_DEATH(Command("MGET").key("foo").key("bar"), "another slot");
}

TEST(RedisReplies, come_in_any_pieces) {
  const std::string bytes = "+OK\r\n:-7\r\n$-1\r\n*-1\r\n$5\r\na\r\nbc\r\n*2\r\n*1\r\n-ERR no\r\n$0\r\n\r\n";
  const std::vector<Reply> expected{"OK", Reply(-7), {},
                                    {},   "a\r\nbc", Reply::Array{Reply::Array{Reply::Error{"ERR no"}}, ""}};
  for (size_t piece = 1; piece <= bytes.size(); ++piece) {
    ReplyReader reader(1 << 20);
    std::vector<Reply> replies;
    for (size_t at = 0; at < bytes.size(); at += piece) {
      reader.feed(std::string_view(bytes).substr(at, piece));
      while (auto reply = reader.next()) replies.push_back(std::move(*reply));
    }
    EXPECT_EQ(replies, expected) << piece;
  }
}

TEST(RedisReplies, that_are_too_large_or_none_are_refused) {
  const auto read = [](std::string_view bytes) {
    ReplyReader reader(1 << 20);
    reader.feed(bytes);
    reader.next();
  };
  EXPECT_THROW(read("HTTP/1.1 400 Bad Request\r\n\r\n"), EngineUnavailable);
  EXPECT_THROW(read("*2000000000\r\n"), EngineUnavailable);
  EXPECT_THROW(read("*1000000\r\n*1000000\r\n"), EngineUnavailable);
  EXPECT_THROW(read(std::string((1 << 20) + 1, '+')), EngineUnavailable);
  EXPECT_NO_THROW(read("$1000000000\r\nbegins"));
}

TEST(RedisReplies, say_when_they_are_not_what_was_asked_for) {
  EXPECT_EQ(Reply("9007199254740993").integer(), 9007199254740993);
  EXPECT_THROW(Reply("9x").integer(), EngineUnavailable);
  EXPECT_THROW(Reply(1).text(), EngineUnavailable);
  EXPECT_THROW(Reply(Reply::Array{})[0], EngineUnavailable);
}

TEST(RedisPlace, is_read_from_a_url) {
  const auto place = Place::parse("rediss://a,b:7000,[::1]:7001/5");
  ASSERT_TRUE(place);
  EXPECT_TRUE(place->tls);
  EXPECT_EQ(place->database, 5U);
  EXPECT_THAT(place->seeds, ElementsAre(Address{"a", 6379}, Address{"b", 7000}, Address{"::1", 7001}));
  EXPECT_EQ(place->seeds[2].to_string(), "[::1]:7001");
  for (const char* bad : {"", "redis:", "redis://", "http://a", "redis://a:", "redis://a:0", "redis://a:70000",
                          "redis://a,", "redis://u:p@a", "redis://a/x", "redis://[::1", "redis://[::1]x"}) {
    EXPECT_FALSE(Place::parse(bad)) << bad;
  }
}

std::string problems_of(const std::string& text) {
  config::Loader loader;
  RedisConfig config;
  loader.section("redis", config, "Redis.");
  std::string all;
  for (const config::Problem& problem : loader.load({.file = "f", .text = "[redis]\n" + text})) all += problem.text();
  return all;
}

TEST(RedisConfig, that_cannot_work_is_refused_with_the_remedy) {
  EXPECT_THAT(problems_of("url = \"redis://a\""), IsEmpty());
  EXPECT_THAT(problems_of("url = \"a:6379\""), HasSubstr("must be a URL such as"));
  EXPECT_THAT(problems_of("url = \"redis://:word@a\""), HasSubstr("SLUICE_REDIS_PASSWORD"));
  EXPECT_THAT(problems_of("url = \"redis://a,b\""), HasSubstr("set cluster = true"));
  EXPECT_THAT(problems_of("url = \"redis://a/1\"\ncluster = true"), HasSubstr("remove it"));
  EXPECT_THAT(problems_of("url = \"redis://a\"\nca_file = \"x\""), HasSubstr("rediss://"));
  EXPECT_THAT(problems_of("url = \"redis://a\"\nuser = \"x\""), HasSubstr("needs a password"));
}

}  // namespace
}  // namespace sluice::redis
