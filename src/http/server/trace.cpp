#include "http/server/trace.h"

#include <algorithm>

#include "base/encoding.h"

namespace sluice::http {
namespace {

bool is_lower_hex(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return hex_digits.contains(c); });
}

bool is_zero(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c == '0'; });
}

void append_hex(std::string& out, uint64_t bits) {
  for (int shift = 60; shift >= 0; shift -= 4) out += hex_digits[(bits >> shift) & 15];
}

}  // namespace

bool is_request_id(std::string_view text) {
  return !text.empty() && text.size() <= 128 && std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '_' ||
           c == '-';
  });
}

bool is_traceparent(std::string_view text) {
  if (text.size() != 55 || !text.starts_with("00-") || text[35] != '-' || text[52] != '-') return false;
  const std::string_view trace = text.substr(3, 32);
  const std::string_view span = text.substr(36, 16);
  return is_lower_hex(trace) && is_lower_hex(span) && is_lower_hex(text.substr(53)) && !is_zero(trace) &&
         !is_zero(span);
}

void name_request(std::string_view given_id, std::string_view given_trace, Random& random, std::string& request_id,
                  std::string& traceparent) {
  if (is_traceparent(given_trace)) {
    traceparent.assign(given_trace);
  } else {
    traceparent.assign("00-");
    append_hex(traceparent, random.next());
    append_hex(traceparent, random.next() | 1);
    traceparent += '-';
    append_hex(traceparent, random.next() | 1);
    traceparent += "-01";
  }
  if (is_request_id(given_id)) {
    request_id.assign(given_id);
  } else {
    request_id.assign(traceparent, 3, 32);
  }
}

}  // namespace sluice::http
