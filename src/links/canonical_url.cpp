#include "links/canonical_url.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include <idn2.h>

#include "base/ascii.h"
#include "base/encoding.h"
#include "http/message.h"
#include "http/url.h"
#include "links/escapes.h"
#include "runtime/hashed_id.h"

namespace sluice::links {
namespace {

constexpr std::string_view path_marks = "/!$&'()*+,;=:@";
constexpr std::string_view query_marks = "/?!$&'()*+,;=:@";

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// As browsers do before they look at a link: no blanks or controls at its ends, no tabs or line breaks inside.
std::string without_noise(std::string_view text) {
  const auto is_blank = [](char c) { return static_cast<unsigned char>(c) <= ' '; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  std::string result(text);
  std::erase_if(result, [](char c) { return c == '\t' || c == '\n' || c == '\r'; });
  return result;
}

struct Parts {
  std::string scheme;
  std::string_view authority;
  std::string path;
  std::string_view query;
};

Result<Parts, NotCanonical> split(std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view scheme = text.substr(0, colon);
  const bool is_scheme =
      std::ranges::all_of(scheme, [](char c) { return is_letter_or_digit(c) || c == '+' || c == '-' || c == '.'; });
  if (colon == std::string_view::npos || scheme.empty() || !is_scheme) return NotCanonical::not_absolute;
  Parts parts{.scheme = ascii_lower(scheme), .authority = {}, .path = {}, .query = {}};
  if (parts.scheme != "http" && parts.scheme != "https") return NotCanonical::other_scheme;

  text.remove_prefix(colon + 1);
  const auto is_slash = [](char c) { return c == '/' || c == '\\'; };
  if (text.size() < 2 || !is_slash(text[0]) || !is_slash(text[1])) return NotCanonical::not_absolute;
  text.remove_prefix(2);
  text = text.substr(0, text.find('#'));
  parts.authority = text.substr(0, text.find_first_of("/\\?"));
  text.remove_prefix(parts.authority.size());
  const size_t question = text.find('?');
  parts.path = text.substr(0, question);
  std::ranges::replace(parts.path, '\\', '/');
  if (question != std::string_view::npos) parts.query = text.substr(question + 1);
  return parts;
}

struct FreeIdn {
  void operator()(char* text) const { idn2_free(text); }
};

// A name with letters beyond ASCII as DNS knows it (UTS 46, as browsers read it).
std::optional<std::string> to_punycode(const std::string& name) {
  if (!is_utf8(name) || name.contains('\0')) return std::nullopt;
  char* found = nullptr;
  const int outcome = idn2_to_ascii_8z(name.c_str(), &found, IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL);
  const std::unique_ptr<char, FreeIdn> owned(found);
  if (outcome != IDN2_OK || found == nullptr) return std::nullopt;
  return std::string(found);
}

std::optional<std::string> canonical_host(std::string_view written) {
  auto host = http::percent_decode(written);
  if (!host) return std::nullopt;
  const bool ascii = std::ranges::all_of(*host, [](char c) { return static_cast<signed char>(c) >= 0; });
  if (!ascii) host = to_punycode(*host);
  if (!host) return std::nullopt;
  if (host->ends_with('.')) host->pop_back();
  // Punycode and escapes may decode to a delimiter, which must not be read as one.
  const bool is_name =
      std::ranges::all_of(*host, [](char c) { return is_letter_or_digit(c) || c == '-' || c == '_' || c == '.'; });
  if (!is_name) return std::nullopt;
  return ascii_lower(*host);
}

Result<http::Url, NotCanonical> canonical_origin(const Parts& parts) {
  if (parts.authority.contains('@')) return NotCanonical::credentials;
  std::string authority(parts.authority);
  if (!authority.starts_with('[')) {
    const size_t colon = std::min(authority.find(':'), authority.size());
    const auto host = canonical_host(parts.authority.substr(0, colon));
    if (!host) return NotCanonical::bad_host;
    authority.replace(0, colon, *host);
  }
  const auto url = http::Url::parse(parts.scheme + "://" + authority);
  if (!url) return NotCanonical::bad_host;
  return *url;
}

std::string_view name_of(std::string_view parameter) {
  return parameter.substr(0, parameter.find('='));
}

std::string canonical_query(std::string_view query) {
  const std::string even = normalize_escapes(query, query_marks);
  std::vector<std::string_view> parameters;
  for (size_t at = 0; at < even.size();) {
    const std::string_view parameter = std::string_view(even).substr(at, even.find('&', at) - at);
    at += parameter.size() + 1;
    if (!parameter.empty() && !is_tracking(name_of(parameter))) parameters.push_back(parameter);
  }
  std::ranges::sort(parameters, {},
                    [](std::string_view parameter) { return std::pair(name_of(parameter), parameter.data()); });
  std::string result;
  for (const std::string_view parameter : parameters) {
    result += result.empty() ? '?' : '&';
    result += parameter;
  }
  return result;
}

}  // namespace

bool is_tracking(std::string_view parameter) {
  static constexpr auto known = std::to_array<std::string_view>(
      {"gclid",       "gclsrc",     "dclid",   "gbraid",   "wbraid",  "srsltid", "_ga",           "_gl",
       "fbclid",      "igshid",     "igsh",    "msclkid",  "yclid",   "ysclid",  "_openstat",     "twclid",
       "ttclid",      "li_fat_id",  "mc_cid",  "mc_eid",   "_hsenc",  "_hsmi",   "hsctatracking", "mkt_tok",
       "oly_anon_id", "oly_enc_id", "vero_id", "wickedid", "s_kwcid", "sccid",   "rb_clickid",    "napm"});
  const std::string name = ascii_lower(parameter);
  return name.starts_with("utm_") || std::ranges::find(known, name) != known.end();
}

Result<CanonicalUrl, NotCanonical> CanonicalUrl::parse(std::string_view text) {
  const std::string clean = without_noise(text);
  const auto parts = split(clean);
  if (!parts) return parts.error();
  if (clean.size() > http::Url::max_length) return NotCanonical::too_long;
  const auto origin = canonical_origin(*parts);
  if (!origin) return origin.error();
  const std::string path = normalize_escapes(parts->path, path_marks);
  const auto url = http::Url::parse(origin->origin() + path + canonical_query(parts->query));
  if (!url) return NotCanonical::too_long;  // all that is left: origin, path and query are written well
  return CanonicalUrl(url->to_string(), url->host());
}

LinkId CanonicalUrl::id() const {
  return LinkId(hashed_uuid(text_));
}

}  // namespace sluice::links
