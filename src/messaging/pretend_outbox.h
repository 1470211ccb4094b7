// An outbox and a log in memory, for testing the relay in virtual time. The real ones pass the contract suites.
#pragma once

#include <algorithm>
#include <map>
#include <set>

#include "messaging/outbox_store.h"
#include "runtime/clock.h"
#include "runtime/errors.h"

namespace sluice::messaging {

class PretendOutbox : public OutboxStore {
 public:
  explicit PretendOutbox(Clock& clock) : clock_(clock) {}

  struct Row {
    int64_t id = 0;
    std::string aggregate;
    int64_t version = 0;
    bool published = false;
    bool dead = false;
    int tries = 0;
    std::string topic = "topic";
    std::string unreadable{};
    size_t padding = 0;  // bytes of its message
    int32_t bucket() const { return partition_of(aggregate, outbox_buckets); }
  };

  // A committed row of an aggregate; its version is how many there were before.
  Row& append(const std::string& aggregate) {
    rows.push_back({++last_id_, aggregate, ++versions_[aggregate]});
    return rows.back();
  }

  Task<std::vector<HeldBucket>> hold(std::string owner, Duration ttl) override {
    if (down) throw EngineUnavailable("database", "down");
    relays_[owner] = clock_.now() + ttl;
    std::erase_if(relays_, [this](const auto& relay) { return relay.second <= clock_.now(); });
    const auto rank = static_cast<size_t>(std::distance(relays_.begin(), relays_.find(owner)));
    const size_t all = buckets_.size();
    const size_t share = all / relays_.size() + (rank < all % relays_.size() ? 1 : 0);
    std::vector<HeldBucket> held;
    for (int32_t number = 0; number < outbox_buckets; ++number) {
      Bucket& bucket = buckets_[static_cast<size_t>(number)];
      const bool live = bucket.until > clock_.now();
      if (live && bucket.owner != owner) continue;
      if (held.size() >= share) {
        if (live) bucket.until = clock_.now();
        continue;
      }
      if (!live) bucket = {owner, bucket.fence + 1, {}};
      bucket.until = clock_.now() + ttl;
      held.push_back({number, bucket.fence});
    }
    co_return held;
  }
  Task<> release(std::string owner) override {
    relays_.erase(owner);
    for (Bucket& bucket : buckets_) {
      if (bucket.owner == owner) bucket.until = clock_.now();
    }
    co_return;
  }
  Task<OutboxBatch> unpublished(std::vector<BucketScan> scans, BatchLimits limits,
                                std::vector<std::string> without) override {
    ++reads;
    if (down) throw EngineUnavailable("database", "down");
    OutboxBatch batch;
    if (lost_after_) co_return batch;
    size_t bytes = 0;
    for (const BucketScan& scan : scans) {
      size_t left = limits.of_bucket;
      for (const Row& row : rows) {
        if (row.bucket() != scan.held.bucket || row.id <= scan.after || row.published || row.dead) continue;
        if (!ours(scan.held) || parked_.contains(row.aggregate) || batch.cut) continue;
        if (std::ranges::find(without, row.aggregate) != without.end()) continue;
        if (left == 0) break;
        --left;
        Message message{row.topic, row.aggregate, std::to_string(row.version) + std::string(row.padding, ' ')};
        bytes += message.payload.size();
        batch.rows.push_back({{row.id, scan.held}, row.aggregate, std::move(message), row.unreadable});
        batch.cut = batch.rows.size() == limits.rows || bytes >= limits.bytes;
      }
    }
    largest_batch = std::max(largest_batch, bytes);
    co_return batch;
  }
  Task<> mark_published(std::vector<OutboxMark> marks) override {
    if (down) throw EngineUnavailable("database", "down");
    for (const OutboxMark& mark : marks) {
      if (ours(mark.held)) find(mark.id).published = true;
    }
    co_return;
  }
  Task<Refusal> refuse(OutboxMark mark, std::string, int tries) override {
    Row& row = find(mark.id);
    tried.push_back(clock_.now());
    if (++row.tries < tries) co_return Refusal::counted;
    row.dead = true;
    parked_.insert(row.aggregate);
    co_return Refusal::dead;
  }
  Task<bool> remember(std::string, MessageLog::Memory memory, Duration margin) override {
    margins.insert(margin);
    const bool lost = remembered_ && *remembered_ != memory;
    remembered_ = memory;
    if (lost) {
      lost_after_ = 0;
      for (Bucket& bucket : buckets_) ++bucket.fence;
    }
    while (lost_after_) {
      co_await clock_.sleep_for(loss_step_takes);
      if (down) throw EngineUnavailable("database", "down");
      unpublish_step();
    }
    co_return lost;
  }
  Task<std::vector<std::string>> topics() override { co_return std::vector<std::string>{}; }
  Task<OutboxLag> lag(std::vector<BucketScan> scans) override {
    for (const BucketScan& scan : scans) ++measured[scan.held.bucket];
    co_return OutboxLag{};
  }
  Task<std::optional<int64_t>> sweep(int64_t, size_t, Duration) override {
    ++sweeps;
    co_return std::nullopt;
  }

