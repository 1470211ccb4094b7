#include "links/escapes.h"

#include "base/encoding.h"
#include "http/url.h"

namespace sluice::links {

std::string even_escapes(std::string_view text, std::string_view marks) {
  std::string result;
  result.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const bool escape =
        text[i] == '%' && i + 2 < text.size() && hex_value(text[i + 1]) >= 0 && hex_value(text[i + 2]) >= 0;
    if (escape) {
      const char byte = static_cast<char>(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2]));
      result += http::percent_encode({&byte, 1});
      i += 2;
    } else {
      result += http::percent_encode(text.substr(i, 1), marks);
    }
  }
  return result;
}

}  // namespace sluice::links
