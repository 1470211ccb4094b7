#include "adapters/redis/client/connection.h"

#include "adapters/redis/client/redis.h"

namespace sluice::redis {
namespace {

// A large command leaves a large buffer behind; not for ever.
constexpr size_t kept_buffer = 256 * 1024;

}  // namespace

void Connection::send(std::shared_ptr<Request> request, Instant now) {
  if (request->target.asking) {
    filling_ += "*1\r\n$6\r\nASKING\r\n";
    unanswered_.push_back(nullptr);
    ++unsent_;
  }
  request->command.encode(filling_, request->script_by);
  request->sent_at = now;
  unanswered_.push_back(std::move(request));
  ++unsent_;
}

void Connection::flush() {
  if (write_under_way_ || filling_.empty() || !end_.empty()) return;
  writing_.swap(filling_);
  unsent_ = 0;
  write_under_way_ = true;
  wire_->write(writing_, [self = shared_from_this()](const boost::system::error_code& error) { self->written(error); });
}

void Connection::written(const boost::system::error_code& error) {
  write_under_way_ = false;
  if (error) return give_up(fmt::format("{}: writing: {}", wire_->address().to_string(), error.message()));
  writing_.clear();
  if (writing_.capacity() > kept_buffer) writing_.shrink_to_fit();
  flush();
}

Task<> Connection::serve(Answered answered) {
  while (true) {
    try {
      co_await wire_->fill();
    } catch (const boost::system::system_error&) {
      if (end_.empty()) throw;  // cancelled
      throw EngineUnavailable(engine_name, end_);
    }
    while (std::optional<Reply> reply = wire_->next()) {
      if (unanswered_.empty()) {
        throw EngineUnavailable(engine_name, fmt::format("{}: unexpected reply", wire_->address().to_string()));
      }
      const std::shared_ptr<Request> request = std::move(unanswered_.front());
      unanswered_.pop_front();
      if (request) answered(request, std::move(*reply));
    }
  }
}

void Connection::give_up(std::string reason) {
  if (end_.empty()) end_ = std::move(reason);
  wire_->close();
}

Instant Connection::overdue_at() const {
  for (const auto& request : unanswered_) {
    if (request) return std::max(request->deadline, request->sent_at + grace_) + grace_;
  }
  return Instant::max();
}

Connection::Abandoned Connection::abandon() {
  wire_->close();
  Abandoned all;
  const size_t sent = unanswered_.size() - unsent_;
  for (size_t i = 0; i < unanswered_.size(); ++i) {
    if (unanswered_[i]) (i < sent ? all.sent : all.not_sent).push_back(std::move(unanswered_[i]));
  }
  unanswered_.clear();
  unsent_ = 0;
  return all;
}

}  // namespace sluice::redis
