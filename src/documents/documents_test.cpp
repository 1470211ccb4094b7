#include <regex>

#include <gtest/gtest.h>

#include "documents/content_check.h"
#include "documents/document_path.h"
#include "documents/memory_copies.h"

namespace sluice::documents {
namespace {

TEST(DocumentPath, takes_plain_relative_paths) {
  for (const std::string_view good : {"a", "ssgo003/SSGO003F10.xml", "a/b/c-d_e.f", "..a/b", "a..b", "..."}) {
    EXPECT_TRUE(DocumentPath::parse(good)) << good;
  }
  EXPECT_TRUE(DocumentPath::parse(std::string(512, 'a')));
}

TEST(DocumentPath, its_patterns_say_what_it_takes) {
  const std::regex path(std::string(document_path_form.pattern));
  const std::regex segment(std::string(document_segment_form.pattern));
  for (const std::string text :
       {"a",    "a/b.xml", "-",  ".a",  "..a",  "...",    "a/..b/.c", "",     "/",     "a/", "/a",
        "a//b", ".",       "..", "./a", "a/..", "a/../b", "a b",      "a\\b", "a%2fb", "é"}) {
    EXPECT_EQ(document_path_form.fits(text), std::regex_match(text, path)) << text;
    EXPECT_EQ(document_segment_form.fits(text), std::regex_match(text, segment)) << text;
  }
}

TEST(DocumentPath, refuses_everything_that_could_lead_elsewhere) {
  using namespace std::string_view_literals;
  for (const std::string_view bad :
       {""sv,     "/a"sv,    "a/"sv,       "a//b"sv, "."sv,    ".."sv,  "../a"sv, "a/../b"sv,   "a/./b"sv, "a/.."sv,
        "a\\b"sv, "a%2fb"sv, "%2e%2e/a"sv, "a b"sv,  "a\0b"sv, "a?b"sv, "a#b"sv,  "http://x"sv, "한글"sv,  "a\n"sv}) {
    EXPECT_FALSE(DocumentPath::parse(bad)) << bad;
  }
  EXPECT_FALSE(DocumentPath::parse(std::string(513, 'a')));
}

TEST(Glob, stars_stay_within_a_segment_unless_doubled) {
  EXPECT_TRUE(matches_glob("ssgo*/SSGO*F*.xml", "ssgo003/SSGO003F10.xml"));
  EXPECT_FALSE(matches_glob("ssgo*/*.xml", "ssgo003/a/b.xml"));
  EXPECT_TRUE(matches_glob("**", "a/b/c"));
  EXPECT_TRUE(matches_glob("**/*.xml", "a/b/c.xml"));
  EXPECT_FALSE(matches_glob("*.xml", "a/c.xml"));
  EXPECT_TRUE(matches_glob("a?c", "abc"));
  EXPECT_FALSE(matches_glob("a?c", "a/c"));
  EXPECT_FALSE(matches_glob("", "a"));
}

// Any caller chooses the path. If each star tried every rest anew, this would not end within a day.
TEST(Glob, a_path_that_almost_matches_costs_no_more_than_others) {
  const std::string path(DocumentPath::longest, 'a');
  EXPECT_FALSE(matches_glob("**a**a**a**a**a**a**a**b", path));
  EXPECT_FALSE(matches_glob("*a*a*a*a*a*a*a*a*b", path));
  EXPECT_TRUE(matches_glob("**a**a**a**a*a*a*a*a*", path));
}

constexpr std::string_view layout =
    R"(<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml" xmlns:w2="http://www.inswave.com/websquare"><body/></html>)";

RequireConfig layouts() {
  RequireConfig require;
  require.well_formed_xml = true;
  require.xml_namespace = "http://www.inswave.com/websquare";
  return require;
}

TEST(ContentCheck, a_layout_is_not_mistaken_for_an_error_page) {
  EXPECT_FALSE(find_fault(layouts(), "application/xml", layout));
  EXPECT_FALSE(find_fault(layouts(), "text/xml; charset=utf-8", layout));
}

TEST(ContentCheck, error_pages_halves_and_other_xml_are_faults) {
  EXPECT_TRUE(find_fault(layouts(), "text/html; charset=utf-8", layout));
  EXPECT_TRUE(find_fault(layouts(), "TEXT/HTML", layout));
  EXPECT_TRUE(find_fault(layouts(), "application/xml", ""));
  EXPECT_TRUE(find_fault(layouts(), "application/xml", layout.substr(0, layout.size() / 2)));
  EXPECT_TRUE(find_fault(layouts(), "application/xml", "<html><body>Service unavailable</body></html>"));
  EXPECT_TRUE(find_fault(layouts(), "application/xml", "<html><p>broken<br></html>"));
  EXPECT_TRUE(find_fault(layouts(), "application/xml", "<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>"));
}

DocumentPtr sized(size_t bytes) {
  auto document = std::make_shared<Document>();
  document->body = std::string(bytes, 'x');
  return document;
}

TEST(MemoryCopies, the_least_recently_used_goes_first) {
  MemoryCopies copies(4000);
  copies.put("a", sized(1000));
  copies.put("b", sized(1000));
  copies.put("c", sized(1000));
  EXPECT_TRUE(copies.find("a"));
  copies.put("d", sized(1000));
  EXPECT_TRUE(copies.find("a"));
  EXPECT_FALSE(copies.find("b"));
  EXPECT_LE(copies.bytes(), 4000U);
}

TEST(MemoryCopies, what_exceeds_it_whole_is_not_kept) {
  MemoryCopies copies(4000);
  copies.put("a", sized(100));
  copies.put("big", sized(5000));
  EXPECT_FALSE(copies.find("big"));
  EXPECT_EQ(copies.bytes(), 0U);
  copies.put("a", sized(100));
  copies.put("a", sized(200));
  copies.erase("a");
  EXPECT_EQ(copies.bytes(), 0U);
}

std::shared_ptr<Document> changed(int64_t change) {
  auto document = std::make_shared<Document>();
  document->body = std::string(4000, 'x');
  document->content_type = "application/xml";
  document->change = change;
  return document;
}

TEST(MemoryCopies, a_copy_of_a_later_change_stays) {
  MemoryCopies copies(10000);
  copies.put("a", changed(5));
  copies.put("a", changed(4));
  EXPECT_EQ(copies.find("a")->document->change, 5);
  copies.erase_before("a", 5);
  EXPECT_TRUE(copies.find("a"));
  copies.erase_before("a", 6);
  EXPECT_FALSE(copies.find("a"));
}

TEST(MemoryCopies, forms_are_kept_beside_their_copy_and_count) {
  const auto gzip = std::make_shared<const std::string>(1000, 'z');
  MemoryCopies copies(8000);
  const DocumentPtr document = changed(1);
  copies.keep_form("a", document, "gzip", gzip);
  EXPECT_EQ(copies.bytes(), 0U) << "only beside a copy";
  copies.put("a", document);
  const size_t before = copies.bytes();
  EXPECT_FALSE(copies.find_form("a", document, "gzip"));
  copies.keep_form("a", changed(1), "gzip", gzip);
  EXPECT_FALSE(copies.find_form("a", document, "gzip")) << "of another one";
  copies.keep_form("a", document, "gzip", gzip);
  copies.keep_form("a", document, "gzip", std::make_shared<const std::string>("made by another at the same time"));
  EXPECT_EQ(copies.find_form("a", document, "gzip"), gzip);
  EXPECT_FALSE(copies.find_form("a", document, "json"));
  EXPECT_FALSE(copies.find_form("a", changed(1), "gzip"));
  EXPECT_GE(copies.bytes(), before + gzip->size());
  copies.erase("a");
  EXPECT_EQ(copies.bytes(), 0U);
}

TEST(MemoryCopies, what_does_not_fit_with_its_form_stays_without) {
  const DocumentPtr document = changed(1);
  MemoryCopies copies(4000 + 1 + 256);
  copies.put("a", document);
  copies.keep_form("a", document, "gzip", std::make_shared<const std::string>("z"));
  ASSERT_TRUE(copies.find("a"));
  EXPECT_FALSE(copies.find_form("a", document, "gzip"));
}

}  // namespace
}  // namespace sluice::documents
