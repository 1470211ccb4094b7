#include "messaging/message.h"

#include <gtest/gtest.h>

namespace sluice::messaging {
namespace {

// Figures of Kafka's own test of its partitioner (org.apache.kafka.common.utils.UtilsTest): every client computes the
// same partition for a key.
TEST(PartitionOf, is_what_kafka_s_clients_compute) {
  constexpr int32_t all = 0x7fffffff;
  const auto positive = [](int32_t murmur2) { return static_cast<int32_t>((murmur2 & all) % all); };
  EXPECT_EQ(partition_of("21", all), positive(-973932308));
  EXPECT_EQ(partition_of("foobar", all), positive(-790332482));
  EXPECT_EQ(partition_of("a-little-bit-long-string", all), positive(-985981536));
  EXPECT_EQ(partition_of("a-little-bit-longer-string", all), positive(-1486304829));
  EXPECT_EQ(partition_of("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", all), positive(-58897971));
  EXPECT_EQ(partition_of("abc", all), positive(479470107));
}

TEST(Delivery, knows_its_headers_and_copies_what_it_views) {
  const auto assignment = std::make_shared<const Assignment>(Assignment{"orders", 3});
  auto bytes = std::make_shared<std::string>("key payload 018f4e1c-6d2a-7c3e-9f10-0242ac120002");
  const std::string_view all = *bytes;
  Delivery delivery{assignment, 7, {}, all.substr(0, 3), all.substr(4, 7), {{header::message_id, all.substr(12)}},
                    bytes};
  EXPECT_EQ(delivery.message_id()->text(), "018f4e1c-6d2a-7c3e-9f10-0242ac120002");
  EXPECT_EQ(delivery.header("absent"), std::nullopt);
  EXPECT_EQ(delivery.position(), (Position{"orders", 3, 7}));
  const Message copy = delivery.message();
  delivery = {};
  bytes.reset();
  EXPECT_EQ(copy.key + copy.payload, "keypayload");
  EXPECT_EQ(copy.headers.front().second, "018f4e1c-6d2a-7c3e-9f10-0242ac120002");
}

}  // namespace
}  // namespace sluice::messaging
