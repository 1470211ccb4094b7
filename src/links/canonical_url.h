// The one written form of a link.
//
// People save the same page in many spellings: with a campaign's parameters, another order of the query, a fragment,
// capital letters, a name in Korean or in punycode. All of them are one canonical URL, and a page is enriched once.
//
// Bookmarks contain whatever a browser accepted, so reading is as lenient as browsers are: spaces, quotes, raw UTF-8
// and stray percent signs are encoded. The result is a strict URL (http/url.h), and canonical text stays the same when
// it is read again.
#pragma once

#include <string>
#include <string_view>

#include "base/enum_names.h"
#include "base/id.h"
#include "base/result.h"

namespace sluice::links {

// Why a link has no canonical form.
enum class NotCanonical {
  not_absolute,  // no scheme, or nothing behind it
  other_scheme,  // javascript:, data:, chrome:, file:, ...
  credentials,   // a row shared by all users must not contain a password
  bad_host,      // no host or port that can be called
  too_long,
};

constexpr auto enum_names(NotCanonical) {
  return std::to_array<EnumName<NotCanonical>>({{NotCanonical::not_absolute, "not-absolute"},
                                                {NotCanonical::other_scheme, "other-scheme"},
                                                {NotCanonical::credentials, "credentials"},
                                                {NotCanonical::bad_host, "bad-host"},
                                                {NotCanonical::too_long, "too-long"}});
}

struct LinkTag;
using LinkId = Id<LinkTag>;

class CanonicalUrl {
 public:
  // Scheme and host in lower case, a name as punycode (UTS 46), no default port, no fragment; the path without dot
  // segments, escapes in one spelling; the query sorted by name (equal names keep their order), without empty and
  // tracking parameters.
  static Result<CanonicalUrl, NotCanonical> parse(std::string_view text);

  const std::string& text() const { return text_; }
  // The host, without its port: the key for throttling, robots.txt and blocking.
  const std::string& domain() const { return domain_; }
  // The same for the same URL wherever it is computed, so that no database lookup is needed.
  LinkId id() const;

  bool operator==(const CanonicalUrl&) const = default;

 private:
  CanonicalUrl(std::string text, std::string domain) : text_(std::move(text)), domain_(std::move(domain)) {}

  std::string text_;
  std::string domain_;
};

// utm_*, gclid, fbclid and the like: parameters that identify the referrer, not the content.
bool is_tracking(std::string_view parameter);

}  // namespace sluice::links
