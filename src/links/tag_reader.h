// Reads HTML piece by piece, as far as a bookmark file needs it: tags with their HREF, and the text between them.
//
// An export is mostly icons, written into the tags as long attributes. They are not kept: regardless of the size of the
// file and of its tags, a reader holds one HREF.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::links {

struct Token {
  enum class Kind { text, tag, declaration };

  Kind kind = Kind::text;
  // A part of the text as written, the name of a tag in lower case, or the first bytes of a declaration ("<!DOCTYPE
  // ...>"). Valid until the next call.
  std::string_view text{};
  bool closing = false;
  std::string_view href{};  // as written, cut off at `TagReader::max_href`
};

// Belongs to one thread.
class TagReader {
 public:
  static constexpr size_t max_href = 48 * 1024;  // room for the longest URL with every ampersand escaped

  // Takes the next token from the front of `piece`; nothing once `piece` is used up. Comments are not tokens.
  std::optional<Token> next(std::string_view& piece);

  // Whether a tag or a comment is open: a file that ends here was cut off.
  bool inside_markup() const { return state_ != State::text; }
  // The line that is being read, and that of the last '<'.
  size_t line() const { return line_; }
  size_t markup_line() const { return markup_line_; }

 private:
  enum class State { text, open, name, attributes, attribute, equals, value, quoted, bare, declaration, comment };

  std::string_view take(std::string_view& piece, size_t count);
  std::optional<Token> read_text(std::string_view& piece);
  std::optional<Token> read_open(std::string_view& piece);
  std::optional<Token> read_tag(std::string_view& piece);
  void read_between(char c);
  void read_quoted(std::string_view& piece);
  std::optional<Token> read_declaration(std::string_view& piece);
  void read_comment(std::string_view& piece);
  void begin_value(State state);
  void keep(std::string_view value);

  State state_ = State::text;
  std::string name_;       // of the tag, or the text of a declaration
  std::string attribute_;  // the name of one
  std::string href_;
  bool closing_ = false;
  bool is_href_ = false;  // the value that is being read
  char quote_ = '"';
  size_t dashes_ = 0;  // that a comment's last bytes are
  size_t line_ = 1;
  size_t markup_line_ = 1;
};

}  // namespace sluice::links
