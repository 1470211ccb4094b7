// Errors of a call.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace sluice::http {

struct ClientError {
  enum class Kind {
    bad_request,        // the request is invalid, for example a header with a line break
    busy,               // too many calls wait for a connection, or too many names to be looked up
    timeout,            // the deadline passed; the other side may have acted
    dns,                // the name leads nowhere
    forbidden_address,  // the name leads only to addresses that may not be called
    refused,            // no connection could be made
    tls,                // the certificate or the handshake is wrong
    closed,             // the connection broke off in the middle
    bad_answer,         // the response is invalid
    too_large,          // the answer is over its cap
    redirect_refused,   // a redirect leads where the policy does not allow
    too_many_redirects,
  };

  Kind kind = Kind::closed;
  std::string text;  // for logs, with the origin
};

std::string_view name(ClientError::Kind kind);

// How a failure travels through the client's own coroutines; caught at its door, never seen outside.
class CallFailed : public std::runtime_error {
 public:
  CallFailed(ClientError::Kind kind, const std::string& text) : std::runtime_error(text), kind_(kind) {}
  ClientError error() const { return {.kind = kind_, .text = what()}; }
  ClientError::Kind kind() const { return kind_; }

 private:
  ClientError::Kind kind_;
};

}  // namespace sluice::http
