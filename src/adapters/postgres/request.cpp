#include "adapters/postgres/request.h"

namespace sluice::postgres {

bool Request::start() {
  return kind == RequestKind::transaction ? keep_caller() : waiting();
}

void Request::finish(sql::Rows rows) {
  if (end()) rows_ = std::move(rows);
}

void Request::fail(CallError error) {
  if (end()) error_ = std::move(error);
}

sql::Rows Request::take() {
  throw_if_left();
  error_.rethrow();
  return std::move(rows_);
}

void answer(std::span<const std::shared_ptr<Request>> requests) {
  std::vector<WaitingCaller> callers;
  callers.reserve(requests.size());
  for (const auto& request : requests) {
    // A caller that has left was resumed then.
    if (!request->left()) callers.push_back(request->take_caller());
  }
  resume_all(std::move(callers));
}

}  // namespace sluice::postgres
