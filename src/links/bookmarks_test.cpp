#include "links/bookmarks.h"

#include <gtest/gtest.h>

#include "links/html_text.h"

namespace sluice::links {
namespace {

constexpr std::string_view begin = "<!DOCTYPE NETSCAPE-Bookmark-file-1>\n";

struct Read {
  std::vector<Bookmark> found;
  BookmarkCounts counts;
  std::string fault;

  // "folder|title|url" of each.
  std::vector<std::string> lines() const {
    std::vector<std::string> result;
    for (const Bookmark& b : found) result.push_back(b.folder + '|' + b.title + '|' + b.url.text());
    return result;
  }
};

Read read_in_pieces(std::string_view file, size_t size) {
  BookmarkParser parser;
  Read read;
  std::optional<BookmarkFault> fault;
  for (size_t at = 0; at < file.size() && !fault; at += size) fault = parser.feed(file.substr(at, size), read.found);
  if (!fault) fault = parser.finish(read.found);
  read.counts = parser.counts();
  if (fault) read.fault = fault->text();
  return read;
}

Read read(std::string_view after_declaration) {
  return read_in_pieces(std::string(begin) + std::string(after_declaration), 64 * 1024);
}

using Lines = std::vector<std::string>;

constexpr std::string_view chrome_export = R"html(<!DOCTYPE NETSCAPE-Bookmark-file-1>
<!-- This is an automatically generated file.
     It will be read and overwritten.
     DO NOT EDIT! -->
<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8">
<TITLE>Bookmarks</TITLE>
<H1>Bookmarks</H1>
<DL><p>
    <DT><H3 ADD_DATE="1700000000" LAST_MODIFIED="1700000001" PERSONAL_TOOLBAR_FOLDER="true">Bookmarks bar</H3>
    <DL><p>
        <DT><A HREF="https://example.com/?a=1&amp;b=2" ADD_DATE="1700000002" ICON="data:image/png;base64,iVBOR//+>==">Tom &amp; Jerry&#39;s</A>
        <DT><H3 ADD_DATE="1700000003">News/Local</H3>
        <DL><p>
            <DT><A HREF="http://한국.kr/">한국 &lt;뉴스&gt;</A>
            <DT><A HREF="javascript:(function(){alert('&lt;a&gt;')})()">Bookmarklet</A>
        </DL><p>
        <DT><A HREF="chrome://settings/">Settings</A>
    </DL><p>
    <DT><A HREF="https://example.com/?b=2&amp;a=1#x">Other</A>
</DL><p>
)html";

TEST(BookmarkParser, reads_what_chrome_exports) {
  const Read read = read_in_pieces(chrome_export, 64 * 1024);
  EXPECT_EQ(read.fault, "");
  EXPECT_EQ(read.lines(), (Lines{"Bookmarks bar|Tom & Jerry's|https://example.com/?a=1&b=2",
                                 "Bookmarks bar/News\\/Local|한국 <뉴스>|http://xn--3e0b707e.kr/",
                                 "|Other|https://example.com/?a=1&b=2"}));
  EXPECT_EQ(read.counts.folders, 2u);
  EXPECT_EQ(read.counts.links, 3u);
  EXPECT_EQ(read.counts.all_skipped(), 2u);
  EXPECT_EQ(read.counts.skipped.at(NotCanonical::other_scheme), 2u);
}

TEST(BookmarkParser, finds_the_same_however_the_file_is_cut_into_pieces) {
  const Lines whole = read_in_pieces(chrome_export, 64 * 1024).lines();
  for (const size_t size : {1, 2, 3, 7, 100}) EXPECT_EQ(read_in_pieces(chrome_export, size).lines(), whole) << size;
}

TEST(BookmarkParser, takes_tags_as_people_write_them) {
  EXPECT_EQ(read("<dl><dt><a add_date=1 HREF = 'http://a.kr/x y' >  two\n words </a></dl>").lines(),
            (Lines{"|two words|http://a.kr/x%20y"}));
  EXPECT_EQ(read("<DL><DT><A HREF=http://a.kr/b/ ICON>1 < 2 </ 3</A></DL>").lines(),
            (Lines{"|1 < 2 </ 3|http://a.kr/b/"}));
  EXPECT_EQ(read("<DL><DT><A HREF='http://a.kr'>a<DT><A HREF='http://b.kr'>b</DL>").lines(),
            (Lines{"|a|http://a.kr/", "|b|http://b.kr/"}));
  EXPECT_EQ(read("<DL><DT><A HREF='http://a.kr' href='http://b.kr'></A><DD>about it<HR></DL>").lines(),
            (Lines{"||http://a.kr/"}));
  EXPECT_EQ(read("<DL><DT><A HREF='http://a.kr'><!-- <A> -- > -->a<!----><b>b</b></A></DL>").lines(),
            (Lines{"|ab|http://a.kr/"}));
  EXPECT_EQ(read_in_pieces("\xef\xbb\xbf\r\n<!-- x --><!doctype netscape-bookmark-file-1><DL></DL>", 1).fault, "");
}

TEST(BookmarkParser, puts_links_of_an_unnamed_folder_into_the_one_around_it) {
  EXPECT_EQ(read("<DL><DT><H3>a</H3><DL><DT><H3> </H3><DL><A HREF='http://a.kr'></A></DL></DL></DL>").lines(),
            (Lines{"a||http://a.kr/"}));
}

TEST(BookmarkParser, keeps_bytes_that_are_no_utf8_out_of_titles) {
  EXPECT_EQ(read("<DL><A HREF='http://a.kr'>a\xff\xed\xa0\x80z</A></DL>").lines(),
            (Lines{"|a\ufffd\ufffd\ufffd\ufffdz|http://a.kr/"}));
}

TEST(BookmarkParser, says_what_is_wrong_with_a_file) {
  EXPECT_EQ(read_in_pieces("", 10).fault,
            "line 1: the file is not a bookmark file: it does not begin with <!DOCTYPE NETSCAPE-Bookmark-file-1>");
  for (const std::string_view other :
       {"<!DOCTYPE html><html>", "\x89PNG\r\n", "PK\x03\x04", "{\"roots\": {}}", "\xff\xfe<"}) {
    EXPECT_TRUE(read_in_pieces(other, 100).fault.contains("not a bookmark file")) << other;
  }
  using namespace std::string_view_literals;
  EXPECT_EQ(read("<DL>\n<DT>\0"sv).fault, "line 3: the file is not text");
  EXPECT_EQ(read("<DL>\n</DL>\n</DL>").fault, "line 4: </DL> closes a folder that is not open");
  EXPECT_TRUE(read("<DL>").fault.contains("ends too early"));
  EXPECT_EQ(read("<DL>\n<DT><A HREF=\"http://a.kr>\n\n</DL>").fault,
            "line 3: the file ends too early: a tag or folder is still open");
  std::string deep;
  for (size_t i = 0; i <= BookmarkParser::max_depth; ++i) deep += "<DL>";
  EXPECT_TRUE(read(deep).fault.contains("nested too deep"));
}

TEST(BookmarkParser, reads_nothing_after_a_fault) {
  BookmarkParser parser;
  std::vector<Bookmark> found;
  EXPECT_TRUE(parser.feed("no bookmarks", found));
  EXPECT_TRUE(parser.feed(chrome_export, found));
  EXPECT_TRUE(parser.finish(found));
  EXPECT_TRUE(found.empty());
}

TEST(BookmarkParser, bounds_titles_folders_and_links) {
  const std::string most(100'000, 'x');
  const Read titles = read("<DL><A HREF='http://a.kr'>" + most + "</A></DL>");
  EXPECT_EQ(titles.found.at(0).title.size(), Bookmark::max_title);
  const Read links = read("<DL><A HREF='http://a.kr/" + most + "'></A><A HREF='javascript:" + most + "'></A></DL>");
  EXPECT_EQ(links.counts.skipped,
            (std::map<NotCanonical, size_t>{{NotCanonical::too_long, 1}, {NotCanonical::other_scheme, 1}}));
  const std::string name(600, 'f');
  const Read folders =
      read("<DL><H3>" + name + "</H3><DL><H3>" + name + "</H3><DL><A HREF='http://a.kr'></A></DL></DL></DL>");
  EXPECT_EQ(folders.found.at(0).folder, name);
}

TEST(DecodeReferences, knows_what_exports_write) {
  EXPECT_EQ(decode_references("&lt;&#60;&#x3c;&amp;lt;&nbsp;&hellip;"), "<<<&lt;\u00a0…");
  EXPECT_EQ(decode_references("a&b=1&copy=2&;&#;&#x;&#xyz;&unknown;&"), "a&b=1&copy=2&;&#;&#x;&#xyz;&unknown;&");
  EXPECT_EQ(decode_references("&#0;&#xd800;&#x110000;&#128512;"), "\ufffd\ufffd\ufffd😀");
}

TEST(TidyText, is_one_line_cut_between_characters) {
  EXPECT_EQ(tidy_text(" a \t\n b\u3000c\u00a0", 100), "a b c");
  EXPECT_EQ(tidy_text("한국어", 8), "한국");
  EXPECT_EQ(tidy_text("ab cd", 3), "ab");
}

}  // namespace
}  // namespace sluice::links
