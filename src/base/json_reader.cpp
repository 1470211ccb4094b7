#include "base/json_reader.h"

#include <bit>
#include <charconv>

#include <fmt/format.h>
#include <simdjson.h>

#include "base/check.h"
#include "base/encoding.h"

namespace sluice::json {
namespace {

namespace dom = simdjson::dom;

// Memory that one large document needed is not kept for all the small ones after it.
constexpr size_t keep_capacity = 1 << 20;

dom::element element(const std::array<uint64_t, 2>& place) {
  static_assert(sizeof(dom::element) == sizeof place && sizeof(dom::object::iterator) == sizeof place &&
                sizeof(dom::array::iterator) == sizeof place);
  return std::bit_cast<dom::element>(place);
}

template <class T>
T expect(dom::element from) {
  T value{};
  check(from.get(value) == simdjson::SUCCESS, "a JSON value is read as another type");
  return value;
}

struct Explanation {
  simdjson::error_code code;
  std::string_view text;
};
constexpr std::array<Explanation, 8> explanations{
    {{simdjson::EMPTY, "is empty; it must be JSON"},
     {simdjson::UTF8_ERROR, "is not valid UTF-8"},
     {simdjson::UNCLOSED_STRING, "is not valid JSON: a string is not terminated"},
     {simdjson::UNESCAPED_CHARS, "is not valid JSON: a control character in a string"},
     {simdjson::STRING_ERROR, "is not valid JSON: a bad escape in a string"},
     {simdjson::NUMBER_ERROR, "is not valid JSON: a number is malformed or too large"},
     {simdjson::DEPTH_ERROR, "is nested too deeply"},
     {simdjson::CAPACITY, "is too large"}}};

std::string_view explain(simdjson::error_code code) {
  for (const auto& explanation : explanations) {
    if (explanation.code == code) return explanation.text;
  }
  return "is not valid JSON";
}

bool has_bad_string(dom::element root);

bool is_bad(std::string_view text) {
  // The parser lets some lone surrogates through, and PostgreSQL refuses NUL.
  return text.find('\0') != std::string_view::npos || !is_utf8(text);
}

bool has_bad_member(dom::object object) {
  for (const auto member : object) {
    if (is_bad(member.key) || has_bad_string(member.value)) return true;
  }
  return false;
}

bool has_bad_string(dom::element root) {
  if (root.is_object()) return has_bad_member(expect<dom::object>(root));
  if (root.is_string()) return is_bad(expect<std::string_view>(root));
  if (!root.is_array()) return false;
  for (const auto item : expect<dom::array>(root)) {
    if (has_bad_string(item)) return true;
  }
  return false;
}

// Whether `number`, as the text has it, is a whole number that 64 bits cannot hold.
bool is_large_integer(std::string_view number) {
  const bool negative = number.starts_with('-');
  if (number.size() < 19 || number.substr(negative ? 1 : 0).find_first_not_of("0123456789") != std::string_view::npos) {
    return false;
  }
  const char* const end = number.data() + number.size();
  int64_t small = 0;
  uint64_t large = 0;
  const auto read = negative ? std::from_chars(number.data(), end, small) : std::from_chars(number.data(), end, large);
  return read.ec == std::errc::result_out_of_range;
}

// The parser refuses a whole number that 64 bits cannot hold, and takes the same number with a fraction.
std::string with_large_integers_as_doubles(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 16);
  bool in_string = false;
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (in_string && c == '\\') {
      out.append(text.substr(i, 2));
      i += 2;
      continue;
    }
    if (c == '"') in_string = !in_string;
    const size_t end = in_string ? i : std::min(text.find_first_not_of("+-.0123456789Ee", i), text.size());
    if (end == i) {
      out += c;
      ++i;
      continue;
    }
    const std::string_view number = text.substr(i, end - i);
    out.append(number).append(is_large_integer(number) ? ".0" : "");
    i = end;
  }
  return out;
}

// A key is text of the client and may be long; a path in an answer or a log line must be short.
constexpr size_t max_shown = 100;

}  // namespace

struct Document::Parser {
  dom::parser dom;
  dom::element root;
};

