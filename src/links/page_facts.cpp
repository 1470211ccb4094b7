#include "links/page_facts.h"

#include <memory>
#include <optional>

#include <libxml/HTMLparser.h>

#include "base/check.h"
#include "http/message.h"
#include "links/charset.h"
#include "links/html_text.h"

namespace sluice::links {
namespace {

using http::equal_ignoring_case;

constexpr size_t max_depth = 512;       // of elements; the parser's work grows with it
constexpr size_t max_attributes = 256;  // of a tag; the parser's work grows with their square
constexpr size_t max_raw = 16 * 1024;

struct FreeContext {
  void operator()(htmlParserCtxtPtr context) const { htmlFreeParserCtxt(context); }
};

std::string_view as_view(const xmlChar* text) {
  return text == nullptr ? std::string_view{} : std::string_view(reinterpret_cast<const char*>(text));
}

std::string_view find(const xmlChar** attributes, std::string_view name) {
  for (; attributes != nullptr && attributes[0] != nullptr; attributes += 2) {
    if (equal_ignoring_case(as_view(attributes[0]), name)) return as_view(attributes[1]);
  }
  return {};
}

// Whether blanks-separated `list` has `item`.
bool has_word(std::string_view list, std::string_view item) {
  while (!list.empty()) {
    const std::string_view word = list.substr(0, list.find_first_of(" \t\r\n\f"));
    if (equal_ignoring_case(word, item)) return true;
    list.remove_prefix(std::min(list.size(), word.size() + 1));
  }
  return false;
}

// Collects facts while the parser reads the page. The first nonempty value of a fact counts.
class PageReader {
 public:
  void start(std::string_view element, const xmlChar** attributes) {
    ++depth_;
    if (element == "title") in_title_ = title_.empty();
    if (element == "meta") take_meta(attributes);
    if (element == "link") take_link(attributes);
    if (element == "base") keep(base_, find(attributes, "href"));
  }

  void end(std::string_view element) {
    if (depth_ > 0) --depth_;
    if (element == "title") in_title_ = false;
  }

  void text(std::string_view piece) {
    if (in_title_) title_ += piece.substr(0, max_raw - std::min(title_.size(), max_raw));
  }

  bool too_deep() const { return depth_ > max_depth; }

  PageFacts facts(const http::Url& url) const {
    const http::Url base = url.resolve(base_).value_or(url);
    const auto absolute = [&base](std::string_view reference) {
      const auto target = reference.empty() ? std::nullopt : base.resolve(tidy_text(reference, max_raw));
      return target ? target->to_string() : std::string();
    };
    PageFacts facts;
    facts.title = tidy_text(title_, PageFacts::max_title);
    if (facts.title.empty()) facts.title = tidy_text(og_title_, PageFacts::max_title);
    facts.description = tidy_text(description_, PageFacts::max_description);
    if (facts.description.empty()) facts.description = tidy_text(og_description_, PageFacts::max_description);
    facts.site_name = tidy_text(site_name_, PageFacts::max_title);
    facts.image_url = absolute(image_);
    facts.icon_url = absolute(icon_);
    if (facts.icon_url.empty()) facts.icon_url = absolute(touch_icon_);
    return facts;
  }

 private:
  static void keep(std::string& place, std::string_view value) {
    if (place.empty()) place = value.substr(0, max_raw);
  }

  void take_meta(const xmlChar** attributes) {
    std::string_view name = find(attributes, "property");
    if (name.empty()) name = find(attributes, "name");
    const std::string_view content = find(attributes, "content");
    if (equal_ignoring_case(name, "description")) keep(description_, content);
    if (equal_ignoring_case(name, "og:title")) keep(og_title_, content);
    if (equal_ignoring_case(name, "og:description")) keep(og_description_, content);
    if (equal_ignoring_case(name, "og:site_name")) keep(site_name_, content);
    if (equal_ignoring_case(name, "og:image") || equal_ignoring_case(name, "og:image:url")) keep(image_, content);
  }

  void take_link(const xmlChar** attributes) {
    const std::string_view rel = find(attributes, "rel");
    if (has_word(rel, "icon")) keep(icon_, find(attributes, "href"));
    if (has_word(rel, "apple-touch-icon")) keep(touch_icon_, find(attributes, "href"));
  }

