#include "links/link_failure.h"

namespace sluice::links {
namespace {

FailureReason reason_of(http::ClientError::Kind kind) {
  using Kind = http::ClientError::Kind;
  switch (kind) {
    case Kind::bad_request:
    case Kind::forbidden_address:
    case Kind::redirect_refused:
    case Kind::too_many_redirects: return FailureReason::bad_link;
    case Kind::too_large: return FailureReason::too_large;
    case Kind::busy:
    case Kind::timeout:
    case Kind::dns:
    case Kind::refused:
    case Kind::tls:
    case Kind::closed:
    case Kind::bad_answer: break;
  }
  return FailureReason::unreachable;
}

FailureReason reason_of_status(int status) {
  if (status == 429) return FailureReason::rate_limited;
  if (status == 401 || status == 403 || status == 407 || status == 451) return FailureReason::forbidden;
  if (status == 408 || status == 425 || status >= 500) return FailureReason::unavailable;
  return FailureReason::gone;
}

}  // namespace

bool is_permanent(FailureReason reason) {
  return reason == FailureReason::robots || reason == FailureReason::captcha;
}

bool blames_domain(FailureReason reason) {
  return is_permanent(reason) || reason == FailureReason::forbidden;
}

LinkFailure failure_of(const http::ClientError& error) {
  return {.reason = reason_of(error.kind), .text = error.text};
}

LinkFailure failure_of_status(int status) {
  return {.reason = reason_of_status(status), .text = fmt::format("the site answers {}", status)};
}

}  // namespace sluice::links