Kind Value::kind() const {
  switch (element(place_).type()) {
    case dom::element_type::NULL_VALUE: return Kind::null;
    case dom::element_type::BOOL: return Kind::boolean;
    case dom::element_type::INT64: return Kind::integer;
    case dom::element_type::UINT64: return Kind::unsigned_integer;
    case dom::element_type::DOUBLE: return Kind::number;
    case dom::element_type::STRING: return Kind::string;
    case dom::element_type::ARRAY: return Kind::array;
    case dom::element_type::OBJECT: return Kind::object;
  }
  check_failed("a JSON value has no type", std::source_location::current());
}

bool Value::boolean() const {
  return expect<bool>(element(place_));
}
int64_t Value::integer() const {
  return expect<int64_t>(element(place_));
}
uint64_t Value::unsigned_integer() const {
  return expect<uint64_t>(element(place_));
}
double Value::number() const {
  return expect<double>(element(place_));
}
std::string_view Value::string() const {
  return expect<std::string_view>(element(place_));
}

Items::Items(Value array) {
  const dom::array items = expect<dom::array>(element(array.place_));
  at_ = std::bit_cast<Value::Place>(items.begin());
  end_ = std::bit_cast<Value::Place>(items.end());
}

bool Items::next(Value& item) {
  if (at_ == end_) return false;
  auto at = std::bit_cast<dom::array::iterator>(at_);
  item.place_ = std::bit_cast<Value::Place>(*at);
  at_ = std::bit_cast<Value::Place>(++at);
  return true;
}

Members::Members(Value object) {
  const dom::object members = expect<dom::object>(element(object.place_));
  at_ = std::bit_cast<Value::Place>(members.begin());
  end_ = std::bit_cast<Value::Place>(members.end());
}

bool Members::next(std::string_view& key, Value& value) {
  if (at_ == end_) return false;
  auto at = std::bit_cast<dom::object::iterator>(at_);
  key = at.key();
  value.place_ = std::bit_cast<Value::Place>(at.value());
  at_ = std::bit_cast<Value::Place>(++at);
  return true;
}

std::unique_ptr<Document::Parser>& Document::spare() {
  static thread_local std::unique_ptr<Parser> parser;
  return parser;
}

Result<Document, std::string_view> Document::parse(std::string_view text) {
  if (text.empty()) text = "";  // simdjson copies from it, which must not be null
  if (text.starts_with("\xef\xbb\xbf")) return std::unexpected("starts with a byte order mark");
  auto parser = std::move(spare());
  if (!parser) {
    parser = std::make_unique<Parser>();
    if (parser->dom.allocate(4096, max_depth) != simdjson::SUCCESS) throw std::bad_alloc();
  }
  auto failed = parser->dom.parse(text.data(), text.size()).get(parser->root);
  if (failed == simdjson::NUMBER_ERROR) {
    const std::string rewritten = with_large_integers_as_doubles(text);
    failed = parser->dom.parse(rewritten).get(parser->root);
  }
  Document document(std::move(parser));
  if (failed == simdjson::MEMALLOC) throw std::bad_alloc();
  if (failed) return explain(failed);
  // Neither can be without a backslash: what is written plainly was checked as UTF-8 with the whole text.
  if (text.contains('\\') && has_bad_string(document.parser_->root)) {
    return std::string_view("is not valid JSON: a lone surrogate or NUL in a string");
  }
  return document;
}

Document::Document(std::unique_ptr<Parser> parser) : parser_(std::move(parser)) {}
Document::Document(Document&&) noexcept = default;

Document::~Document() {
  if (parser_ && parser_->dom.capacity() <= keep_capacity) spare() = std::move(parser_);
}

Value Document::root() const {
  Value value;
  value.place_ = std::bit_cast<Value::Place>(parser_->root);
  return value;
}

std::string DecodeError::text() const {
  return fmt::format("{} {}", path.empty() ? "the document" : path, message);
}

bool Decoder::fail(DecodeError::Kind kind, std::string message) {
  error_ = {.kind = kind, .path = {}, .message = std::move(message)};
  return false;
}

bool Decoder::inside(std::string_view key) {
  size_t shown = std::min(key.size(), max_shown);
  while (shown < key.size() && shown > 0 && (key[shown] & 0xc0) == 0x80) --shown;  // not within a character
  prepend(std::string(key.substr(0, shown)));
  return false;
}

bool Decoder::inside(size_t index) {
  prepend(fmt::format("[{}]", index));
  return false;
}

void Decoder::prepend(std::string segment) {
  const bool dot = !error_.path.empty() && !error_.path.starts_with('[');
  error_.path = segment + (dot ? "." : "") + error_.path;
}

}  // namespace sluice::json
