#include "adapters/redis/client/request.h"

#include <algorithm>

#include <boost/asio/post.hpp>

namespace sluice::redis {

std::string reason_of(const EngineUnavailable& error) {
  std::string_view text(error.what());
  text.remove_prefix(std::min(text.size(), error.engine().size() + 2));
  return std::string(text);
}

bool Request::finish(Outcome outcome) {
  if (state_ != State::waiting) return false;
  outcome_ = std::move(outcome);
  State expected = State::waiting;
  return state_.compare_exchange_strong(expected, State::finished);
}

void Request::expect(WaitingCaller caller) {
  caller_ = std::move(caller);
  counted = false;
  state_ = State::waiting;
}

void Request::leave() {
  State expected = State::waiting;
  if (state_.compare_exchange_strong(expected, State::left)) resume(std::move(caller_));
}

void Request::refuse(Failure failure) {
  if (finish(std::move(failure))) resume(std::move(caller_));
}

Outcome Request::take() {
  if (state_ == State::left) throw boost::system::system_error(asio::error::operation_aborted);
  return std::move(outcome_);
}

void Answers::finish(const std::shared_ptr<Request>& request, Outcome outcome) {
  if (!request->finish(std::move(outcome))) return;
  finished_.push_back(std::move(request->caller_));
  if (finished_.size() == 1) asio::post(executor_, [this] { flush(); });
}

void Answers::flush() {
  resume_all(std::exchange(finished_, {}));
}

}  // namespace sluice::redis
