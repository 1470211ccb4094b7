// A call on its way through the driver: from the caller's thread to a connection and back.
//
// A statement whose caller was cancelled may still run; a running transaction is always waited for, because its body
// refers to the caller's frame.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "adapters/sql/driver/database.h"
#include "runtime/pending_call.h"

namespace sluice::postgres {

enum class RequestKind { read, write, transaction };

class Request : public PendingCall {
 public:
  Request(RequestKind kind, std::string_view text, sql::Params params)
      : kind(kind), text(text), params(std::move(params)) {}
  explicit Request(const sql::Database::Body& body) : kind(RequestKind::transaction), body(&body) {}

  const RequestKind kind;
  const std::string_view text;
  const sql::Params params;
  const sql::Database::Body* const body = nullptr;
  Instant queued_at{};

  // For the driver. `start` is false when the caller has left: drop it. `finish` and `fail` say how it ended, and are
  // followed by `answer`.
  bool start();
  void finish(sql::Rows rows);
  void fail(CallError error);

  // For the caller.
  sql::Rows take();

 private:
  sql::Rows rows_;
  CallError error_;
};

using Requests = std::vector<std::shared_ptr<Request>>;

// Resumes the callers of finished requests.
void answer(std::span<const std::shared_ptr<Request>> requests);

}  // namespace sluice::postgres
