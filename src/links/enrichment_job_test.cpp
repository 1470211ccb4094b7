#include "links/enrichment_job.h"

#include <gtest/gtest.h>

namespace sluice::links {
namespace {

TEST(EnrichmentPayload, carries_the_link) {
  const auto url = CanonicalUrl::parse("https://한국.kr/?q=\"x\"");
  const auto read = parse_enrichment_payload(enrichment_payload(*url));
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, *url);
}

TEST(EnrichmentPayload, of_somebody_else_is_none) {
  for (const std::string_view bad : {"", "{}", "[]", R"({"url": 1})", R"({"url": "javascript:x"})"}) {
    EXPECT_FALSE(parse_enrichment_payload(bad)) << bad;
  }
}

}  // namespace
}  // namespace sluice::links
