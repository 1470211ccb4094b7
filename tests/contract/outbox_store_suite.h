// The fixture of outbox_store_contract.cpp, for the engines that run it.
#pragma once

#include "adapters/sql/messaging/sql_outbox_dead.h"
#include "adapters/sql/messaging/sql_outbox_store.h"
#include "tests/contract/outbox_suite.h"

namespace sluice::test {

class OutboxStoreContract : public OutboxContract {
 protected:
  using HeldBucket = messaging::HeldBucket;
  using Refusal = messaging::Refusal;
  using Row = messaging::OutboxRow;

  void SetUp() override {
    OutboxContract::SetUp();
    for (const char* text : {"DELETE FROM outbox_events", "DELETE FROM outbox_dead", "DELETE FROM outbox_relays",
                             "DELETE FROM outbox_topics", "UPDATE outbox_buckets SET owner = '', expires_at = now()"}) {
      run(database().write(text));
    }
    store_.emplace(database());
    dead_.emplace(database());
  }

  // Aggregates are "a", "b", ...; each append is the next version.
  void append(const std::string& aggregate) { OutboxContract::append(message(aggregate, ++versions_[aggregate])); }
  void hold_all() { held_ = hold("relay"); }
  std::vector<HeldBucket> hold(const std::string& owner, Duration ttl = 1min) { return run(store_->hold(owner, ttl)); }
  std::vector<Row> read(const std::vector<HeldBucket>& held, messaging::BatchLimits limits = {1000, 1000},
                        int64_t after = 0, std::vector<std::string> without = {}) {
    std::vector<messaging::BucketScan> scans;
    for (const HeldBucket& one : held) scans.push_back({one, after});
    return run(store_->unpublished(scans, limits, std::move(without))).rows;
  }
  std::vector<Row> read() { return read(held_); }
  // "a1 a2 b1": aggregate and version, by aggregate, since the order of buckets means nothing.
  static std::string told(const std::vector<Row>& rows) {
    std::map<std::string, std::vector<std::string>> by_aggregate;
    for (const Row& row : rows) {
      by_aggregate[row.message.key].push_back(row.message.key + std::to_string(version_of(row)));
    }
    std::vector<std::string> told;
    for (const auto& [key, versions] : by_aggregate) told.insert(told.end(), versions.begin(), versions.end());
    return fmt::format("{}", fmt::join(told, " "));
  }
  static int64_t version_of(const Row& row) {
    for (const auto& [name, value] : row.message.headers) {
      if (name == messaging::header::aggregate_version) return std::stoll(value);
    }
    return 0;
  }
  void mark(const std::vector<Row>& rows) {
    std::vector<messaging::OutboxMark> marks;
    for (const Row& row : rows) marks.push_back(row.mark);
    run(store_->mark_published(marks));
  }
  Refusal refuse(const Row& row) { return run(store_->refuse(row.mark, "too large", 3)); }
  void kill(const std::string& aggregate) {
    append(aggregate);
    for (int i = 0; i < 3; ++i) refuse(read().back());
  }
  // Of all buckets.
  messaging::OutboxLag lag(int64_t after = 0) {
    std::vector<messaging::BucketScan> scans;
    for (int32_t bucket = 0; bucket < messaging::outbox_buckets; ++bucket) scans.push_back({{bucket}, after});
    return run(store_->lag(std::move(scans)));
  }
  int64_t rows_left() { return run(database().read("SELECT count(*) FROM outbox_events")).one().integer(0); }

  std::optional<sql::SqlOutboxStore> store_;
  std::optional<sql::SqlOutboxDead> dead_;
  std::vector<HeldBucket> held_;
  std::map<std::string, int64_t> versions_;
};

}  // namespace sluice::test
