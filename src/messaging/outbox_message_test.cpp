#include "messaging/outbox_message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::messaging {
namespace {

using testing::Contains;
using testing::Pair;

constexpr const char* trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

OutboxMessage some() {
  return {.topic = "payment.events",
          .aggregate_type = "payment",
          .aggregate_id = "p-1",
          .aggregate_version = 7,
          .event_type = "PaymentSuccess",
          .payload = "{}",
          .headers = {{"own", "value"}},
          .traceparent = trace};
}

TEST(OutboxMessage, goes_through_the_log_with_the_request_that_caused_it) {
  const Message message = to_message(some());
  EXPECT_EQ(message.key, "p-1");
  EXPECT_THAT(message.headers, Contains(Pair("aggregate-version", "7")));
  EXPECT_THAT(message.headers, Contains(Pair("own", "value")));
  EXPECT_THAT(message.headers, Contains(Pair("traceparent", trace)));
}

TEST(OutboxMessage, that_no_request_caused_says_nothing_of_one) {
  OutboxMessage message = some();
  message.traceparent.clear();
  EXPECT_EQ(to_message(message).headers.size(), 5U);
  EXPECT_EQ(row_headers(message).size(), 1U);
}

TEST(OutboxMessage, keeps_the_request_on_its_way_through_a_row) {
  OutboxMessage read = some();
  read.headers = row_headers(read);
  read.traceparent.clear();
  EXPECT_THAT(to_message(read).headers, Contains(Pair("traceparent", trace)));
}

}  // namespace
}  // namespace sluice::messaging
