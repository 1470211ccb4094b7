// Slots of one process.
//
// With a journal they are the embedded server's: every answer still holds after kill -9. Without one they are for
// tests: a restart forgets the owners, and until their ttl ends more than n may be in use. Thread-safe.
#pragma once

#include <map>
#include <unordered_map>

#include "adapters/memory/engine_time.h"
#include "adapters/memory/journal_link.h"
#include "coordination/slots.h"

namespace sluice::memory {

class MemorySlots final : public coordination::Slots, private coordination::Journaled {
 public:
  // At most `most` keys; one more is refused with Overloaded. The journal, if there is one, outlives this.
  explicit MemorySlots(const Clock& clock, coordination::Journal* journal = nullptr, size_t most = 100'000);
  ~MemorySlots() override;

  Task<std::optional<coordination::Slot>> take(std::string key, int64_t n, std::string owner, Duration ttl) override;
  Task<bool> renew(coordination::Slot slot, Duration ttl) override;
  Task<> give_back(coordination::Slot slot) override;
  Task<int64_t> in_use(std::string key) override;

 private:
  struct Taken {
    std::string owner;
    int64_t token = 0;
    Time until;
  };
  // By number. Expired ones are removed when a slot of the key is requested.
  using Numbers = std::map<int64_t, Taken>;

  std::string_view journal_name() const override { return "slots"; }
  void replay(std::string_view record) override;
  coordination::JournalNumber snapshot(std::vector<std::string>& records) const override;

  // Under the lock.
  std::optional<coordination::Slot> try_take(const std::string& key, int64_t n, std::string owner, Duration ttl);
  Taken* find_live(const coordination::Slot& slot);
  void make_room();

  EngineTime time_;
  const size_t most_;
  JournalLink journal_;
  int64_t last_token_ = 0;
  std::unordered_map<std::string, Numbers> keys_;
};

}  // namespace sluice::memory