  size_t unpublished_rows() const { return static_cast<size_t>(std::ranges::count(rows, false, &Row::published)); }
  size_t held_by(const std::string& owner) const {
    return static_cast<size_t>(std::ranges::count_if(
        buckets_, [&](const Bucket& bucket) { return bucket.owner == owner && bucket.until > clock_.now(); }));
  }

  std::vector<Row> rows;
  std::vector<Instant> tried;  // when a refusal was counted
  bool down = false;
  int reads = 0;
  int sweeps = 0;
  std::map<int32_t, int> measured;  // how often, by bucket
  size_t largest_batch = 0;         // bytes
  Duration loss_step_takes{0};      // of three rows
  std::set<Duration> margins;       // that were asked for

 private:
  struct Bucket {
    std::string owner;
    int64_t fence = 0;
    Instant until{};
  };
  bool ours(const HeldBucket& held) const {
    const Bucket& bucket = buckets_[static_cast<size_t>(held.bucket)];
    return bucket.fence == held.fence && bucket.until > clock_.now();
  }
  void unpublish_step() {
    const auto from = std::ranges::upper_bound(rows, *lost_after_, {}, &Row::id);
    const auto to = from + std::min<std::ptrdiff_t>(3, rows.end() - from);
    for (Row& row : std::ranges::subrange(from, to)) row.published = false;
    lost_after_ = from == to ? std::nullopt : std::optional(std::prev(to)->id);
  }
  Row& find(int64_t id) { return *std::ranges::find(rows, id, &Row::id); }

  Clock& clock_;
  int64_t last_id_ = 0;
  std::map<std::string, int64_t> versions_;
  std::vector<Bucket> buckets_{static_cast<size_t>(outbox_buckets)};
  std::map<std::string, Instant> relays_;
  std::set<std::string> parked_;
  std::optional<MessageLog::Memory> remembered_;
  std::optional<int64_t> lost_after_;  // while a loss is worked off
};

// Keeps what was published, for a relay to be looked at.
class RecordingLog : public MessageLog {
 public:
  explicit RecordingLog(Clock& clock) : clock_(clock) {}

  Task<> declare(std::vector<Topic>) override { co_return; }
  Task<std::vector<Published>> publish(std::vector<Message> messages) override {
    ++calls;
    if (down) throw EngineUnavailable("log", "down");
    size_t bytes = 0;
    for (const Message& message : messages) bytes += bytes_of(message);
    if (bytes > room) throw Overloaded("log");
    co_await clock_.sleep_for(takes);
    std::vector<Published> outcomes;
    std::set<std::string> refused;
    for (const Message& message : messages) {
      const std::string place = message.topic + "/" + message.key;
      if (refused.contains(place)) {
        outcomes.emplace_back(HeldBack{});
      } else if (poison.contains(message.key) || poison.contains(message.topic)) {
        refused.insert(place);
        outcomes.emplace_back(Rejected{"poison"});
      } else {
        stored[message.key].push_back(std::stoll(message.payload));
        last_at = clock_.now();
        outcomes.emplace_back(Position{message.topic, 0, ++offset_});
      }
    }
    co_return outcomes;
  }
  std::unique_ptr<Subscription> subscribe(SubscriptionConfig, Executor) override { return nullptr; }
  Task<Memory> memory(std::string) override { co_return Memory{life, "run"}; }

  std::map<std::string, std::vector<int64_t>> stored;  // versions by key, in order
  std::set<std::string> poison;                        // keys and topics
  size_t room = 64 << 20;                              // bytes at once
  std::string life = "first";
  bool down = false;
  Duration takes = 1ms;
  int calls = 0;
  Instant last_at{};

 private:
  Clock& clock_;
  int64_t offset_ = 0;
};

}  // namespace sluice::messaging
