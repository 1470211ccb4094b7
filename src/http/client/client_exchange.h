// One request and its answer on one connection.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "http/client/client.h"
#include "http/client/client_pool.h"
#include "http/client/response_parser.h"
#include "http/gunzip.h"

namespace sluice::http {

// The request as it goes over the wire, without its body. Throws CallFailed (bad_request) if a header is invalid or is
// set by the client itself.
std::string write_head(const ClientRequest& request, std::string_view user_agent);

// Belongs to one executor. Failures are CallFailed.
class ClientExchange {
 public:
  // `place` has its connection.
  ClientExchange(ClientPool::Place place, size_t max_head, const ClientRequest& request);

  // Writes the request and reads the head of the answer.
  Task<> begin(std::string head, std::string body);

  // Whether nothing of an answer has arrived.
  bool untouched() const { return untouched_; }

  int status() const { return parser_.status(); }
  const Headers& headers() const { return parser_.headers(); }

  // The next piece of the body, decoded; nothing at the end, when the connection has gone back to the pool.
  Task<std::optional<std::string>> next();

  // Reads an unneeded body, if it is small, so that the connection can be kept.
  Task<> skip_body();

 private:
  Task<ResponseParser::Step> step();
  std::string decode(std::string_view piece);
  void finish();
  [[noreturn]] void fail(ClientError::Kind kind, std::string_view text);

  std::optional<ClientPool::Place> place_;  // until the answer has ended
  std::string origin_;
  ResponseParser parser_;
  bool to_head_request_;
  bool decode_gzip_;
  size_t max_bytes_;
  size_t received_ = 0;
  size_t decoded_ = 0;
  std::unique_ptr<Gunzip> gunzip_;
  Gunzip::State gunzip_state_ = Gunzip::State::more;
  bool untouched_ = true;
  bool reusable_ = true;
};

}  // namespace sluice::http
