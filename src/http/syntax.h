// Tokens of HTTP's grammar (RFC 9110, section 5.6), for reading and writing header fields.
#pragma once

#include <string_view>

namespace sluice::http {

// One or more of the characters a header's name may have.
bool is_token(std::string_view text);

// No control character except tab. Bytes above ASCII are allowed, as they are opaque.
bool is_field_value(std::string_view text);

// Without spaces and tabs at both ends.
std::string_view trim(std::string_view text);

// Whether a comma-separated list has `item`, without regard to case.
bool has_list_item(std::string_view list, std::string_view item);

}  // namespace sluice::http
