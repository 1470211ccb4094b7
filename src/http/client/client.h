// Calls other servers over HTTP/1.1.
//
// Calls to other servers are safe only with limits: one deadline covers the whole exchange (waiting for a connection,
// name, connect, TLS, redirects, the last byte), the size is capped while reading, redirects and addresses follow a
// policy. The result of a call is an outcome to handle, not an exception.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "http/client/address_guard.h"
#include "http/client/client_error.h"
#include "http/message.h"
#include "http/url.h"
#include "runtime/clock.h"
#include "runtime/deadline.h"
#include "runtime/resolver.h"

namespace sluice::http {

class ClientExchange;
class ClientConnector;
class ClientPool;

// Handling of 301, 302, 303, 307 and 308. Credentials are dropped when the origin changes.
enum class Redirects {
  none,       // the caller gets the redirect as the answer
  same_host,  // followed on the same host, never from https to http; else `redirect_refused`
  any,
};

struct ClientRequest {
  Method method = Method::get;
  Url url;
  Headers headers{};  // beside those the client writes itself: Host, Connection, Content-Length, Transfer-Encoding
  std::string body{};
  Duration timeout = 10s;              // for the whole exchange
  Deadline deadline{};                 // the caller's deadline; the earlier of both counts
  size_t max_bytes = 8 * 1024 * 1024;  // of the body, as it arrives and as it is decoded
  Redirects redirects = Redirects::none;
  int max_redirects = 5;
  bool gzip = false;         // ask for gzip and decode it
  std::string request_id{};  // passed on as X-Request-Id
  std::string traceparent{};
};

struct ClientAnswer {
  int status = 0;
  Headers headers;
  std::string body;
  Url url;  // that answered, after redirects
};

// An answer whose body is read piece by piece. Dropping it before its end closes the connection. Must not outlive its
// client.
class AnswerStream {
 public:
  AnswerStream(Clock& clock, Deadline deadline, Url url, std::unique_ptr<ClientExchange> exchange);
  AnswerStream(AnswerStream&&) noexcept;
  AnswerStream& operator=(AnswerStream&&) noexcept;
  ~AnswerStream();

  int status() const;
  const Headers& headers() const;
  const Url& url() const { return url_; }

  // The next piece of the body, nothing at its end. The deadline and the size cap of the request go on to hold.
  Task<Result<std::optional<std::string>, ClientError>> next();

 private:
  Clock* clock_;
  Deadline deadline_;
  Url url_;
  std::unique_ptr<ClientExchange> exchange_;
};

struct ClientOptions {
  Reach reach = Reach::public_only;
  std::string ca_file{};  // PEM; empty: the system's
  std::string user_agent = "sluice";
  size_t max_head = 64 * 1024;
  size_t max_per_origin = 16;     // connections in use at once; further calls wait in line
  size_t max_connections = 256;   // of all origins together
  size_t max_waiting = 1024;      // calls in line; further ones are `busy`
  Duration idle = 30s;            // how long an unused connection is kept
  Duration connect_timeout = 5s;  // for each address of a name
  ResolverOptions resolver{};
};

// Belongs to one executor: one client for each I/O thread. Its connections are its own, so all of them were made under
// its options, and so is its resolver: name servers that hang stall no other client.
class Client {
 public:
  // Throws std::runtime_error with one sentence if the CA file is unusable. `clock` outlives the client.
  Client(Executor executor, Clock& clock, ClientOptions options);
  ~Client();

  // The complete answer. A call that found a kept connection dead before any of the answer arrived is repeated once on
  // a new one if its method may be repeated.
  Task<Result<ClientAnswer, ClientError>> send(ClientRequest request);

  // The same, once the head of the answer has arrived.
  Task<Result<AnswerStream, ClientError>> open(ClientRequest request);

  // Closes unused connections. No call may be under way or follow.
  Task<> close();

 private:
  Task<AnswerStream> follow(ClientRequest request, Deadline deadline);
  Task<std::unique_ptr<ClientExchange>> exchange(const ClientRequest& request);
  // Nothing where a kept connection turned out to be dead and the call may be repeated.
  Task<std::unique_ptr<ClientExchange>> attempt(const ClientRequest& request, bool new_connection);

  Clock& clock_;
  ClientOptions options_;
  std::unique_ptr<ClientConnector> connector_;
  std::unique_ptr<ClientPool> pool_;
};

// Whether an answer of this status may name another place in its Location.
bool is_redirect(int status);

}  // namespace sluice::http
