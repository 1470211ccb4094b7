// The path of a document at its origin, checked before any level is asked.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "base/json_reader.h"

namespace sluice::documents {

// Relative, of [A-Za-z0-9._/-], without empty, "." or ".." segments, at most 512 characters: safe as part of a URL and
// of a file name.
class DocumentPath {
 public:
  static constexpr size_t longest = 512;
  static std::optional<DocumentPath> parse(std::string_view text);

  const std::string& text() const { return text_; }
  friend auto operator<=>(const DocumentPath&, const DocumentPath&) = default;

 private:
  explicit DocumentPath(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

// The form that parse accepts, for descriptions.
extern const json::TextForm document_path_form;
// The same of one segment.
extern const json::TextForm document_segment_form;

// A glob over whole paths: `*` is any run of characters within a segment, `**` across segments, `?` one character of a
// segment.
bool matches_glob(std::string_view pattern, std::string_view path);

}  // namespace sluice::documents
