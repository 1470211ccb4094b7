// A DocumentStore in memory and in virtual time, that can be made slow or fail.
//
// For testing the rules above it. It passes the contract suites of DocumentStore as real ones do
// (pretend_ports_test.cpp). Left out on purpose: it has one origin and serves one thread.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "documents/document_store.h"
#include "runtime/clock.h"
#include "runtime/errors.h"

namespace sluice::documents {

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
  Task<ClaimOutcome> claim(DownloadClaim request) override {
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
    row.asked_at = clock_.wall();
    row.token = ++last_token_;
    if (after_claim) after_claim();
    co_return Acquired{row.token};
  }
  Task<bool> renew(DocumentKey key, int64_t token, Duration ttl) override {
    Row* const row = claimed(key, token);
    if (!renews || row == nullptr) co_return false;
    row->claim_until = clock_.wall() + ttl;
    co_return true;
  }
  Task<DocumentPtr> complete(DocumentKey key, int64_t token, Document document) override {
    Row* const row = claimed(key, token);
    if (row == nullptr) co_return nullptr;
    auto stored = std::make_shared<Document>(std::move(document));
    if (row->document) {
      stored->forced |= row->document->forced;
      if (!stored->case_type) stored->case_type = row->document->case_type;
    }
    stored->fetched_at = clock_.wall();
    stored->change = ++changes;
    *row = {.document = stored, .token = token, .change = changes, .listed = row->listed, .asked_at = clock_.wall()};
    co_return stored;
  }
  Task<> abort(DocumentKey key, int64_t token) override {
    Row* const row = claimed(key, token);
    if (row == nullptr) co_return;
    row->claim_until = {};
    if (row->is_stranger()) rows.erase(key.path.text());
  }
  Task<> fail(DocumentKey key, int64_t token, Duration first, Duration longest) override {
    Row* const row = claimed(key, token);
    if (row == nullptr) co_return;
    row->claim_until = {};
    row->hold_until = clock_.wall() + std::min(longest, first * (1 << std::min(row->failures++, 20)));
  }
  Task<int64_t> sweep() override {
    fail_if_down();
    ++sweeps;
    int64_t ended = 0;
    for (auto at = rows.begin(); at != rows.end();) {
      Row& row = at->second;
      const bool expired = row.claim_until != Time{} && row.claim_until <= clock_.wall();
      if (expired) row.claim_until = {};
      ended += expired ? 1 : 0;
      at = expired && row.is_stranger() ? rows.erase(at) : std::next(at);
    }
    co_return ended;
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
    for (const std::string& path : paths) {
      asked.insert(path);
      const auto row = rows.find(path);
      if (row != rows.end()) row->second.asked_at = clock_.wall();
    }
    co_return;
  }
  Task<int64_t> forget(std::string, Duration unused_for) override {
    fail_if_down();
    forget_after = unused_for;
    const Time now = clock_.wall();
    const size_t forgotten = std::erase_if(rows, [=](const auto& one) {
      return one.second.claim_until <= now && one.second.asked_at <= now - unused_for;
    });
    co_return static_cast<int64_t>(forgotten);
  }
  Task<bool> purge(DocumentKey key) override {
    const auto found = rows.find(key.path.text());
    if (found == rows.end() || !found->second.document) co_return false;
    Row& row = found->second;
    row.document = nullptr;
    row.hold_until = {};
    row.failures = 0;
    row.change = ++changes;
    co_return true;
  }

  struct Row {
    DocumentPtr document{};
    int64_t token = 0;
    Time claim_until{};
    Time hold_until{};
    int64_t change = 0;
    bool listed = false;
    Time asked_at = Time::max();  // a row that a test made is never forgotten
    int failures = 0;

    // Nothing is kept of it but its claim.
    bool is_stranger() const { return claim_until == Time{} && !document && !listed && change == 0; }
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
  // Nothing where the claim was lost.
  Row* claimed(const DocumentKey& key, int64_t token) {
    const auto found = rows.find(key.path.text());
    if (found == rows.end()) return nullptr;
    Row& row = found->second;
    return row.token == token && row.claim_until != Time{} ? &row : nullptr;
  }
  Row look(const DocumentKey& key) const {
    const auto found = rows.find(key.path.text());
    return found == rows.end() ? Row{} : found->second;
  }
  Clock& clock_;
  int64_t last_token_ = 0;
};

}  // namespace sluice::documents
