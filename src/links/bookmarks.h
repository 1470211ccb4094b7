// Reads the bookmarks that a browser exported (Netscape bookmark format), piece by piece.
//
// A file may be large and come from anywhere. Memory is bounded by the given piece (64 KiB is a good size), not by the
// file: bookmarks are returned as soon as they are complete, in the order of the file. Browsers write the format with
// small differences, so parts without meaning are skipped; a file of another type, or a truncated one, is a fault that
// says so.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "links/canonical_url.h"
#include "links/tag_reader.h"

namespace sluice::links {

struct Bookmark {
  static constexpr size_t max_folder = 1024;  // bytes
  static constexpr size_t max_title = 1024;

  // "Bookmarks bar/News": a slash or backslash in a name is escaped with a backslash. Empty at the top level. Bookmarks
  // deeper than `max_folder` are placed in the nearest folder that is not.
  std::string folder;
  std::string title;
  CanonicalUrl url;
};

struct BookmarkFault {
  enum class Kind {
    binary,         // has a byte that no text has
    not_bookmarks,  // does not begin as the format does
    malformed,      // closes a folder that is not open
    too_deep,       // nested deeper than any real export
    truncated,      // ends inside a tag or a folder
  };

  Kind kind = Kind::malformed;
  size_t line = 1;

  // One sentence for the sender of the file.
  std::string text() const;
};

struct BookmarkCounts {
  size_t folders = 0;
  size_t links = 0;                          // those handed out
  std::map<NotCanonical, size_t> skipped{};  // links that lead to no page: javascript:, data:, chrome:, ...

  size_t all_skipped() const;
};

// Belongs to one thread.
class BookmarkParser {
 public:
  static constexpr size_t max_depth = 256;

  // Appends the bookmarks that `piece` completes to `found`. A fault is final: nothing is read after it.
  std::optional<BookmarkFault> feed(std::string_view piece, std::vector<Bookmark>& found);
  // After the last piece.
  std::optional<BookmarkFault> finish(std::vector<Bookmark>& found);

  const BookmarkCounts& counts() const { return counts_; }

 private:
  enum class Collecting { nothing, folder, title };

  void take(const Token& token, std::vector<Bookmark>& found);
  void take_text(std::string_view text);
  void take_tag(const Token& tag, std::vector<Bookmark>& found);
  void open_list();
  void close_list();
  void end_heading();
  void end_link(std::vector<Bookmark>& found);
  void fail(BookmarkFault::Kind kind, size_t line);

  TagReader reader_;
  std::optional<BookmarkFault> fault_;
  bool begun_ = false;  // the declaration was seen
  Collecting collecting_ = Collecting::nothing;
  std::string text_;                // the collected text, as written
  std::string href_;                // of the link being read
  std::string heading_;             // of the folder whose list follows
  std::string folder_;              // the path of the list that is open
  std::vector<size_t> open_lists_;  // the length of the path that each came from
  BookmarkCounts counts_;
};

}  // namespace sluice::links
