#include "links/escapes.h"

#include "http/url.h"

namespace sluice::links {

std::string normalize_escapes(std::string_view text, std::string_view marks) {
  std::string result;
  result.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const int escaped = http::escaped_byte(text, i);
    if (escaped < 0) {
      result += http::percent_encode(text.substr(i, 1), marks);
    } else {
      const char byte = static_cast<char>(escaped);
      result += http::percent_encode({&byte, 1});
      i += 2;
    }
  }
  return result;
}

}  // namespace sluice::links
