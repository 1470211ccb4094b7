// Leases of one process.
//
// With a journal they are the embedded server's: every answer still holds after kill -9. Without one they are for
// tests: a restart forgets the holders. Thread-safe.
#pragma once

#include <unordered_map>

#include "adapters/memory/engine_time.h"
#include "adapters/memory/journal_link.h"
#include "coordination/leases.h"

namespace sluice::memory {

class MemoryLeases final : public coordination::Leases, private coordination::Journaled {
 public:
  // At most `most` are held at a time; one more is refused with Overloaded. The journal, if there is one, outlives
  // this.
  explicit MemoryLeases(const Clock& clock, coordination::Journal* journal = nullptr, size_t most = 1'000'000);
  ~MemoryLeases() override;

  Task<std::optional<coordination::LeaseToken>> acquire(std::string key, std::string owner, Duration ttl) override;
  Task<coordination::Renewal<coordination::Lease>> renew(std::vector<coordination::Lease> leases,
                                                         Duration ttl) override;
  Task<> release(coordination::Lease lease) override;
  Task<std::optional<coordination::LeaseHolder>> holder(std::string key) override;

 private:
  using Holders = std::unordered_map<std::string, coordination::LeaseHolder>;

  Task<std::optional<coordination::LeaseHolder>> end_any(std::string key) override;

  std::string_view journal_name() const override { return "leases"; }
  void replay(std::string_view record) override;
  coordination::JournalNumber snapshot(std::vector<std::string>& records) const override;

  // Under the lock.
  Holders::iterator find_live(const std::string& key);
  std::optional<coordination::LeaseToken> try_acquire(const std::string& key, const std::string& owner, Duration ttl);
  // Leaves those that are still held.
  void extend(std::vector<coordination::Lease>& leases, Duration ttl);
  void end(Holders::iterator held);
  void make_room();

  EngineTime time_;
  const size_t most_;
  JournalLink journal_;
  coordination::LeaseToken last_token_ = 0;
  Holders holders_;
  // How many there may be before those that have ended are looked for: it costs little, and memory stays in proportion.
  size_t sweep_at_ = 1'024;
};

}  // namespace sluice::memory
