// Stores shared copies of costly answers.
//
// A copy is fresh for a while, then stale for a while, then gone. A caller that finds none, or one worth renewing, asks
// for the ticket to load it: one of all callers over all instances gets it, for a limited time, and only the current
// ticket may fill. Removing a key ends its ticket, so that a value read before the removal is never stored after it.
// The cache may lose anything at any time; that only costs a load.
//
// Every implementation passes tests/contract/cache_store_contract.cpp. Safe to use from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "runtime/task.h"

namespace sluice::coordination {

// A null body is a negative result: the source has no value.
using CacheBody = std::shared_ptr<const std::string>;

// A new entry of the cache.
struct CacheEntry {
  CacheBody body;
  Duration fresh_for{0};
  Duration stale_for{0};  // how long it is kept after that
  Duration load_cost{0};  // how long loading took; dear ones are renewed earlier
};

// A copy in the cache, as of now.
struct CachedCopy {
  CacheBody body;
  Duration fresh_for{0};  // time left; negative once it is stale
  Duration load_cost{0};

  bool fresh() const { return fresh_for.count() > 0; }
};

// Chosen by the caller at random: different from all previous ones. Never 0.
using LoadTicket = uint64_t;

// When a caller wants to load. Ticket 0: it only looks.
struct TicketWish {
  LoadTicket ticket = 0;
  Duration ttl{0};       // after that another caller may load
  double eagerness = 0;  // a fresh copy is renewed when less than load_cost times this is left of it

  bool wants(const CachedCopy& copy) const {
    return static_cast<double>(copy.fresh_for.count()) <= static_cast<double>(copy.load_cost.count()) * eagerness;
  }
};

struct CacheAnswer {
  std::optional<CachedCopy> copy;
  bool ticket_granted = false;  // the caller is the one to load
};

class CacheStore {
 public:
  virtual ~CacheStore() = default;

  // A copy in the memory of this process, without waiting. Nothing means unknown.
  virtual std::optional<CachedCopy> peek(std::string_view key) = 0;

  // The copy, if any, and the ticket, if no fresh enough copy exists and no other caller has the ticket.
  virtual Task<CacheAnswer> look_up(std::string key, TicketWish wish) = 0;

  // Stores the value loaded under the ticket and ends it. False, and nothing is stored, if the ticket is no longer the
  // current one.
  virtual Task<bool> fill(std::string key, LoadTicket ticket, CacheEntry entry) = 0;

  // Loading failed: the next caller gets a ticket at once. Harmless if it was lost.
  virtual Task<> give_up(std::string key, LoadTicket ticket) = 0;

  // Stores it unconditionally and ends the ticket.
  virtual Task<> put(std::string key, CacheEntry entry) = 0;

  // Afterwards no look_up finds an earlier value, nor one that is being loaded now.
  virtual Task<> remove(std::string key) = 0;
};

}  // namespace sluice::coordination
