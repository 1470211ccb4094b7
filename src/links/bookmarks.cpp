#include "links/bookmarks.h"

#include <numeric>

#include "http/message.h"
#include "links/html_text.h"

namespace sluice::links {
namespace {

constexpr std::string_view declaration = "DOCTYPE NETSCAPE-Bookmark-file-1";
constexpr size_t max_raw_text = 8 * Bookmark::max_title;  // escaped text is longer than its meaning

// Blanks, or (a part of) the byte order mark.
bool may_come_first(std::string_view text) {
  return text.find_first_not_of(" \t\r\n\f\xef\xbb\xbf") == std::string_view::npos;
}

std::string clean(std::string_view written) {
  return tidy_text(decode_references(written), Bookmark::max_title);
}

// As a part of a path.
std::string escaped(std::string_view name) {
  std::string result;
  for (const char c : name) {
    if (c == '/' || c == '\\') result.push_back('\\');
    result.push_back(c);
  }
  return result;
}

}  // namespace

std::string BookmarkFault::text() const {
  const auto what = [this]() -> std::string_view {
    switch (kind) {
      case Kind::binary: return "the file is not text";
      case Kind::not_bookmarks:
        return "the file is not a bookmark file: it does not begin with <!DOCTYPE NETSCAPE-Bookmark-file-1>";
      case Kind::malformed: return "</DL> closes a folder that is not open";
      case Kind::too_deep: return "folders are nested too deeply";
      case Kind::truncated: return "the file ends too early: a tag or folder is still open";
    }
    return "";
  };
  return fmt::format("line {}: {}", line, what());
}

size_t BookmarkCounts::all_skipped() const {
  return std::accumulate(skipped.begin(), skipped.end(), size_t{0},
                         [](size_t sum, const auto& entry) { return sum + entry.second; });
}

std::optional<BookmarkFault> BookmarkParser::feed(std::string_view piece, std::vector<Bookmark>& found) {
  if (fault_) return fault_;
  const size_t zero = piece.find('\0');
  std::string_view text = piece.substr(0, zero);
  while (!fault_) {
    const auto token = reader_.next(text);
    if (!token) break;
    take(*token, found);
  }
  if (zero == std::string_view::npos) return fault_;
  // A picture is something else than a text that begins wrongly.
  if (fault_ && fault_->kind == BookmarkFault::Kind::not_bookmarks) fault_.reset();
  fail(BookmarkFault::Kind::binary, reader_.line());
  return fault_;
}

std::optional<BookmarkFault> BookmarkParser::finish(std::vector<Bookmark>& found) {
  if (!begun_) fail(BookmarkFault::Kind::not_bookmarks, reader_.line());
  if (reader_.inside_markup()) fail(BookmarkFault::Kind::truncated, reader_.markup_line());
  if (!open_lists_.empty()) fail(BookmarkFault::Kind::truncated, reader_.line());
  if (!fault_) end_link(found);
  return fault_;
}

void BookmarkParser::take(const Token& token, std::vector<Bookmark>& found) {
  if (begun_) {
    if (token.kind == Token::Kind::text) take_text(token.text);
    if (token.kind == Token::Kind::tag) take_tag(token, found);
    return;
  }
  if (token.kind == Token::Kind::declaration) {
    begun_ = http::equal_ignoring_case(token.text.substr(0, declaration.size()), declaration);
  }
  const bool passed = token.kind == Token::Kind::text && may_come_first(token.text);
  if (!begun_ && !passed) fail(BookmarkFault::Kind::not_bookmarks, reader_.line());
}

void BookmarkParser::take_text(std::string_view text) {
  if (collecting_ != Collecting::nothing) text_ += text.substr(0, max_raw_text - text_.size());
}

void BookmarkParser::take_tag(const Token& tag, std::vector<Bookmark>& found) {
  const auto is = [&tag](std::string_view name, bool closing) { return tag.text == name && tag.closing == closing; };
  const bool ends_title = tag.text == "a" || tag.text == "h3" || tag.text == "dl" || tag.text == "dt" ||
                          tag.text == "dd" || tag.text == "hr";
  if (ends_title) end_link(found);
  if (is("a", false)) {
    collecting_ = Collecting::title;
    text_.clear();
    href_ = tag.href;
  } else if (is("h3", false)) {
    collecting_ = Collecting::folder;
    text_.clear();
  } else if (is("h3", true)) {
    end_heading();
  } else if (is("dl", false)) {
    open_list();
  } else if (is("dl", true)) {
    close_list();
  }
}

void BookmarkParser::open_list() {
  if (open_lists_.size() == max_depth) return fail(BookmarkFault::Kind::too_deep, reader_.line());
  open_lists_.push_back(folder_.size());
  const size_t slash = folder_.empty() ? 0 : 1;
  if (!heading_.empty() && folder_.size() + slash + heading_.size() <= Bookmark::max_folder) {
    folder_.append(slash, '/');
    folder_ += heading_;
  }
  heading_.clear();
}

void BookmarkParser::close_list() {
  if (open_lists_.empty()) return fail(BookmarkFault::Kind::malformed, reader_.line());
  folder_.resize(open_lists_.back());
  open_lists_.pop_back();
  heading_.clear();
}

void BookmarkParser::end_heading() {
  if (collecting_ != Collecting::folder) return;
  heading_ = escaped(clean(text_));
  collecting_ = Collecting::nothing;
  text_.clear();
  ++counts_.folders;
}

void BookmarkParser::end_link(std::vector<Bookmark>& found) {
  if (collecting_ != Collecting::title) return;
  collecting_ = Collecting::nothing;
  auto url = CanonicalUrl::parse(decode_references(href_));
  if (url) {
    ++counts_.links;
    found.push_back({.folder = folder_, .title = clean(text_), .url = *std::move(url)});
  } else {
    ++counts_.skipped[url.error()];
  }
  text_.clear();
}

void BookmarkParser::fail(BookmarkFault::Kind kind, size_t line) {
  if (!fault_) fault_ = BookmarkFault{kind, line};
}

}  // namespace sluice::links
