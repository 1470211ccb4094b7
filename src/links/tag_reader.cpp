#include "links/tag_reader.h"

#include <algorithm>

namespace sluice::links {
namespace {

constexpr size_t max_name = 16;  // longer than every name that means something here
constexpr size_t max_declaration = 64;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

void append_lower(std::string& name, char c) {
  if (name.size() < max_name) name.push_back(is_letter(c) ? static_cast<char>(c | 0x20) : c);
}

}  // namespace

std::optional<Token> TagReader::next(std::string_view& piece) {
  std::optional<Token> token;
  while (!piece.empty() && !token) {
    switch (state_) {
      case State::text: token = read_text(piece); break;
      case State::open: token = read_open(piece); break;
      case State::quoted: read_quoted(piece); break;
      case State::declaration: token = read_declaration(piece); break;
      case State::comment: read_comment(piece); break;
      case State::name:
      case State::attributes:
      case State::attribute:
      case State::equals:
      case State::value:
      case State::bare: token = read_tag(piece); break;
    }
  }
  return token;
}

std::string_view TagReader::take(std::string_view& piece, size_t count) {
  const std::string_view taken = piece.substr(0, count);
  line_ += static_cast<size_t>(std::ranges::count(taken, '\n'));
  piece.remove_prefix(taken.size());
  return taken;
}

std::optional<Token> TagReader::read_text(std::string_view& piece) {
  if (const size_t end = piece.find('<'); end != 0) return Token{.text = take(piece, end)};
  take(piece, 1);
  markup_line_ = line_;
  name_.clear();
  href_.clear();
  closing_ = false;
  state_ = State::open;
  return std::nullopt;
}

std::optional<Token> TagReader::read_open(std::string_view& piece) {
  const char c = piece.front();
  if (c == '/' && !closing_) {
    take(piece, 1);
    closing_ = true;
  } else if ((c == '!' || c == '?') && !closing_) {
    take(piece, 1);
    state_ = State::declaration;
  } else if (is_letter(c)) {
    state_ = State::name;
  } else {
    state_ = State::text;
    return Token{.text = closing_ ? "</" : "<"};  // an unescaped character, not a tag
  }
  return std::nullopt;
}

// One character of a tag, outside of quotes.
std::optional<Token> TagReader::read_tag(std::string_view& piece) {
  const char c = piece.front();
  if (c == '>') {
    take(piece, 1);
    state_ = State::text;
    return Token{.kind = Token::Kind::tag, .text = name_, .closing = closing_, .href = href_};
  }
  const bool ends = is_blank(c) || (c == '/' && state_ != State::bare);
  if (state_ == State::name) {
    if (ends)
      state_ = State::attributes;
    else
      append_lower(name_, c);
  } else if (state_ == State::attribute) {
    if (c == '=')
      state_ = State::value;
    else if (ends)
      state_ = State::equals;
    else
      append_lower(attribute_, c);
  } else if (state_ == State::bare) {
    if (ends)
      state_ = State::attributes;
    else
      keep({&c, 1});
  } else {
    read_between(c);
  }
  take(piece, 1);
  return std::nullopt;
}

// A character between names and values.
void TagReader::read_between(char c) {
  if (is_blank(c)) return;
  if (state_ == State::value) {
    const bool quote = c == '"' || c == '\'';
    if (quote) quote_ = c;
    begin_value(quote ? State::quoted : State::bare);
    if (!quote) keep({&c, 1});
  } else if (state_ == State::equals && c == '=') {
    state_ = State::value;
  } else if (c == '/') {
    state_ = State::attributes;
  } else {
    attribute_.clear();
    append_lower(attribute_, c);
    state_ = State::attribute;
  }
}

void TagReader::read_quoted(std::string_view& piece) {
  const size_t end = piece.find(quote_);
  keep(take(piece, end));
  if (end == std::string_view::npos) return;
  take(piece, 1);
  state_ = State::attributes;
}

void TagReader::begin_value(State state) {
  is_href_ = attribute_ == "href" && href_.empty();  // of two the first counts
  state_ = state;
}

void TagReader::keep(std::string_view value) {
  if (is_href_) href_ += value.substr(0, max_href - href_.size());
}

std::optional<Token> TagReader::read_declaration(std::string_view& piece) {
  const char c = take(piece, 1).front();
  if (c == '>') {
    state_ = State::text;
    return Token{.kind = Token::Kind::declaration, .text = name_};
  }
  if (name_.size() < max_declaration) name_.push_back(c);
  if (name_ == "--") {
    state_ = State::comment;
    dashes_ = 2;  // "<!-->" is a whole comment
  }
  return std::nullopt;
}

void TagReader::read_comment(std::string_view& piece) {
  const char c = take(piece, 1).front();
  if (c == '>' && dashes_ >= 2) state_ = State::text;
  dashes_ = c == '-' ? dashes_ + 1 : 0;
}

}  // namespace sluice::links