  size_t depth_ = 0;
  bool in_title_ = false;
  std::string title_;
  std::string description_;
  std::string og_title_;
  std::string og_description_;
  std::string site_name_;
  std::string image_;
  std::string icon_;
  std::string touch_icon_;
  std::string base_;
};

void on_start(void* reader, const xmlChar* name, const xmlChar** attributes) {
  static_cast<PageReader*>(reader)->start(as_view(name), attributes);
}

void on_end(void* reader, const xmlChar* name) {
  static_cast<PageReader*>(reader)->end(as_view(name));
}

void on_text(void* reader, const xmlChar* text, int length) {
  static_cast<PageReader*>(reader)->text({reinterpret_cast<const char*>(text), static_cast<size_t>(length)});
}

// How many attributes libxml2 finds in a tag that begins with `tag`, which may be cut off anywhere. Follows
// htmlParseStartElement: where it sees a quoted value decides where it sees names.
size_t count_attributes(std::string_view tag) {
  constexpr std::string_view blanks = " \t\r\n";
  constexpr std::string_view blanks_and_end = " \t\r\n>";
  constexpr std::string_view beginnings = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz:_.";
  constexpr std::string_view name_characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz:_.-0123456789";
  constexpr size_t longest_name = 100;
  const auto skip = [&tag](size_t size) { tag.remove_prefix(std::min(size, tag.size())); };
  skip(tag.find_first_of(blanks_and_end));
  for (size_t count = 0;; ++count) {
    skip(tag.find_first_not_of(blanks));
    if (tag.empty() || tag.starts_with('>') || tag.starts_with("/>")) return count;
    if (!beginnings.contains(tag.front())) {
      skip(tag.find_first_of(blanks_and_end));
      continue;
    }
    skip(std::min(tag.find_first_not_of(name_characters), longest_name));
    const size_t equals = tag.find_first_not_of(blanks);
    if (equals == std::string_view::npos || tag[equals] != '=') continue;
    skip(equals + 1);
    skip(tag.find_first_not_of(blanks));
    if (tag.starts_with('"') || tag.starts_with('\'')) {
      const size_t end = tag.find(tag.front(), 1);
      skip(end == std::string_view::npos ? end : end + 1);
    } else {
      skip(tag.find_first_of(blanks_and_end));
    }
  }
}

// The parser waits for the end of a tag that has too many attributes, and is not to see that end.
bool too_many_attributes(const htmlParserCtxt& context) {
  if (context.instate != XML_PARSER_START_TAG) return false;
  const xmlParserInput& input = *context.input;
  return count_attributes({reinterpret_cast<const char*>(input.cur), static_cast<size_t>(input.end - input.cur)}) >
         max_attributes;
}

// Builds no tree: only facts are kept. Feeds small pieces: the parser reports a tag when it is complete, and between
// two pieces its progress can be checked.
void parse(const std::string& text, PageReader& reader) {
  htmlSAXHandler handler{};
  handler.startElement = on_start;
  handler.endElement = on_end;
  handler.characters = on_text;
  const std::unique_ptr<htmlParserCtxt, FreeContext> context(
      htmlCreatePushParserCtxt(&handler, &reader, nullptr, 0, nullptr, XML_CHAR_ENCODING_UTF8));
  check(context != nullptr, "libxml2 has no memory for a parser");
  // The text is UTF-8 already; a charset declared in the page is ignored.
  htmlCtxtUseOptions(context.get(), HTML_PARSE_RECOVER | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING | HTML_PARSE_NONET |
                                        HTML_PARSE_IGNORE_ENC);
  constexpr size_t piece = 2048;
  for (size_t at = 0; at < text.size(); at += piece) {
    const size_t size = std::min(piece, text.size() - at);
    htmlParseChunk(context.get(), text.data() + at, static_cast<int>(size), 0);
    if (reader.too_deep() || too_many_attributes(*context)) return;
  }
  htmlParseChunk(context.get(), nullptr, 0, 1);
}

}  // namespace

PageFacts read_page(std::string_view body, std::string_view content_type, const http::Url& url) {
  static const bool prepared = (xmlInitParser(), true);  // before two threads do it at once
  check(prepared, "libxml2 failed to start");
  PageReader reader;
  parse(to_utf8(body.substr(0, max_page), content_type), reader);
  return reader.facts(url);
}

}  // namespace sluice::links
