// How many files are read at once: by this process, and for one owner.
//
// Reading costs memory and keeps the database busy, and an upload may be as slow as its client's connection. A place is
// given at once or not at all; a client without one retries later.
#pragma once

#include <map>
#include <mutex>
#include <utility>

#include "base/result.h"
#include "links/import.h"

namespace sluice::flows {

// Safe to share between threads; outlives its places.
class UploadPlaces {
 public:
  enum class Refused { full, owner_has_enough };

  // Given back when it goes.
  class Place {
   public:
    Place(UploadPlaces& places, links::OwnerId owner) : places_(&places), owner_(owner) {}
    Place(Place&& other) noexcept : places_(std::exchange(other.places_, nullptr)), owner_(other.owner_) {}
    Place& operator=(Place&&) = delete;
    ~Place() {
      if (places_ != nullptr) places_->give_back(owner_);
    }

   private:
    UploadPlaces* places_;
    links::OwnerId owner_;
  };

  UploadPlaces(int64_t all, int64_t each) : all_(all), each_(each) {}

  Result<Place, Refused> take(links::OwnerId owner) {
    const std::lock_guard lock(mutex_);
    if (taken_ >= all_) return Refused::full;
    int64_t& of_owner = by_owner_[owner];
    if (of_owner >= each_) return Refused::owner_has_enough;
    ++of_owner;
    ++taken_;
    return Place(*this, owner);
  }

 private:
  void give_back(links::OwnerId owner) {
    const std::lock_guard lock(mutex_);
    --taken_;
    const auto found = by_owner_.find(owner);
    if (--found->second == 0) by_owner_.erase(found);
  }

  const int64_t all_;
  const int64_t each_;
  std::mutex mutex_;
  int64_t taken_ = 0;
  std::map<links::OwnerId, int64_t> by_owner_;
};

}  // namespace sluice::flows
