#include "adapters/redis/request.h"

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

void Request::expect(Executor executor, std::move_only_function<void()> resume) {
  executor_ = std::move(executor);
  resume_ = std::move(resume);
  counted = false;
  state_ = State::waiting;
}

void Request::leave() {
  State expected = State::waiting;
  if (state_.compare_exchange_strong(expected, State::left)) asio::post(executor_, std::move(resume_));
}

void Request::refuse(Failure failure) {
  if (finish(std::move(failure))) asio::post(executor_, std::move(resume_));
}

Outcome Request::take() {
  if (state_ == State::left) throw boost::system::system_error(asio::error::operation_aborted);
  return std::move(outcome_);
}

void Answers::finish(std::shared_ptr<Request> request, Outcome outcome) {
  if (!request->finish(std::move(outcome))) return;
  finished_.push_back(std::move(request));
  if (finished_.size() == 1) asio::post(executor_, [this] { flush(); });
}

void Answers::flush() {
  std::vector<Group> groups;
  for (auto& request : std::exchange(finished_, {})) {
    auto group = std::ranges::find(groups, request->executor_, &Group::executor);
    if (group == groups.end()) group = groups.insert(groups.end(), Group{request->executor_, {}});
    group->requests.push_back(std::move(request));
  }
  for (Group& group : groups) {
    asio::post(group.executor, [finished = std::move(group.requests)] {
      for (const auto& request : finished) std::exchange(request->resume_, {})();
    });
  }
}

}  // namespace sluice::redis
