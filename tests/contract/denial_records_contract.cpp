// Contract of every coordination::DenialRecords, tested on a real engine.
#include "tests/contract/denial_records_suite.h"

namespace sluice::test {

TEST_P(DenialRecordsContract, a_denied_token_is_denied_and_no_other) {
  EXPECT_FALSE(denied(token_));
  deny(token_, now_ + 1h);
  EXPECT_TRUE(denied(token_));
  EXPECT_FALSE(denied(token_ + "x"));
}

TEST_P(DenialRecordsContract, denying_again_keeps_the_later_end) {
  const DenialMark before = end();
  deny(token_, now_ + 2h);
  deny(token_, now_ + 1h);
  ASSERT_EQ(tokens(read(before)), std::vector{token_});
  EXPECT_EQ(read(before).denials[0].until, now_ + 2h);
  deny(token_, now_ + 3h);
  EXPECT_EQ(read(before).denials[0].until, now_ + 3h);
}

TEST_P(DenialRecordsContract, pages_give_each_once_in_the_order_of_writing) {
  DenialMark mark = end();
  std::vector<std::string> written;
  for (int i = 0; i < 7; ++i) {
    written.push_back(unique("token"));
    deny(written.back(), now_ + 1h);
  }
  std::vector<std::string> found;
  for (int page_number = 0; page_number < 4; ++page_number) {
    const DenialPage page = read(mark, 2);
    mark = page.mark;
    for (const std::string& token : tokens(page)) found.push_back(token);
  }
  EXPECT_EQ(found, written);
  EXPECT_TRUE(read(mark).denials.empty());
}

TEST_P(DenialRecordsContract, an_extended_denial_comes_again) {
  deny(token_, now_ + 1h);
  const DenialMark before = end();
  deny(token_, now_ + 2h);
  EXPECT_EQ(tokens(read(before)), std::vector{token_});
}

TEST_P(DenialRecordsContract, only_what_ended_long_ago_is_purged) {
  const std::string long_ago = unique("token");
  deny(long_ago, now_ - 2h);
  deny(token_, now_ - 1min);
  EXPECT_EQ(run(port().purge(1000)), 1);
  EXPECT_FALSE(denied(long_ago));
  EXPECT_TRUE(denied(token_));
}

}  // namespace sluice::test
