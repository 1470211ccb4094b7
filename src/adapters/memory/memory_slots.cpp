#include "adapters/memory/memory_slots.h"

#include <algorithm>

#include "coordination/journal_record.h"
#include "runtime/errors.h"

namespace sluice::memory {

using coordination::JournalNumber;
using coordination::RecordReader;
using coordination::RecordWriter;
using coordination::Slot;

namespace {

// Numbers in the file: never given another meaning.
enum class Change : char { taken = 1, renewed = 2, freed = 3, token = 4 };

RecordWriter change_of(Change change, const std::string& key, int64_t number) {
  RecordWriter record(change);
  record.text(key).number(number);
  return record;
}

int64_t microseconds(Time time) {
  return time.time_since_epoch().count();
}
Time read_time(RecordReader& reader) {
  return Time{Duration{reader.number()}};
}

}  // namespace

MemorySlots::MemorySlots(const Clock& clock, coordination::Journal* journal, size_t most)
    : time_(clock), most_(most), journal_(journal, *this) {
  journal_.attach();
}

MemorySlots::~MemorySlots() {
  journal_.detach();
}

Task<std::optional<Slot>> MemorySlots::take(std::string key, int64_t n, std::string owner, Duration ttl) {
  std::optional<Slot> slot;
  const JournalNumber seen = journal_.change([&] { slot = try_take(key, n, std::move(owner), ttl); });
  co_await journal_.durable(seen);
  co_return slot;
}

Task<bool> MemorySlots::renew(Slot slot, Duration ttl) {
  bool held = false;
  const JournalNumber seen = journal_.change([&] {
    Taken* taken = find_live(slot);
    held = taken != nullptr;
    if (!held) return;
    taken->until = time_.now() + ttl;
    journal_.append(change_of(Change::renewed, slot.key, slot.number).number(microseconds(taken->until)).take());
  });
  co_await journal_.durable(seen);
  co_return held;
}

Task<> MemorySlots::give_back(Slot slot) {
  const JournalNumber seen = journal_.change([&] {
    if (find_live(slot) == nullptr) return;
    keys_[slot.key].erase(slot.number);
    journal_.append(change_of(Change::freed, slot.key, slot.number).take());
  });
  co_await journal_.durable(seen);
}

Task<int64_t> MemorySlots::in_use(std::string key) {
  int64_t count = 0;
  const JournalNumber seen = journal_.look([&] {
    const auto found = keys_.find(key);
    if (found == keys_.end()) return;
    const Time now = time_.now();
    count = std::ranges::count_if(found->second, [now](const auto& number) { return number.second.until > now; });
  });
  co_await journal_.durable(seen);
  co_return count;
}

std::optional<Slot> MemorySlots::try_take(const std::string& key, int64_t n, std::string owner, Duration ttl) {
  if (!keys_.contains(key)) make_room();
  Numbers& numbers = keys_[key];
  const Time now = time_.now();
  std::erase_if(numbers, [now](const auto& number) { return number.second.until <= now; });
  int64_t free = 1;
  for (const auto& [number, taken] : numbers) {
    if (number != free) break;
    ++free;
  }
  if (free > n) return std::nullopt;
  last_token_ = std::max(last_token_ + 1, microseconds(now));
  Taken& taken = numbers[free];
  taken = {std::move(owner), last_token_, now + ttl};
  RecordWriter record = change_of(Change::taken, key, free);
  journal_.append(record.text(taken.owner).number(taken.token).number(microseconds(taken.until)).take());
  return Slot{key, free, last_token_};
}

MemorySlots::Taken* MemorySlots::find_live(const Slot& slot) {
  const auto key = keys_.find(slot.key);
  if (key == keys_.end()) return nullptr;
  const auto found = key->second.find(slot.number);
  if (found == key->second.end()) return nullptr;
  Taken& taken = found->second;
  return taken.token == slot.token && taken.until > time_.now() ? &taken : nullptr;
}

void MemorySlots::make_room() {
  if (keys_.size() < most_) return;
  const Time now = time_.now();
  std::erase_if(keys_, [now](const auto& key) {
    return std::ranges::all_of(key.second, [now](const auto& number) { return number.second.until <= now; });
  });
  if (keys_.size() >= most_) throw Overloaded("slots");
}

void MemorySlots::replay(std::string_view bytes) {
  RecordReader record(bytes);
  const auto change = record.kind<Change>();
  if (change == Change::token) {
    last_token_ = std::max(last_token_, record.number());
    return;
  }
  Numbers& numbers = keys_[std::string(record.text())];
  const int64_t number = record.number();
  switch (change) {
    case Change::taken: {
      Taken& taken = numbers[number];
      taken.owner = record.text();
      taken.token = record.number();
      taken.until = read_time(record);
      last_token_ = std::max(last_token_, taken.token);
      return;
    }
    case Change::renewed: numbers.at(number).until = read_time(record); return;
    case Change::freed: numbers.erase(number); return;
    case Change::token: return;
  }
  check(false, "the journal of slots has an unknown record");
}

JournalNumber MemorySlots::snapshot(std::vector<std::string>& records) const {
  return journal_.look([&] {
    RecordWriter token(Change::token);
    records.push_back(token.number(last_token_).take());
    const Time now = time_.now();
    for (const auto& [key, numbers] : keys_) {
      for (const auto& [number, taken] : numbers) {
        if (taken.until <= now) continue;
        RecordWriter record = change_of(Change::taken, key, number);
        records.push_back(record.text(taken.owner).number(taken.token).number(microseconds(taken.until)).take());
      }
    }
  });
}

}  // namespace sluice::memory
