// Bounds the connections of a client and keeps the unused ones for a while.
//
// A call enters and gets a place, with a kept connection to its origin if there is one. Without a free place it waits
// in line, first come first served for each origin; a free place goes to the first caller that can use it.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <unordered_map>

#include "http/client/client_connection.h"
#include "runtime/clock.h"
#include "runtime/task_scope.h"
#include "runtime/wakeup.h"

namespace sluice::http {

struct ClientOptions;

// Belongs to one executor; `clock` and `options` outlive it, it outlives its places.
class ClientPool {
 public:
  class Place {
   public:
    Place(ClientPool& pool, std::string origin) : pool_(&pool), origin_(std::move(origin)) {}
    Place(Place&& other) noexcept
        : connection(std::move(other.connection)),
          pool_(std::exchange(other.pool_, nullptr)),
          origin_(std::move(other.origin_)) {}
    Place& operator=(Place&&) = delete;
    ~Place();

    // Gives the place back with its connection, for the next call.
    void keep();

    std::unique_ptr<ClientConnection> connection;  // empty: the call opens one

   private:
    ClientPool* pool_;
    std::string origin_;
  };

  ClientPool(Executor executor, Clock& clock, const ClientOptions& options);
  ~ClientPool();

  // Throws CallFailed (busy) where too many wait already. With `new_connection` a kept one is never used.
  Task<Place> enter(std::string origin, bool new_connection);

  Task<> close();

  size_t idle() const { return idle_.size(); }

 private:
  struct Idle {
    std::string origin;
    std::unique_ptr<ClientConnection> connection;
    Instant since;
  };
  struct Waiter;

  bool has_room(const std::string& origin) const;
  bool is_waited_for(const std::string& origin) const;
  void take_place(const std::string& origin);
  void leave(const std::string& origin);
  std::unique_ptr<ClientConnection> take_idle(const std::string& origin);
  void drop_idle(const std::string& origin);
  void make_room_for(const std::string& origin);
  Task<> sweep();

  Executor executor_;
  Clock& clock_;
  const ClientOptions& options_;
  std::unordered_map<std::string, size_t> in_use_;
  size_t in_use_total_ = 0;
  std::list<Waiter*> waiting_;
  std::list<Idle> idle_;  // the longest unused first
  TaskScope scope_;
  bool sweeping_ = false;
};

}  // namespace sluice::http
