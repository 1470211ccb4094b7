#include "adapters/postgres/request.h"

namespace sluice::postgres {

bool Request::start() {
  State expected = State::queued;
  return state_.compare_exchange_strong(expected, State::running);
}

bool Request::end() {
  const State before = state_.exchange(State::finished);
  if (before != State::left) return true;
  state_ = State::left;
  return false;
}

void Request::finish(sql::Rows rows) {
  if (end()) rows_ = std::move(rows);
}

void Request::fail(CallError error) {
  if (end()) error_ = std::move(error);
}

void Request::expect(WaitingCaller caller) {
  caller_ = std::move(caller);
}

void Request::leave() {
  State state = State::queued;
  const bool left = state_.compare_exchange_strong(state, State::left) ||
                    (kind != RequestKind::transaction && state == State::running &&
                     state_.compare_exchange_strong(state, State::left));
  if (!left) return;
  error_ = CallError(std::make_exception_ptr(boost::system::system_error(asio::error::operation_aborted)));
  resume(std::move(caller_));
}

sql::Rows Request::take() {
  error_.rethrow();
  return std::move(rows_);
}

void answer(std::span<const std::shared_ptr<Request>> requests) {
  std::vector<WaitingCaller> callers;
  callers.reserve(requests.size());
  for (const auto& request : requests) {
    // A caller that has left was resumed then.
    if (request->state_ == Request::State::finished) callers.push_back(std::move(request->caller_));
  }
  resume_all(std::move(callers));
}

}  // namespace sluice::postgres
