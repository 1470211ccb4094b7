#include "adapters/memory/memory_leases.h"

#include "coordination/journal_record.h"
#include "runtime/errors.h"

namespace sluice::memory {

using coordination::JournalNumber;
using coordination::Lease;
using coordination::LeaseHolder;
using coordination::LeaseToken;
using coordination::RecordReader;
using coordination::RecordWriter;
using coordination::Renewal;

namespace {

// Numbers in the file: never given another meaning.
enum class Change : char { held = 1, renewed = 2, ended = 3, token = 4 };

std::string held_record(const std::string& key, const LeaseHolder& holder) {
  RecordWriter record(Change::held);
  record.text(key).text(holder.owner).number(holder.token).number(holder.until.time_since_epoch().count());
  return record.take();
}

Time read_time(RecordReader& reader) {
  return Time{Duration{reader.number()}};
}

}  // namespace

MemoryLeases::MemoryLeases(const Clock& clock, coordination::Journal* journal, size_t most)
    : time_(clock), most_(most), journal_(journal, *this) {
  journal_.attach();
}

MemoryLeases::~MemoryLeases() {
  journal_.detach();
}

Task<std::optional<LeaseToken>> MemoryLeases::acquire(std::string key, std::string owner, Duration ttl) {
  std::optional<LeaseToken> token;
  const JournalNumber seen = journal_.change([&] { token = try_acquire(key, owner, ttl); });
  co_await journal_.durable(seen);
  co_return token;
}

Task<Renewal<Lease>> MemoryLeases::renew(std::vector<Lease> leases, Duration ttl) {
  const JournalNumber seen = journal_.change([&] { extend(leases, ttl); });
  co_await journal_.durable(seen);
  co_return Renewal<Lease>{.renewed = std::move(leases)};
}

Task<> MemoryLeases::release(Lease lease) {
  const JournalNumber seen = journal_.change([&] {
    const auto held = find_live(lease.key);
    if (held != holders_.end() && held->second.token == lease.token) end(held);
  });
  co_await journal_.durable(seen);
}

Task<std::optional<LeaseHolder>> MemoryLeases::holder(std::string key) {
  std::optional<LeaseHolder> found;
  const JournalNumber seen = journal_.look([&] {
    const auto held = find_live(key);
    if (held != holders_.end()) found = held->second;
  });
  co_await journal_.durable(seen);
  co_return found;
}

Task<std::optional<LeaseHolder>> MemoryLeases::end_any(std::string key) {
  std::optional<LeaseHolder> lost;
  const JournalNumber seen = journal_.change([&] {
    const auto held = find_live(key);
    if (held == holders_.end()) return;
    lost = held->second;
    end(held);
  });
  co_await journal_.durable(seen);
  co_return lost;
}

MemoryLeases::Holders::iterator MemoryLeases::find_live(const std::string& key) {
  const auto held = holders_.find(key);
  return held != holders_.end() && held->second.until > time_.now() ? held : holders_.end();
}

std::optional<LeaseToken> MemoryLeases::try_acquire(const std::string& key, const std::string& owner, Duration ttl) {
  if (find_live(key) != holders_.end()) return std::nullopt;
  make_room();
  const Time now = time_.now();
  // Grows also where nothing is journaled and a restart began at nothing.
  last_token_ = std::max<LeaseToken>(last_token_ + 1, now.time_since_epoch().count());
  LeaseHolder& holder = holders_[key];
  holder = {owner, last_token_, now + ttl};
  journal_.append(held_record(key, holder));
  return last_token_;
}

void MemoryLeases::extend(std::vector<Lease>& leases, Duration ttl) {
  const Time until = time_.now() + ttl;
  RecordWriter record(Change::renewed);
  record.number(until.time_since_epoch().count());
  std::erase_if(leases, [&](const Lease& lease) {
    const auto held = find_live(lease.key);
    if (held == holders_.end() || held->second.token != lease.token) return true;
    held->second.until = until;
    record.text(lease.key);
    return false;
  });
  if (!leases.empty()) journal_.append(record.take());
}

void MemoryLeases::end(Holders::iterator held) {
  RecordWriter record(Change::ended);
  record.text(held->first);
  journal_.append(record.take());
  holders_.erase(held);
}

void MemoryLeases::make_room() {
  if (holders_.size() < std::min(sweep_at_, most_)) return;
  const Time now = time_.now();
  std::erase_if(holders_, [now](const auto& held) { return held.second.until <= now; });
  sweep_at_ = std::max<size_t>(1'024, 2 * holders_.size());
  if (holders_.size() >= most_) throw Overloaded("leases");
}

void MemoryLeases::replay(std::string_view bytes) {
  RecordReader record(bytes);
  switch (record.kind<Change>()) {
    case Change::held: {
      LeaseHolder& holder = holders_[std::string(record.text())];
      holder.owner = record.text();
      holder.token = record.number();
      holder.until = read_time(record);
      last_token_ = std::max(last_token_, holder.token);
      return;
    }
    case Change::renewed: {
      const Time until = read_time(record);
      while (!record.at_end()) {
        const auto held = holders_.find(std::string(record.text()));
        check(held != holders_.end(), "the journal renews a lease that is not held");
        held->second.until = until;
      }
      return;
    }
    case Change::ended: holders_.erase(std::string(record.text())); return;
    case Change::token: last_token_ = std::max(last_token_, record.number()); return;
  }
  check(false, "the journal of leases has an unknown record");
}

JournalNumber MemoryLeases::snapshot(std::vector<std::string>& records) const {
  return journal_.look([&] {
    RecordWriter token(Change::token);
    token.number(last_token_);
    records.push_back(token.take());
    const Time now = time_.now();
    for (const auto& [key, holder] : holders_) {
      if (holder.until > now) records.push_back(held_record(key, holder));
    }
  });
}

}  // namespace sluice::memory
