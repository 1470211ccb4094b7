#include "links/page_facts.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "links/charset.h"
#include "runtime/testing/cpu_time.h"

namespace sluice::links {
namespace {

PageFacts read(std::string_view body, std::string_view content_type = "text/html") {
  return read_page(body, content_type, *http::Url::parse("https://a.kr/dir/page"));
}

TEST(PageFacts, are_title_description_open_graph_and_icon) {
  const PageFacts facts = read(R"html(<!DOCTYPE html><html lang=ko><head><meta charset=utf-8>
    <title>  Tom &amp; Jerry
      &#8212; 뉴스 </title>
    <META NAME=Description CONTENT="All about &quot;it&quot;">
    <meta property="og:title" content="Other"><meta property="og:site_name" content="A">
    <meta property="og:image" content="/img/og.png?x=1&amp;y=2">
    <link rel="shortcut ICON" href="../favicon.ico"></head><body><title>late</title></body></html>)html");
  EXPECT_EQ(facts, (PageFacts{.title = "Tom & Jerry — 뉴스",
                              .description = "All about \"it\"",
                              .site_name = "A",
                              .image_url = "https://a.kr/img/og.png?x=1&y=2",
                              .icon_url = "https://a.kr/favicon.ico"}));
}

TEST(PageFacts, fall_back_to_what_open_graph_says) {
  const PageFacts facts = read(
      "<title> </title><meta name='og:title' content='T'><meta property='og:description' content='D'>"
      "<link rel='apple-touch-icon' href='//cdn.a.kr/i.png'>");
  EXPECT_EQ(facts.title, "T");
  EXPECT_EQ(facts.description, "D");
  EXPECT_EQ(facts.icon_url, "https://cdn.a.kr/i.png");
}

TEST(PageFacts, follow_the_base_and_leave_out_what_is_no_address) {
  EXPECT_EQ(read("<base href='http://b.kr/x/'><link rel=icon href=i.png>").icon_url, "http://b.kr/x/i.png");
  EXPECT_EQ(read("<link rel=icon href='data:image/png;base64,AAAA'>").icon_url, "");
  EXPECT_EQ(read("<meta property=og:image content='javascript:alert(1)'>").image_url, "");
}

TEST(PageFacts, are_found_in_pages_that_are_broken) {
  EXPECT_EQ(read("<title>open").title, "open");
  EXPECT_EQ(read("text <b><title>late</b></title>").title, "late");
  EXPECT_EQ(read(""), PageFacts{});
  EXPECT_EQ(read("<<<<>>>&&&&\x01\xff"), PageFacts{});
  EXPECT_EQ(read("\x89PNG\r\n\x1a\n"), PageFacts{});
  EXPECT_EQ(read("{\"title\": \"json\"}").title, "");
  std::string nul = "<ti";
  nul.push_back('\0');
  EXPECT_EQ(read(nul + "tle>x</title>").title, "x");
}

TEST(PageFacts, are_bounded) {
  EXPECT_EQ(read("<title>" + std::string(100'000, 'x')).title.size(), PageFacts::max_title);
  EXPECT_EQ(read("<meta name=description content='" + std::string(100'000, 'x') + "'>").description.size(),
            PageFacts::max_description);
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "<div>";
  EXPECT_EQ(read(deep + "<title>too deep</title>").title, "");
  EXPECT_EQ(read(std::string(max_page, ' ') + "<title>too late</title>").title, "");
}

// "한글 똠방각하" in EUC-KR; the second word has a syllable that only CP949 has.
constexpr std::string_view korean = "\xc7\xd1\xb1\xdb \x8c\x63\xb9\xe6\xb0\xa2\xc7\xcf";
constexpr std::string_view same_in_utf8 = "한글 똠방각하";

TEST(PageFacts, are_read_in_the_character_set_of_the_header) {
  EXPECT_EQ(read(fmt::format("<title>{}</title>", korean), "text/html; charset=EUC-KR").title, same_in_utf8);
  EXPECT_EQ(read(fmt::format("<title>{}</title>", korean), "text/html;charset=\"ks_c_5601-1987\"").title, same_in_utf8);
  EXPECT_EQ(read("<title>caf\xe9 \x80</title>", "text/html; charset=iso-8859-1").title, "café €");
  EXPECT_EQ(read("<title>\x93\xfa\x96\x7b</title>", "text/html; charset=Shift_JIS").title, "日本");
}

TEST(PageFacts, are_read_in_the_character_set_that_the_page_declares) {
  for (const std::string_view meta :
       {"<meta charset=euc-kr>", "<META HTTP-EQUIV='Content-Type' CONTENT='text/html; charset=cp949'>",
        "<?xml version='1.0' encoding='euc-kr'?>", "<meta name=x><meta\ncharset = \"EUC-KR\" >"}) {
    EXPECT_EQ(read(fmt::format("{}<title>{}</title>", meta, korean)).title, same_in_utf8) << meta;
  }
}

TEST(PageFacts, are_read_in_what_fits_where_the_declaration_is_wrong_or_missing) {
  EXPECT_EQ(read(fmt::format("<title>{}</title>", korean)).title, same_in_utf8);
  EXPECT_EQ(read(fmt::format("<title>{}</title>", same_in_utf8)).title, same_in_utf8);
  EXPECT_EQ(read(fmt::format("<meta charset=utf-8><title>{}</title>", korean)).title, same_in_utf8);
  EXPECT_EQ(read(fmt::format("<meta charset=euc-kr><title>{}</title>", same_in_utf8), "text/html; charset=utf-8").title,
            same_in_utf8);
  EXPECT_EQ(read(fmt::format("<meta charset='no-such-set//IGNORE'><title>{}</title>", same_in_utf8)).title,
            same_in_utf8);
}

TEST(ToUtf8, heeds_a_byte_order_mark) {
  EXPECT_EQ(to_utf8("\xef\xbb\xbf"
                    "a",
                    "text/html; charset=euc-kr"),
            "a");
  using namespace std::string_view_literals;
  EXPECT_EQ(to_utf8("\xff\xfe\x5c\xd5"sv, ""), "한");
  EXPECT_EQ(to_utf8("\xfe\xff\xd5\x5c"sv, ""), "한");
}

TEST(ToUtf8, forgives_a_character_that_was_cut_off) {
  EXPECT_EQ(to_utf8(same_in_utf8.substr(0, 5), "text/html; charset=utf-8"), "한");
}

TEST(ToUtf8, replaces_what_fits_nothing) {
  EXPECT_EQ(to_utf8("a\xff\xff z", "text/html; charset=utf-8"), "a\ufffd\ufffd z");
}

// Tags that the parser, with its lists of attributes, would take minutes for.
TEST(PageFacts, a_tag_with_a_hundred_thousand_attributes_ends_the_reading) {
  const std::string head = "<title>T</title><p ";
  for (const std::string_view before : {"", "x='", "1=\"", "=\"", "a=b\"", "/", "\"", "a = 'b' '"}) {
    std::string page = head + std::string(before);
    for (int i = 0; page.size() < max_page; ++i) page += fmt::format("a{:x} ", i);
    PageFacts facts;
    EXPECT_LT(cpu_time_of([&] { facts = read(page + "><meta name=description content=D>"); }), 3s) << before;
    EXPECT_EQ(facts.title, "T");
  }
}

TEST(PageFacts, many_tags_with_many_attributes_are_read_quickly) {
  std::string page;
  while (page.size() < max_page) {
    page += "<p ";
    for (int i = 0; i < 600; ++i) page += fmt::format("a{:x} ", i);
    page += ">";
  }
  EXPECT_LT(cpu_time_of([&] { read(page); }), 5s);
}

TEST(PageFacts, a_long_value_is_no_reason_to_stop) {
  std::string words;
  for (int i = 0; i < 20'000; ++i) words += fmt::format("word{} ", i);
  EXPECT_EQ(read("<meta name=keywords content='" + words + "'><title>T</title>").title, "T");
  EXPECT_EQ(
      read("<link rel=icon href=\"data:image/png;base64," + std::string(100'000, 'A') + "\"><title>T</title>").title,
      "T");
}

}  // namespace
}  // namespace sluice::links
