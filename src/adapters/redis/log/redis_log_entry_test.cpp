#include "adapters/redis/log/redis_log_entry.h"

#include <gtest/gtest.h>

#include "adapters/redis/log/redis_log_keys.h"
#include "runtime/errors.h"

namespace sluice::redis {
namespace {

TEST(RedisLogEntry, headers_come_back_as_they_were_whatever_their_bytes) {
  const messaging::Headers headers = {{"message-id", "1"}, {"", ""}, {"odd", std::string("3:a,\0\r\n", 7)}};
  const std::string packed = pack_headers(headers);
  messaging::Headers back;
  for (const auto& [name, value] : unpack_headers(packed)) back.emplace_back(name, value);
  EXPECT_EQ(back, headers);
  EXPECT_TRUE(unpack_headers("").empty());
}

TEST(RedisLogEntry, what_are_no_headers_is_refused) {
  for (const char* packed : {"x", "1:a", "1:a,", "1:a,2:b,", "99999999999999999999:a,", "1:a,5:b,", "-1:a,1:b,", "3"}) {
    EXPECT_THROW(unpack_headers(packed), EngineUnavailable) << packed;
  }
}

TEST(RedisLogEntry, an_offset_is_an_id_as_a_number) {
  for (const char* id : {"0-0", "1767225600000-0", "1767225600000-1048575", "1-7"}) {
    EXPECT_EQ(stream_id(offset_of(id)), id);
  }
  EXPECT_EQ(offset_of("1767225600000-1048575") + 1, offset_of("1767225600001-0"));
  EXPECT_EQ(time_of(offset_of("1767225600000-9")), Time{1767225600s});
}

TEST(RedisLogEntry, what_is_no_id_is_refused) {
  for (const char* id : {"", "1", "1-", "-1", "1-1048576", "1-2-3", "x-1"}) {
    EXPECT_THROW(offset_of(id), EngineUnavailable) << id;
  }
}

TEST(RedisLogEntry, a_page_keeps_the_memory_of_its_messages) {
  const auto assignment = std::make_shared<const messaging::Assignment>("topic", 3);
  LogPage page = page_of(Reply(Reply::Array{1, "5-1", "key", "payload", "1:a,1:b,"}), assignment);
  ASSERT_EQ(page.messages.size(), 1U);
  EXPECT_TRUE(page.at_end);
  const messaging::Delivery message = page.messages[0];
  page.messages.clear();
  EXPECT_EQ(message.position(), (messaging::Position{"topic", 3, offset_of("5-1")}));
  EXPECT_EQ(message.key, "key");
  EXPECT_EQ(message.payload, "payload");
  EXPECT_EQ(message.header("a"), "b");
}

}  // namespace
}  // namespace sluice::redis
