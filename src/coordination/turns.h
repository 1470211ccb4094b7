// One after the other, for each key, in the order they came.
//
// Callers that wait for something shared by many processes poll for it. Inside one process only the first in line
// polls; the others wait for their turn, so that a crowd costs the engine no more than one caller, and none overtakes.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <unordered_map>

#include "runtime/wakeup.h"

namespace sluice::coordination {

// Belongs to one executor, and outlives every place in line.
class Turns {
 public:
  // A place in line; given up when it is destroyed.
  class Place {
   public:
    ~Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    bool first() const;
    // Waits until it may be the first, or `nudge` was called, or `when`; the caller checks again.
    Task<> wait_until(Clock& clock, Instant when) { return woken_.wait_until(clock, when); }

   private:
    friend class Turns;
    Place(Turns& turns, std::string key);

    Turns& turns_;
    std::string key_;
    Wakeup woken_;
  };

  // At most `most` wait for one key; more are refused.
  Turns(Executor executor, size_t most) : executor_(std::move(executor)), most_(most) {}

  // Throws Overloaded when the line is full.
  std::unique_ptr<Place> join(std::string key);

  // Lets the first in line of `key` look again at once.
  void nudge(const std::string& key);

 private:
  Executor executor_;
  size_t most_;
  std::unordered_map<std::string, std::list<Place*>> lines_;
};

}  // namespace sluice::coordination
