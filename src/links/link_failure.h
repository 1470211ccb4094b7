// Why a page could not be enriched, and the consequences.
#pragma once

#include <string>

#include "base/enum_names.h"
#include "http/client/client_error.h"

namespace sluice::links {

enum class FailureReason {
  robots,     // robots.txt forbids it
  captcha,    // the site wants to see a human
  forbidden,  // 401, 403, 407 or 451
  gone,       // 404, 410 or another refusal
  bad_link,   // leads to an address that may not be called, or round in circles
  too_large,
  rate_limited,  // 429
  unavailable,   // the server says that it has trouble
  unreachable,   // no name, no connection, no time, no answer that makes sense
};

constexpr auto enum_names(FailureReason) {
  return std::to_array<EnumName<FailureReason>>({{FailureReason::robots, "robots"},
                                                 {FailureReason::captcha, "captcha"},
                                                 {FailureReason::forbidden, "forbidden"},
                                                 {FailureReason::gone, "gone"},
                                                 {FailureReason::bad_link, "bad-link"},
                                                 {FailureReason::too_large, "too-large"},
                                                 {FailureReason::rate_limited, "rate-limited"},
                                                 {FailureReason::unavailable, "unavailable"},
                                                 {FailureReason::unreachable, "unreachable"}});
}

struct LinkFailure {
  FailureReason reason = FailureReason::unreachable;
  std::string text;    // for logs and the job's last_error
  std::string host{};  // the host that failed; after a redirect not the link's own
};

// Whether the job is dead at once: the site does not want us. All else gets its second try, since minutes mend more
// than one would think. `forbidden` becomes final when a domain says it again and again (links/blocked_domains.h).
bool is_permanent(FailureReason reason);

// Whether it speaks against the whole domain, which may become a candidate for blocking.
bool blames_domain(FailureReason reason);

// The failure of a call without an answer, and of an answer whose status is not 2xx.
LinkFailure failure_of(const http::ClientError& error);
LinkFailure failure_of_status(int status);

}  // namespace sluice::links
