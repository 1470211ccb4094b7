// A source of random numbers.
//
// Passed in like the clock, so that the simulation replays a seed. `SeededRandom` is fast and predictable: for jitter,
// shuffles and simulation. Secrets (tokens, keys) come from the operating system (`server` and `lab` pass in a source
// that uses it).
#pragma once

#include <cstdint>
#include <random>
#include <span>

namespace sluice {

class Random {
 public:
  virtual ~Random() = default;

  // 64 even bits. Safe to call from any thread where the implementation says so.
  virtual uint64_t next() = 0;

  // Evenly in [0, bound); bound must not be 0.
  uint64_t below(uint64_t bound);
  void fill(std::span<uint8_t> bytes);
};

// Not safe to share between threads.
class SeededRandom : public Random {
 public:
  explicit SeededRandom(uint64_t seed) : engine_(seed) {}
  uint64_t next() override { return engine_(); }

 private:
  std::mt19937_64 engine_;
};

}  // namespace sluice
