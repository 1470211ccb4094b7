// A large export, as Chrome writes it, read to its end.
#include "links/bookmarks.h"

#include <fstream>
#include <set>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "base/json.h"
#include "tests/support/process.h"
#include "tests/support/temporary_folder.h"

namespace sluice {
namespace {

using links::Bookmark;
using links::BookmarkFault;
using links::BookmarkParser;

// The content of the file, as make_bookmarks.py reports it.
struct Expected {
  int64_t bookmarks = 0;
  int64_t links = 0;
  int64_t skipped = 0;
  int64_t folders = 0;
  int64_t pages = 0;
  int64_t domains = 0;

  static void describe(json::Object<Expected>& object) {
    object.required("bookmarks", &Expected::bookmarks);
    object.required("links", &Expected::links);
    object.required("skipped", &Expected::skipped);
    object.required("folders", &Expected::folders);
    object.required("pages", &Expected::pages);
    object.required("domains", &Expected::domains);
  }
};

Expected make_export(const std::filesystem::path& file, const std::vector<std::string>& options) {
  std::vector<std::string> arguments{
      "python3", std::string(std::getenv("SLUICE_SOURCE")) + "/tests/support/make_bookmarks.py", file};
  arguments.insert(arguments.end(), options.begin(), options.end());
  const std::string printed = test::run_program({.arguments = arguments});
  return json::decode<Expected>(printed).value();
}

struct Import {
  std::set<links::LinkId> pages;
  std::set<std::string> domains;
  std::set<std::string> folders;
  links::BookmarkCounts counts;
  std::optional<BookmarkFault> fault;

  void take(std::vector<Bookmark>& found) {
    for (const Bookmark& bookmark : found) {
      pages.insert(bookmark.url.id());
      domains.insert(bookmark.url.domain());
      folders.insert(bookmark.folder);
    }
    found.clear();
  }
};

Import read(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  Import import;
  BookmarkParser parser;
  std::vector<Bookmark> found;
  std::string piece(64 * 1024, '\0');
  while (!import.fault && in.read(piece.data(), static_cast<std::streamsize>(piece.size())).gcount() > 0) {
    import.fault = parser.feed(std::string_view(piece).substr(0, static_cast<size_t>(in.gcount())), found);
    import.take(found);
  }
  if (!import.fault) import.fault = parser.finish(found);
  import.take(found);
  import.counts = parser.counts();
  return import;
}

void expect_all(const Import& import, const Expected& expected) {
  EXPECT_FALSE(import.fault) << import.fault->text();
  EXPECT_EQ(import.counts.links, expected.links);
  EXPECT_EQ(import.counts.all_skipped(), expected.skipped);
  EXPECT_EQ(import.counts.folders, expected.folders);
  EXPECT_EQ(import.pages.size(), expected.pages);
  EXPECT_EQ(import.domains.size(), expected.domains);
}

TEST(BookmarksScenario, an_export_of_20000_bookmarks_has_what_its_maker_says) {
  const test::TemporaryFolder folder;
  const Expected expected = make_export(folder / "bookmarks.html", {});
  ASSERT_EQ(expected.bookmarks, 20'000);
  const Import import = read(folder / "bookmarks.html");
  expect_all(import, expected);
  EXPECT_TRUE(std::ranges::any_of(import.folders, [](const auto& path) { return std::ranges::count(path, '/') >= 4; }));
}

int64_t most_memory_kib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

TEST(BookmarksScenario, a_file_of_50_mib_takes_a_bounded_memory) {
  const test::TemporaryFolder folder;
  const Expected expected = make_export(folder / "bookmarks.html", {"--bookmarks", "2000", "--icon-bytes", "24000"});
  ASSERT_GT(std::filesystem::file_size(folder / "bookmarks.html"), 48u << 20);
  const int64_t before = most_memory_kib();
  expect_all(read(folder / "bookmarks.html"), expected);
  EXPECT_LT(most_memory_kib() - before, 24 * 1024);
}

TEST(BookmarksScenario, a_file_that_was_cut_off_is_not_taken_for_a_whole_one) {
  const test::TemporaryFolder folder;
  make_export(folder / "bookmarks.html", {"--bookmarks", "500"});
  std::filesystem::resize_file(folder / "bookmarks.html", std::filesystem::file_size(folder / "bookmarks.html") / 2);
  const Import import = read(folder / "bookmarks.html");
  ASSERT_TRUE(import.fault);
  EXPECT_EQ(import.fault->kind, BookmarkFault::Kind::truncated);
}

}  // namespace
}  // namespace sluice
