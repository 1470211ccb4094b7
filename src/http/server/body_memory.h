// One bound for the memory of all request bodies together. Internal to the server.
//
// The limits of routes bound one body each; thousands of connections could fill the memory all the same. A body that
// does not come along with its head takes its share as its bytes arrive, and is refused where too little is left.
#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

namespace sluice::http {

// Safe to share between threads; a share belongs to one.
class BodyMemory {
 public:
  explicit BodyMemory(size_t limit) : limit_(limit) {}

  size_t used() const { return used_.load(std::memory_order_relaxed); }

  size_t left() const {
    const size_t taken = used();
    return taken < limit_ ? limit_ - taken : 0;
  }

  // Given back when destroyed.
  class Share {
   public:
    explicit Share(BodyMemory& memory) : memory_(memory) {}
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;
    ~Share() { give_back(); }

    // Whether that much is left now. Takes nothing.
    bool could_grow_to(size_t bytes) const { return bytes <= bytes_ || bytes - bytes_ <= memory_.left(); }
    // False, and no change, where less than that is left.
    bool grow_to(size_t bytes) {
      if (bytes <= bytes_) return true;
      const size_t more = bytes - bytes_;
      if (memory_.used_.fetch_add(more, std::memory_order_relaxed) + more > memory_.limit_) {
        memory_.used_.fetch_sub(more, std::memory_order_relaxed);
        return false;
      }
      bytes_ = bytes;
      return true;
    }
    void give_back() {
      if (bytes_ > 0) memory_.used_.fetch_sub(std::exchange(bytes_, 0), std::memory_order_relaxed);
    }

   private:
    BodyMemory& memory_;
    size_t bytes_ = 0;
  };

 private:
  const size_t limit_;
  std::atomic<size_t> used_{0};
};

}  // namespace sluice::http
