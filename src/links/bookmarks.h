// Reads the bookmarks that a browser exported (Netscape bookmark format), piece by piece.
//
// A file may be large and come from anywhere. Memory is bounded by the piece that is fed (64 KiB is a good one), not by
// the file: bookmarks leave as soon as they are complete, in the order of the file. Browsers write the format with
// small differences, so what carries no meaning is passed over; a file that is something else, or that was cut off, is
// a fault that says so.
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

  // "Bookmarks bar/News": a slash or backslash that belongs to a name stands behind a backslash. Empty at the top. What
  // is too deep for `max_folder` stands in the nearest folder that is not.
  std::string folder;
  std::string title;
  CanonicalUrl url;
};

struct BookmarkFault {
  enum class Kind {
    binary,         // has a byte that no text has
    not_bookmarks,  // does not begin as the format does
    malformed,      // closes a folder that is not open
    too_deep,       // folders in folders, more than anybody makes
    truncated,      // ends inside a tag or a folder
  };

  Kind kind = Kind::malformed;
  size_t line = 1;

  // One sentence for whoever sent the file.
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

  // Appends to `found` what `piece` completes. A fault is final: nothing is read after it.
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
  std::string text_;                // what is collected, as written
  std::string href_;                // of the link whose title is collected
  std::string heading_;             // of the folder whose list comes next
  std::string folder_;              // the path of the list that is open
  std::vector<size_t> open_lists_;  // the length of the path that each came from
  BookmarkCounts counts_;
};

}  // namespace sluice::links
