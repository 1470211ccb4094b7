#include "adapters/postgres/request.h"

#include <boost/asio/post.hpp>

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

void Request::fail(std::exception_ptr error) {
  if (end()) error_ = std::move(error);
}

void Request::expect(Executor executor, std::move_only_function<void()> resume) {
  executor_ = std::move(executor);
  resume_ = std::move(resume);
}

void Request::leave() {
  State state = State::queued;
  const bool left = state_.compare_exchange_strong(state, State::left) ||
                    (kind != RequestKind::transaction && state == State::running &&
                     state_.compare_exchange_strong(state, State::left));
  if (!left) return;
  error_ = std::make_exception_ptr(boost::system::system_error(asio::error::operation_aborted));
  asio::post(executor_, std::move(resume_));
}

sql::Rows Request::take() {
  // Handed over whole: libstdc++ counts references to exceptions in a way that TSan cannot see.
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  return std::move(rows_);
}

void answer(std::span<const std::shared_ptr<Request>> requests) {
  std::vector<std::pair<Executor, Requests>> groups;
  for (const auto& request : requests) {
    if (request->state_ != Request::State::finished) continue;  // its caller has left
    auto group = std::ranges::find(groups, request->executor_, &std::pair<Executor, Requests>::first);
    if (group == groups.end()) group = groups.insert(groups.end(), {request->executor_, {}});
    group->second.push_back(request);
  }
  for (auto& [executor, group] : groups) {
    asio::post(executor, [finished = std::move(group)] {
      for (const auto& request : finished) std::exchange(request->resume_, {})();
    });
  }
}

}  // namespace sluice::postgres
