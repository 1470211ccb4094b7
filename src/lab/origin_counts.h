// The counts of a simulated server: requests, and how many at once.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace sluice::lab {

// Belongs to one thread.
class OriginCounts {
 public:
  // `by` is the key of the counts in its JSON.
  explicit OriginCounts(std::string by = "byPath") : by_(std::move(by)) {}

  // A request that is being answered, from its head to the last byte of the answer or to the moment the other side
  // hung up. Counts must outlive it.
  class Open {
   public:
    Open(OriginCounts& counts, std::string path);
    ~Open();
    Open(const Open&) = delete;
    Open& operator=(const Open&) = delete;

   private:
    OriginCounts& counts_;
    std::string path_;
  };

  // Requests that are open stay counted as such.
  void reset();

  // {"requests": 2, "inFlight": 0, "maxConcurrency": 1, "byPath": {"a.xml": {"requests": 2, ...}, ...}}
  std::string to_json() const;

 private:
  struct Tally {
    uint64_t requests = 0;
    uint64_t in_flight = 0;
    uint64_t most = 0;  // in flight at once

    void begin();
    void reset();
  };

  std::string by_;
  Tally all_;
  std::map<std::string, Tally> by_path_;
};

}  // namespace sluice::lab
