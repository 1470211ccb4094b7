// The ports of documents in one process and in virtual time, with engines that can be made slow or fail.
//
// For testing the rules above them. PretendSlots passes the contract suite of Slots as real ones do
// (pretend_ports_test.cpp). The others leave out, on purpose, what no rule here is about: PretendStore has one origin,
// hold-downs that do not grow, and nothing to sweep or forget; PretendBreaker is open or closed as it is told to be.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "coordination/shared_breaker.h"
#include "coordination/slots.h"
#include "documents/document_store.h"
#include "documents/origin.h"
#include "documents/static_copies.h"
#include "runtime/clock.h"
#include "runtime/errors.h"

namespace sluice::documents {

inline std::shared_ptr<Document> make_document(std::string body, Time fetched_at = {}) {
  auto made = std::make_shared<Document>();
  made->etag = etag_of(body);
  made->body = std::move(body);
  made->content_type = "application/xml";
  made->fetched_at = fetched_at;
  return made;
}

class PretendSlots : public coordination::Slots {
 public:
  explicit PretendSlots(Clock& clock) : clock_(clock) {}

  Task<std::optional<coordination::Slot>> take(std::string key, int64_t n, std::string, Duration ttl) override {
    for (int64_t number = 1; number <= n; ++number) {
      Held& held = held_[{key, number}];
      if (held.until > clock_.wall()) continue;
      held = {held.token + 1, clock_.wall() + ttl};
      if (after_take) after_take();
      co_return coordination::Slot{key, number, held.token};
    }
    co_return std::nullopt;
  }
  Task<bool> renew(coordination::Slot slot, Duration ttl) override {
    Held& held = held_[{slot.key, slot.number}];
    if (held.token != slot.token || held.until <= clock_.wall()) co_return false;
    held.until = clock_.wall() + ttl;
    co_return true;
  }
  Task<> give_back(coordination::Slot slot) override {
    if (keeps) throw EngineUnavailable("test", "down");
    Held& held = held_[{slot.key, slot.number}];
    if (held.token == slot.token) held.until = clock_.wall();
    co_return;
  }
  Task<int64_t> in_use(std::string key) override { co_return taken(key); }

  int64_t taken(const std::string& key) const {
    return std::ranges::count_if(
        held_, [&](const auto& one) { return one.first.first == key && one.second.until > clock_.wall(); });
  }
  int64_t taken() const {
    return std::ranges::count_if(held_, [&](const auto& one) { return one.second.until > clock_.wall(); });
  }
  std::function<void()> after_take;
  bool keeps = false;  // can't be given back
  Duration left(const coordination::Slot& slot) { return held_[{slot.key, slot.number}].until - clock_.wall(); }

 private:
  struct Held {
    int64_t token = 0;
    Time until{};
  };
  Clock& clock_;
  std::map<std::pair<std::string, int64_t>, Held> held_;
};

class PretendBreaker : public coordination::SharedBreaker {
 public:
  using Permit = coordination::BreakerPermit;

  // How the calls under one key went.
  struct Counts {
    int good = 0;
    int bad = 0;
  };

  Task<Result<Permit, Duration>> ask(std::string, Duration) override {
    ++asked;
    if (after_ask) after_ask();
    if (open) co_return Duration{30s};
    co_return Permit{};
  }
  Task<> record(std::string key, Permit, bool success) override {
    if (deaf) throw EngineUnavailable("test", "down");
    Counts& counts = by_key[key];
    ++(success ? counts.good : counts.bad);
    co_return;
  }
  Task<> forget(std::string, Permit) override {
    ++forgotten;
    co_return;
  }
  Task<coordination::BreakerState> state(std::string) override { co_return coordination::BreakerState{}; }

  Counts known() { return by_key["origin/o"]; }
  Counts strangers() { return by_key["origin/o/strangers"]; }

  std::function<void()> after_ask;
  bool open = false;
  bool deaf = false;  // can't be told how it went
  int asked = 0;
  int forgotten = 0;
  std::map<std::string, Counts> by_key;
};

class PretendStatic : public StaticCopies {
 public:
  Task<DocumentPtr> find(DocumentPath path) override {
    const auto found = copies.find(path.text());
    co_return found == copies.end() ? nullptr : found->second;
  }
  std::map<std::string, DocumentPtr> copies;
};

class PretendOrigin : public Origin {
 public:
  explicit PretendOrigin(Clock& clock) : clock_(clock) {}

  Task<Result<DocumentPtr, FetchError>> fetch(DocumentPath path, std::string traceparent) override {
    last_traceparent = std::move(traceparent);
    const int number = ++asked;
    highest = std::max(highest, ++open_);
    const Duration takes = latency;
    co_await clock_.sleep_for(takes);
    --open_;
    if (error) co_return *error;
    if (unknown && path.text().starts_with("invented/")) co_return *unknown;
    co_return DocumentPtr(make_document("fetched " + std::to_string(number), clock_.wall()));
  }

  Duration latency = 500ms;
  std::optional<FetchError> error;
  std::optional<FetchError> unknown;  // for paths that begin with invented/
  int asked = 0;
  int highest = 0;
  std::string last_traceparent;

