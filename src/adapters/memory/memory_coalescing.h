// Coalescing inside one process.
//
// For the embedded server, where one process does everything. Nothing is kept over a restart: messages are in the log,
// rows in the file, and an unknown item is fetched. Versions continue to grow by the floor of this process's run.
//
// Items are forgotten after the plan's time, and beyond `most_items` the one that was used longest ago goes first.
// Safe to share between threads.
#pragma once

#include <list>
#include <mutex>
#include <unordered_map>

#include "coordination/coalescing.h"
#include "coordination/coalescing_item.h"
#include "runtime/clock.h"

namespace sluice::memory {

class MemoryCoalescing : public coordination::Coalescing {
 public:
  // `run` is the floor of this process, asked for at its start under a name never used before. `clock` must outlive it.
  MemoryCoalescing(coordination::CoalescingPlan plan, coordination::RunFloor run, Clock& clock,
                   size_t most_items = 1'000'000);

  Task<coordination::RefreshAnswer> request(coordination::RefreshRequest request) override;
  Task<bool> unpublish(std::string item, coordination::RefreshAnswer answer) override;
  Task<coordination::FetchAnswer> look(coordination::FetchRequest request) override;
  Task<coordination::FetchAnswer> begin(coordination::FetchRequest request) override;
  Task<> finish(std::string item, std::string owner, coordination::Version covers) override;
  Task<> abandon(std::string item, std::string owner, std::optional<coordination::Version> given_up) override;

  size_t items() const;

 private:
  struct Entry {
    std::string item;
    coordination::CoalescingItem state;
    Instant used;
  };

  // The item's state, made where it is not known; now the most recently used. With the mutex held.
  coordination::CoalescingItem& use(const std::string& item);
  void forget_oldest();

  coordination::CoalescingPlan plan_;
  coordination::RunFloor run_;
  Clock& clock_;
  size_t most_items_;
  mutable std::mutex mutex_;
  std::list<Entry> entries_;  // the least recently used first
  std::unordered_map<std::string_view, std::list<Entry>::iterator> by_item_;
  coordination::Version issued_ = 0;  // the highest, of any item
};

}  // namespace sluice::memory
