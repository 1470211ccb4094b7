#include "http/client/client_error.h"

namespace sluice::http {

std::string_view name(ClientError::Kind kind) {
  switch (kind) {
    case ClientError::Kind::bad_request: return "bad-request";
    case ClientError::Kind::busy: return "busy";
    case ClientError::Kind::timeout: return "timeout";
    case ClientError::Kind::dns: return "dns";
    case ClientError::Kind::forbidden_address: return "forbidden-address";
    case ClientError::Kind::refused: return "refused";
    case ClientError::Kind::tls: return "tls";
    case ClientError::Kind::closed: return "closed";
    case ClientError::Kind::bad_answer: return "bad-answer";
    case ClientError::Kind::too_large: return "too-large";
    case ClientError::Kind::redirect_refused: return "redirect-refused";
    case ClientError::Kind::too_many_redirects: return "too-many-redirects";
  }
  return "unknown";
}

}  // namespace sluice::http