 private:
  Clock& clock_;
  int open_ = 0;
};

class PretendStore : public DocumentStore {
 public:
  explicit PretendStore(Clock& clock) : clock_(clock) {}

  Task<DocumentPtr> find(DocumentKey key) override {
    fail_if_down();
    ++finds;
    DocumentPtr seen = look(key).document;
    if (find_takes > 0s) co_await clock_.sleep_for(find_takes);
    co_return seen;
  }
  Task<bool> knows(DocumentKey key) override {
    fail_if_down();
    const Row row = look(key);
    co_return row.document || row.listed;
  }
  Task<DownloadState> download_state(DocumentKey key) override {
    fail_if_down();
    ++polls;
    const Row row = look(key);
    if (row.claim_until > clock_.wall()) co_return DownloadState::under_way;
    if (row.hold_until > clock_.wall()) co_return DownloadState::failed;
    co_return row.document ? DownloadState::stored : DownloadState::nothing;
  }
  Task<ClaimOutcome> claim(ClaimRequest request) override {
    fail_if_down();
    ++claims;
    Row& row = rows[request.key.path.text()];
    if (always_cached) co_return Cached{};
    if (row.claim_until > clock_.wall()) co_return Downloading{};
    const bool fresh = row.document && row.document->fetched_at + request.fresh_for > clock_.wall();
    if (fresh && !request.over_fresh) co_return Cached{};
    if (row.hold_until > clock_.wall() && !request.during_hold_down) co_return HeldDown{row.hold_until};
    row.claim_until = clock_.wall() + request.ttl;
    row.listed |= request.listed;
    row.token = ++last_token_;
    if (after_claim) after_claim();
    co_return Acquired{row.token};
  }
  Task<bool> renew(DocumentKey key, int64_t token, Duration ttl) override {
    Row& row = rows[key.path.text()];
    if (!renews || row.token != token) co_return false;
    row.claim_until = clock_.wall() + ttl;
    co_return true;
  }
  Task<DocumentPtr> complete(DocumentKey key, int64_t token, Document document) override {
    Row& row = rows[key.path.text()];
    if (row.token != token || row.claim_until == Time{}) co_return nullptr;
    auto stored = std::make_shared<Document>(std::move(document));
    if (row.document) {
      stored->forced |= row.document->forced;
      if (!stored->case_type) stored->case_type = row.document->case_type;
    }
    stored->change = ++changes;
    row = {.document = stored, .token = token, .change = changes, .listed = row.listed};
    co_return stored;
  }
  Task<> abort(DocumentKey key, int64_t token) override {
    Row& row = rows[key.path.text()];
    if (row.token == token) row.claim_until = {};
    if (row.claim_until == Time{} && !row.document && !row.listed && row.change == 0) rows.erase(key.path.text());
    co_return;
  }
  Task<> fail(DocumentKey key, int64_t token, Duration first, Duration) override {
    Row& row = rows[key.path.text()];
    if (row.token != token) co_return;
    row.claim_until = {};
    row.hold_until = clock_.wall() + first;
  }
  Task<int64_t> sweep() override {
    fail_if_down();
    ++sweeps;
    co_return 0;
  }
  Task<int64_t> last_change(std::string) override {
    fail_if_down();
    co_return changes;
  }
  Task<std::vector<Change>> changes_since(std::string, int64_t number) override {
    std::vector<Change> found;
    for (const auto& [path, row] : rows) {
      if (row.change > number) found.push_back({path, row.change, row.document && row.document->forced});
    }
    std::ranges::sort(found, {}, &Change::number);
    found.resize(std::min(found.size(), changes_at_once));
    co_return found;
  }
  Task<> note_asked(std::string, std::vector<std::string> paths) override {
    fail_if_down();
    for (const std::string& path : paths) asked.insert(path);
    co_return;
  }
  Task<int64_t> forget(std::string, Duration unused_for) override {
    fail_if_down();
    forget_after = unused_for;
    co_return 0;
  }
  Task<bool> purge(DocumentKey key) override {
    Row& row = rows[key.path.text()];
    const bool had = row.document != nullptr;
    row.document = nullptr;
    row.change = ++changes;
    co_return had;
  }

  struct Row {
    DocumentPtr document{};
    int64_t token = 0;
    Time claim_until{};
    Time hold_until{};
    int64_t change = 0;
    bool listed = false;
  };
  std::map<std::string, Row> rows;
  std::set<std::string> asked;
  Duration forget_after{0};
  std::function<void()> after_claim;
  int64_t changes = 0;
  size_t changes_at_once = 1000;
  int finds = 0;
  int claims = 0;
  int polls = 0;
  int sweeps = 0;
  bool down = false;
  bool renews = true;
  bool always_cached = false;
  Duration find_takes{0};

 private:
  void fail_if_down() const {
    if (down) throw EngineUnavailable("test", "down");
  }
  Row look(const DocumentKey& key) const {
    const auto found = rows.find(key.path.text());
    return found == rows.end() ? Row{} : found->second;
  }
  Clock& clock_;
  int64_t last_token_ = 0;
};

}  // namespace sluice::documents
