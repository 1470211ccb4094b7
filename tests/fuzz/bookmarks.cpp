// A bookmark file means the same in any pieces, and its bookmarks are bounded UTF-8.
#include "links/bookmarks.h"

#include "base/check.h"
#include "base/encoding.h"

using namespace sluice::links;

namespace {

struct Read {
  std::vector<Bookmark> found;
  std::string fault;
};

Read read(std::string_view file, size_t size) {
  BookmarkParser parser;
  Read result;
  std::optional<BookmarkFault> fault;
  for (size_t at = 0; at < file.size() && !fault; at += size) fault = parser.feed(file.substr(at, size), result.found);
  if (!fault) fault = parser.finish(result.found);
  if (fault) result.fault = fault->text();
  sluice::check(parser.counts().links == result.found.size(), "every link is handed out");
  return result;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const size_t cut = data[0] + size_t{1};
  const std::string file =
      "<!DOCTYPE NETSCAPE-Bookmark-file-1>" + std::string(reinterpret_cast<const char*>(data + 1), size - 1);
  const Read whole = read(file, file.size());
  const Read pieces = read(file, cut);
  sluice::check(whole.fault == pieces.fault, "the same fault");
  sluice::check(whole.found.size() == pieces.found.size(), "as many bookmarks");
  for (size_t i = 0; i < whole.found.size(); ++i) {
    const Bookmark& a = whole.found[i];
    const Bookmark& b = pieces.found[i];
    sluice::check(a.url == b.url && a.title == b.title && a.folder == b.folder, "the same bookmark");
    sluice::check(sluice::is_utf8(a.title) && sluice::is_utf8(a.folder), "text is UTF-8");
    sluice::check(a.title.size() <= Bookmark::max_title && a.folder.size() <= Bookmark::max_folder, "text is bounded");
  }
  return 0;
}
