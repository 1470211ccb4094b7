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
  if (!end()) return false;
  outcome_ = std::move(outcome);
  return true;
}

void Request::refuse(Failure failure) {
  if (finish(std::move(failure))) resume(take_caller());
}

Outcome Request::take() {
  throw_if_left();
  return std::move(outcome_);
}

void Answers::finish(const std::shared_ptr<Request>& request, Outcome outcome) {
  if (!request->finish(std::move(outcome))) return;
  finished_.push_back(request->take_caller());
  if (finished_.size() == 1) asio::post(executor_, [this] { flush(); });
}

void Answers::flush() {
  resume_all(std::exchange(finished_, {}));
}

}  // namespace sluice::redis
