// A request's place among the `max_in_flight` that are handled at once. Internal to the server.
#pragma once

#include <utility>

#include "http/server/server_state.h"

namespace sluice::http {

// Belongs to one connection; given back when destroyed.
class Place {
 public:
  explicit Place(ServerState& server) : server_(server) {}
  ~Place() { leave(); }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  // False, and counted as a refusal, when all are taken.
  bool take() {
    taken_ = server_.in_flight.fetch_add(1, std::memory_order_relaxed) < server_.config.max_in_flight;
    if (taken_) return true;
    server_.in_flight.fetch_sub(1, std::memory_order_relaxed);
    count_rejected("in_flight");
    return false;
  }
  // Whether it was taken.
  bool leave() {
    const bool was_taken = std::exchange(taken_, false);
    if (was_taken) server_.in_flight.fetch_sub(1, std::memory_order_relaxed);
    return was_taken;
  }
  // For a request that was admitted before: counts its place even if the limit is exceeded.
  void come_back() {
    server_.in_flight.fetch_add(1, std::memory_order_relaxed);
    taken_ = true;
  }

 private:
  ServerState& server_;
  bool taken_ = false;
};

}  // namespace sluice::http
