// One request and its answer, without the I/O around them. Internal to the server.
//
// Decides whether a request is acceptable before anything is read or run, turns the result of a handler into an answer,
// and fits the answer to the request: condition, compression, CORS, ids, framing.
#pragma once

#include <exception>
#include <optional>
#include <stdexcept>
#include <string>

#include "http/problem.h"
#include "http/server/request_parser.h"
#include "http/server/server_state.h"

namespace sluice::http {

Problem problem_of(ParseError error);
Problem request_timeout();
Problem overloaded();
Problem body_memory_used_up();
// For the log and the metrics, and for a client that has only closed its own half.
Problem client_gone();

// The client broke a body off that its handler was reading.
class BodyFailed : public std::runtime_error {
 public:
  explicit BodyFailed(Problem problem) : std::runtime_error(problem.code), problem_(std::move(problem)) {}
  const Problem& problem() const { return problem_; }

 private:
  Problem problem_;
};

// Belongs to one connection; used for one request after the other.
class Exchange {
 public:
  explicit Exchange(ThreadState& thread) : thread_(thread) {}

  // A head has arrived. Fills the request and finds its route; an answer where it is refused or needs no handler.
  std::optional<Response> begin(const RequestHead& head, const Client& peer);
  // A head that could not be read. The request gets a name all the same.
  Response refuse(const RequestHead& head, const Client& peer, const Problem& problem);
  // The answer to an error of our own, in the name of the current request.
  Response answer(const Problem& problem) const { return problem.to_response(request_.request_id); }
  // The answer to an exception of the handler. Logs unexpected ones.
  Response answer_failure(const std::exception_ptr& failure, bool deadline_passed) const;

  // How the body's end is told.
  enum class Framing { length, chunked, close };
  struct Plan {
    Framing framing = Framing::length;
    bool send_body = true;
    bool compress_stream = false;
  };
  // Appends status line and fields to `out`, after making the answer fit.
  Plan write_head(Response& response, bool keep_alive, std::string& out);

  // The answer is out (or the connection broke): log and metrics.
  void finish(int status, uint64_t bytes);

  // The limit on the body; one that is kept whole is also limited by the memory for all bodies.
  uint64_t body_limit() const;

  Request& request() { return request_; }
  const Route* route() const { return route_; }

 private:
  void name(const RequestHead& head, const Client& peer);
  std::optional<Response> find_route(const RequestHead& head);
  std::optional<Problem> check_body(const RequestHead& head) const;
  Response answer_options(const std::vector<Method>& allowed) const;
  void add_cors(Headers& headers) const;
  bool may_compress(const Response& response) const;
  bool compress(Response& response, Plan& plan);

  ThreadState& thread_;
  Request request_;
  const Route* route_ = nullptr;
  std::optional<Method> method_;
  bool http_1_0_ = false;
  Instant began_{};
  Address client_;             // the address that request_.client_address prints
  std::string client_masked_;  // the same, masked for the log
};

// "text/csv" against "text/csv; charset=utf-8", "*/*" and so on.
bool is_accepted_type(const std::vector<std::string>& accepted, std::string_view content_type);

}  // namespace sluice::http
