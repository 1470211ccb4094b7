#include "http/url.h"

#include <charconv>

#include <arpa/inet.h>

#include "base/ascii.h"
#include "http/message.h"

namespace sluice::http {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_all(std::string_view text, std::string_view also) {
  return std::ranges::all_of(text, [also](char c) { return is_letter(c) || is_digit(c) || also.contains(c); }) &&
         percent_decode(text).has_value();
}

bool is_path(std::string_view text) {
  return is_all(text, "/-._~%!$&'()*+,;=:@");
}

bool is_query(std::string_view text) {
  return is_all(text, "/?-._~%!$&'()*+,;=:@");
}

bool is_ipv4(const std::string& host) {
  in_addr address{};
  return inet_pton(AF_INET, host.c_str(), &address) == 1;
}

bool is_name(const std::string& host) {
  if (host.empty() || host.size() > 253) return false;
  std::string_view rest = host;
  std::string_view label;
  while (true) {
    label = rest.substr(0, rest.find('.'));
    if (label.empty() || label.size() > 63) return false;
    if (!is_all(label, "-_")) return false;
    if (label.size() == rest.size()) break;
    rest.remove_prefix(label.size() + 1);
  }
  // A last label that is a number makes it an address, in one of the many ways addresses used to be written. Only the
  // unambiguous one is accepted.
  const bool number = std::ranges::all_of(label, is_digit) || label.starts_with("0x");
  return !number || is_ipv4(host);
}

std::optional<std::string> canonical_ipv6(const std::string& text) {
  in6_addr address{};
  if (text.contains('\0')) return std::nullopt;
  if (inet_pton(AF_INET6, text.c_str(), &address) != 1) return std::nullopt;
  std::array<char, INET6_ADDRSTRLEN> written{};
  inet_ntop(AF_INET6, &address, written.data(), written.size());
  return std::string(written.data());
}

std::optional<uint16_t> parse_port(std::string_view text) {
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size() || port == 0) return std::nullopt;
  return port;
}

// RFC 3986, section 5.2.4, for a path that begins with a slash.
std::string without_dot_segments(std::string_view path) {
  std::string result;
  while (!path.empty()) {
    const size_t end = path.find('/', 1);
    const std::string_view segment = path.substr(0, end);
    const bool last = end == std::string_view::npos;
    path.remove_prefix(segment.size());
    if (segment == "/." || segment == "/..") {
      if (segment == "/..") result.resize(result.empty() ? 0 : result.rfind('/'));
      if (last) result += '/';
    } else {
      result += segment;
    }
  }
  return result;
}

// The scheme of a reference, if it has one.
std::optional<std::string_view> scheme_of(std::string_view reference) {
  const size_t colon = reference.find_first_of(":/?#");
  if (colon == std::string_view::npos || colon == 0 || reference[colon] != ':') return std::nullopt;
  return reference.substr(0, colon);
}

std::string encode_non_ascii(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (static_cast<signed char>(c) < 0) {
      result += percent_encode({&c, 1});
    } else {
      result.push_back(c);
    }
  }
  return result;
}

}  // namespace

std::optional<Url> Url::parse(std::string_view text) {
  if (text.size() > max_length) return std::nullopt;
  const size_t separator = text.find("://");
  if (separator == std::string_view::npos) return std::nullopt;
  Url url;
  const std::string_view scheme = text.substr(0, separator);
  url.secure_ = equal_ignoring_case(scheme, "https");
  if (!url.secure_ && !equal_ignoring_case(scheme, "http")) return std::nullopt;
  text.remove_prefix(separator + 3);
  const std::string_view authority = text.substr(0, text.find_first_of("/?#"));
  if (!url.take_authority(authority)) return std::nullopt;
  if (!url.take_path_and_query(text.substr(authority.size()))) return std::nullopt;
  return url;
}

bool Url::take_authority(std::string_view text) {
  std::string_view after_host;
  if (text.starts_with('[')) {
    const size_t end = text.find(']');
    if (end == std::string_view::npos) return false;
    const auto address = canonical_ipv6(std::string(text.substr(1, end - 1)));
    if (!address) return false;
    host_ = *address;
    after_host = text.substr(end + 1);
  } else {
    const std::string_view host = text.substr(0, text.find(':'));
    host_ = ascii_lower(host);
    if (!is_name(host_)) return false;
    after_host = text.substr(host.size());
  }
  port_ = secure_ ? 443 : 80;
  if (after_host.empty() || after_host == ":") return true;
  if (!after_host.starts_with(':')) return false;
  const auto port = parse_port(after_host.substr(1));
  if (!port) return false;
  port_ = *port;
  return true;
}

bool Url::take_path_and_query(std::string_view text) {
  text = text.substr(0, text.find('#'));
  const size_t question = text.find('?');
  const std::string_view path = text.substr(0, question);
  if (!is_path(path)) return false;
  path_ = path.empty() ? "/" : without_dot_segments(path);
  query_.reset();
  if (question != std::string_view::npos) {
    query_ = text.substr(question + 1);
    if (!is_query(*query_)) return false;
  }
  return true;
}

std::string Url::target() const {
  return query_ ? path_ + '?' + *query_ : path_;
}

std::string Url::authority() const {
  const bool ipv6 = host_.contains(':');
  std::string text = ipv6 ? '[' + host_ + ']' : host_;
  if (port_ != (secure_ ? 443 : 80)) text += ':' + std::to_string(port_);
  return text;
}

std::string Url::origin() const {
  return (secure_ ? "https://" : "http://") + authority();
}

std::optional<Url> Url::resolve(std::string_view raw) const {
  if (raw.size() > max_length) return std::nullopt;
  const std::string encoded = encode_non_ascii(raw);
  const std::string_view reference = std::string_view(encoded).substr(0, encoded.find('#'));
  if (scheme_of(reference)) return parse(reference);
  if (reference.starts_with("//")) return parse((secure_ ? "https:" : "http:") + std::string(reference));

  Url url = *this;
  if (reference.empty()) return url;
  std::string relative;
  if (reference.starts_with('/')) {
    relative = reference;
  } else if (reference.starts_with('?')) {
    relative = path_ + std::string(reference);
  } else {
    relative = path_.substr(0, path_.rfind('/') + 1) + std::string(reference);
  }
  if (relative.size() > max_length || !url.take_path_and_query(relative)) return std::nullopt;
  return url;
}

}  // namespace sluice::http
