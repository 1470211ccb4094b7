#include "links/robots_rules.h"

#include <gtest/gtest.h>

#include "runtime/testing/cpu_time.h"

namespace sluice::links {
namespace {

bool allows(std::string_view text, std::string_view target, std::string_view agent = "SluiceBot") {
  return RobotsRules::parse(text, agent).allows(target);
}

TEST(RobotsRules, allow_all_where_nothing_is_said) {
  EXPECT_TRUE(RobotsRules().allows("/a"));
  EXPECT_TRUE(allows("", "/a"));
  EXPECT_TRUE(allows("<html>no robots here</html>", "/a"));
  EXPECT_TRUE(allows("User-agent: *\nDisallow:\n", "/a"));
  EXPECT_TRUE(allows("Disallow: /\n", "/a"));  // belongs to no group
}

TEST(RobotsRules, of_its_own_name_outrank_those_for_all) {
  constexpr std::string_view text =
      "User-agent: *\nDisallow: /\n\nUser-Agent: sluicebot/2.1\nDisallow: /private\n\nUser-agent: other\nDisallow: "
      "/x\n";
  EXPECT_TRUE(allows(text, "/a"));
  EXPECT_FALSE(allows(text, "/private/a"));
  EXPECT_FALSE(allows(text, "/a", "Unnamed"));
  EXPECT_TRUE(allows(text, "/a", "Other"));
}

TEST(RobotsRules, of_several_groups_with_one_name_are_one) {
  constexpr std::string_view text =
      "User-agent: SluiceBot\nDisallow: /a\nUser-agent: x\nDisallow: /\nuser-agent: y\nUSER-AGENT: "
      "sluicebot\nDISALLOW: /b\n";
  EXPECT_FALSE(allows(text, "/a"));
  EXPECT_FALSE(allows(text, "/b"));
  EXPECT_TRUE(allows(text, "/c"));
  EXPECT_FALSE(allows(text, "/b", "y"));
  EXPECT_TRUE(allows(text, "/a", "y"));
}

TEST(RobotsRules, are_decided_by_the_longest_and_then_by_the_kindest) {
  constexpr std::string_view text =
      "User-agent: *\nDisallow: /example/page/\nAllow: /example/page/disallowed.gif\nAllow: /e\n";
  EXPECT_FALSE(allows(text, "/example/page/x"));
  EXPECT_TRUE(allows(text, "/example/page/disallowed.gif"));
  EXPECT_TRUE(allows("User-agent: *\nDisallow: /page\nAllow: /page\n", "/page"));
  EXPECT_TRUE(allows("User-agent: *\nAllow: /p\nDisallow: /\n", "/page"));
}

TEST(RobotsRules, know_star_and_dollar) {
  EXPECT_FALSE(allows("User-agent: *\nDisallow: /*.gif$\n", "/a/b.gif"));
  EXPECT_TRUE(allows("User-agent: *\nDisallow: /*.gif$\n", "/a/b.gif?x"));
  EXPECT_FALSE(allows("User-agent: *\nDisallow: *\n", "/a"));
  EXPECT_FALSE(allows("User-agent: *\nDisallow: /a*c*e\n", "/abcde-and-more"));
  EXPECT_TRUE(allows("User-agent: *\nDisallow: /a*c*e\n", "/abde"));
  EXPECT_FALSE(allows("User-agent: *\nDisallow: /*?\n", "/a?b"));
  EXPECT_FALSE(allows("User-agent: *\nDisallow: /$\n", "/"));
  EXPECT_TRUE(allows("User-agent: *\nDisallow: /$\n", "/a"));
  EXPECT_FALSE(allows("User-agent: *\nDisallow: /path/file-with-a-%2A.html\n", "/path/file-with-a-*.html"));
}

TEST(RobotsRules, see_through_escapes) {
  EXPECT_FALSE(allows("User-agent: *\nDisallow: /foo/bar/ツ\n", "/foo/bar/%E3%83%84"));
  EXPECT_FALSE(allows("User-agent: *\nDisallow: /%7euser\n", "/~user"));
  EXPECT_TRUE(allows("User-agent: *\nDisallow: /a%2Fb\n", "/a/b"));
}

TEST(RobotsRules, are_read_as_people_write_them) {
  constexpr std::string_view text =
      "\xef\xbb\xbfuser-agent : *  # all\r\n\r\nCrawl-delay: 10\r Disallow : /a # not this\r\nSitemap: "
      "http://x/\r\nDisallow /b\r\n";
  EXPECT_FALSE(allows(text, "/a"));
  EXPECT_TRUE(allows(text, "/b"));
}

TEST(RobotsRules, never_forbid_robots_txt) {
  EXPECT_TRUE(allows("User-agent: *\nDisallow: /\n", "/robots.txt"));
}

TEST(RobotsRules, are_bounded) {
  std::string text = "User-agent: *\n";
  for (int i = 0; i < 100'000; ++i) text += "Disallow: /x" + std::to_string(i) + "\n";
  const RobotsRules rules = RobotsRules::parse(text, "SluiceBot");
  EXPECT_LT(rules.bytes(), 400u * 1024);
  EXPECT_FALSE(rules.allows("/x7"));
  // Patterns that make a careless matcher try every way there is.
  const std::string stars = "User-agent: *\nDisallow: /" + std::string(1000, '*') + "a*a*a*a*a*a*a*a*a*b\n";
  EXPECT_TRUE(allows(stars, "/" + std::string(8000, 'a')));
}

TEST(RobotsRules, a_text_between_stars_is_found_wherever_it_repeats_itself) {
  EXPECT_FALSE(allows("User-agent: *\nDisallow: /*aab\n", "/aaab"));
  EXPECT_FALSE(allows("User-agent: *\nDisallow: /*abcabd\n", "/xabcabcabdx"));
  EXPECT_FALSE(allows("User-agent: *\nDisallow: /*ab*ab*b$\n", "/ababb"));
  EXPECT_TRUE(allows("User-agent: *\nDisallow: /*ab*ab*b$\n", "/abab"));
  EXPECT_TRUE(allows("User-agent: *\nDisallow: /*aba*bab\n", "/abab/"));
  EXPECT_FALSE(allows("User-agent: *\nDisallow: /a**$\n", "/a"));
}

// Trying each pattern at each place of the path would be 4 x 10^9 steps.
TEST(RobotsRules, patterns_that_nearly_match_everywhere_are_decided_quickly) {
  for (const std::string& piece : {std::string("a"), std::string("a*"), std::string("aa*")}) {
    std::string text = "User-agent: *\n";
    while (text.size() + 300 < RobotsRules::max_text) {
      text += "Disallow: /*";
      for (size_t size = 0; size < 240; size += piece.size()) text += piece;
      text += "b\n";
    }
    const RobotsRules rules = RobotsRules::parse(text, "SluiceBot");
    const std::string path = "/" + std::string(8'000, 'a');
    EXPECT_LT(cpu_time_of([&] { EXPECT_TRUE(rules.allows(path)); }), 3s) << piece;
  }
}

}  // namespace
}  // namespace sluice::links
