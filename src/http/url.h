// URLs: percent-encoding, query strings and absolute http(s) addresses, strictly.
//
// Accepts the URLs of RFC 3986, except forms that programs read in different ways: no user info, no control or
// non-ASCII byte, no number that only some resolvers take for an address ("127.1", "0x7f000001").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::http {

// The byte that the escape at text[at] stands for; -1 where no escape begins there.
int escaped_byte(std::string_view text, size_t at);

// Nothing where a percent sign is not followed by two hexadecimal digits. `plus_is_space` for query strings.
std::optional<std::string> percent_decode(std::string_view text, bool plus_is_space = false);

// Encodes everything outside RFC 3986's unreserved characters and `keep`.
std::string percent_encode(std::string_view text, std::string_view keep = "");

// "a=1&b=x%20y" in order; nothing where it is not decodable.
std::optional<std::vector<std::pair<std::string, std::string>>> parse_query(std::string_view query);

// An absolute http or https URL in one written form: scheme and host in lower case, no default port, no dot segments, a
// path that begins with a slash, no fragment. Two URLs are equal when they are written alike.
class Url {
 public:
  static constexpr size_t max_length = 8192;

  // Nothing where `text` is not such a URL.
  static std::optional<Url> parse(std::string_view text);

  bool secure() const { return secure_; }
  const std::string& host() const { return host_; }  // an IPv6 address without its brackets
  uint16_t port() const { return port_; }
  const std::string& path() const { return path_; }
  const std::optional<std::string>& query() const { return query_; }  // as sent, without the question mark

  std::string target() const;     // "/path?query", as a request line has it
  std::string authority() const;  // "host", "host:8080" or "[::1]:8080", as the Host header has it
  std::string origin() const;     // scheme and host: "https://host"
  std::string to_string() const { return origin() + target(); }

  // Resolves a Location header or a link in a document at this URL (RFC 3986, section 5). Bytes that are not ASCII are
  // encoded, as servers often send them raw. Nothing if the result is not an http(s) URL.
  std::optional<Url> resolve(std::string_view reference) const;

  bool same_host(const Url& other) const { return host_ == other.host_; }
  bool operator==(const Url&) const = default;

 private:
  Url() = default;
  bool take_authority(std::string_view text);
  bool take_path_and_query(std::string_view text);

  bool secure_ = false;
  uint16_t port_ = 0;
  std::string host_;
  std::string path_;
  std::optional<std::string> query_;
};

}  // namespace sluice::http
