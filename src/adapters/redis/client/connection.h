// One connection for the commands of many callers.
//
// Commands sent in one turn leave in one write, and those that arrive meanwhile in the next; replies arrive in the
// order of the commands. A caller whose time is up does not wait for its reply, but the connection does: the order must
// hold. Belongs to one executor.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "adapters/redis/client/request.h"
#include "adapters/redis/client/wire.h"

namespace sluice::redis {

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  // `grace`: how long after its deadline a reply may be missing before the connection is beyond hope.
  Connection(std::unique_ptr<Wire> wire, Duration grace) : wire_(std::move(wire)), grace_(grace) {}

  // Leaves with the next flush.
  void send(std::shared_ptr<Request> request, Instant now);
  void flush();
  size_t unanswered() const { return unanswered_.size(); }

  // Reads replies and hands each to `answered`, until the connection is lost: throws EngineUnavailable then.
  using Answered = std::function<void(const std::shared_ptr<Request>&, Reply)>;
  Task<> serve(Answered answered);

  // Ends it; `serve` says why.
  void give_up(std::string reason);

  // Calls `visit` for each request that waits for its reply.
  template <class Visit>
  void visit(Visit visit) const {
    for (const auto& request : unanswered_) {
      if (request) visit(request);
    }
  }
  // When the oldest reply will have been missing for too long.
  Instant overdue_at() const;

  // The remaining callers after the end. Commands in the second list were not sent.
  struct Abandoned {
    Requests sent;
    Requests not_sent;
  };
  Abandoned abandon();

 private:
  void written(const boost::system::error_code& error);

  std::unique_ptr<Wire> wire_;
  Duration grace_;
  std::string filling_;
  std::string writing_;
  bool write_under_way_ = false;
  size_t unsent_ = 0;                                // how many of the last in unanswered_ are still in filling_
  std::deque<std::shared_ptr<Request>> unanswered_;  // null: ASKING, whose reply is ignored
  std::string end_;                                  // why it was given up
};

}  // namespace sluice::redis
