// An outbox and a log in memory, for testing the relay in virtual time.
//
// Left out on purpose, so that they pass no contract suite: the outbox has no transactions and keeps what was
// published; the log is written to and not read (pretend_log.h can do both).
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
    if (down) throw EngineUnavailable("database", "down");
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
    if (!lost_.empty()) co_return batch;
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
    if (down) throw EngineUnavailable("database", "down");
    Row& row = find(mark.id);
    if (!ours(mark.held) || row.published) co_return Refusal::nothing;
    tried.push_back(clock_.now());
    if (++row.tries < tries) co_return Refusal::counted;
    row.dead = true;
    parked_.insert(row.aggregate);
    co_return Refusal::dead;
  }
  // An operator has fixed the cause of a dead row.
  void replay(int64_t id) {
    Row& row = find(id);
    row.dead = false;
    row.tries = 0;
    parked_.erase(row.aggregate);
    ++buckets_[static_cast<size_t>(row.bucket())].fence;
  }
  Task<bool> remember(std::string topic, MessageLog::Memory memory, Duration margin) override {
    if (down) throw EngineUnavailable("database", "down");
    margins.insert(margin);
    const auto [known, is_new] = remembered_.try_emplace(topic, memory);
    const bool lost = !is_new && known->second != memory;
    known->second = memory;
    if (lost) {
      lost_[topic] = 0;
      for (Bucket& bucket : buckets_) ++bucket.fence;
    }
    while (lost_.contains(topic)) {
      co_await clock_.sleep_for(loss_step_takes);
      if (down) throw EngineUnavailable("database", "down");
      unpublish_step(topic);
    }
    co_return lost;
  }
  Task<std::vector<std::string>> topics() override { co_return std::vector<std::string>{}; }
  Task<OutboxLag> lag(std::vector<BucketScan> scans) override {
    if (down) throw EngineUnavailable("database", "down");
    OutboxLag lag;
    for (const BucketScan& scan : scans) {
      ++measured[scan.held.bucket];
      for (const Row& row : rows) {
        if (row.bucket() != scan.held.bucket) continue;
        lag.dead += row.dead ? 1 : 0;
        const bool waits = row.id > scan.after && !row.published && !parked_.contains(row.aggregate);
        lag.unpublished += waits ? 1 : 0;
      }
    }
    co_return lag;
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
  void unpublish_step(const std::string& topic) {
    const auto from = std::ranges::upper_bound(rows, lost_.at(topic), {}, &Row::id);
    const auto to = from + std::min<std::ptrdiff_t>(3, rows.end() - from);
    for (Row& row : std::ranges::subrange(from, to)) {
      if (row.topic == topic) row.published = false;
    }
    if (from == to) {
      lost_.erase(topic);
    } else {
      lost_[topic] = std::prev(to)->id;
    }
  }
  Row& find(int64_t id) { return *std::ranges::find(rows, id, &Row::id); }

  Clock& clock_;
  int64_t last_id_ = 0;
  std::map<std::string, int64_t> versions_;
  std::vector<Bucket> buckets_{static_cast<size_t>(outbox_buckets)};
  std::map<std::string, Instant> relays_;
  std::set<std::string> parked_;
  std::map<std::string, MessageLog::Memory> remembered_;  // by topic
  std::map<std::string, int64_t> lost_;                   // how far a loss is worked off, by topic
};

// Keeps published messages, for tests of a relay.
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
    const bool slow = std::ranges::any_of(messages, [this](const Message& message) { return is_away(message); });
    if (slow) co_await clock_.sleep_for(patience);
    std::vector<Published> outcomes;
    std::set<std::string> ended;
    for (const Message& message : messages) {
      const std::string place = message.topic + "/" + message.key;
      if (ended.contains(place)) {
        outcomes.emplace_back(HeldBack{});
        continue;
      }
      outcomes.push_back(store(message));
      if (!std::holds_alternative<Position>(outcomes.back())) ended.insert(place);
    }
    if (nothing_known(outcomes)) throw EngineUnavailable("log", "no answer");
    co_return outcomes;
  }
  Task<int32_t> partitions(std::string) override { co_return partition_count; }
  std::unique_ptr<Subscription> subscribe(SubscriptionConfig, Executor) override { return nullptr; }
  Task<Memory> memory(std::string topic) override {
    if (mute) throw EngineUnavailable("log", "mute");
    co_return Memory{lives.contains(topic) ? lives[topic] : life, "run"};
  }

  std::map<std::string, std::vector<int64_t>> stored;  // versions by key, in order
  std::set<std::string> poison;                        // keys and topics
  std::set<std::pair<std::string, int32_t>> away;      // partitions of topics
  Duration patience = 5s;                              // with those
  static constexpr int32_t partition_count = 3;
  size_t room = 64 << 20;  // bytes at once
  std::string life = "first";
  std::map<std::string, std::string> lives;  // of topics that have another
  bool mute = false;                         // about its memory
  bool down = false;
  Duration takes = 1ms;
  int calls = 0;
  int unanswered = 0;  // messages
  Instant last_at{};

  static int32_t partition(const std::string& key) { return partition_of(key, partition_count); }

 private:
  bool is_away(const Message& message) const { return away.contains({message.topic, partition(message.key)}); }
  Published store(const Message& message) {
    if (poison.contains(message.key) || poison.contains(message.topic)) return Rejected{"poison"};
    if (is_away(message)) {
      ++unanswered;
      return Unknown{"no answer"};
    }
    stored[message.key].push_back(std::stoll(message.payload));
    last_at = clock_.now();
    return Position{message.topic, partition(message.key), ++offset_};
  }

  Clock& clock_;
  int64_t offset_ = 0;
};

}  // namespace sluice::messaging
