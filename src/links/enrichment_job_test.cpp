#include "links/enrichment_job.h"

#include <gtest/gtest.h>

namespace sluice::links {
namespace {

TEST(EnrichmentPayload, carries_the_link) {
  const auto url = CanonicalUrl::parse("https://한국.kr/?q=\"x\"");
  const auto read = parse_enrichment_payload(enrichment_payload(*url));
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, LinkVisit(*url));
}

TEST(EnrichmentPayload, carries_how_far_a_visit_came) {
  const LinkVisit visit(*CanonicalUrl::parse("https://a.example/"), *http::Url::parse("https://b.example/?z=1&a=2"), 2);
  EXPECT_EQ(parse_enrichment_payload(enrichment_payload(visit)), visit);
}

TEST(EnrichmentPayload, of_somebody_else_is_none) {
  for (const std::string_view bad : {"", "{}", "[]", R"({"url": 1})", R"({"url": "javascript:x"})",
                                     R"({"url": "https://a.example/", "at": "file:///etc/passwd"})",
                                     R"({"url": "https://a.example/", "at": "https://b.example/", "redirects": -1})"}) {
    EXPECT_FALSE(parse_enrichment_payload(bad)) << bad;
  }
}

}  // namespace
}  // namespace sluice::links
