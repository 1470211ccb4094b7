// The ports of documents in one process and in virtual time, with engines that can be made slow or fail.
//
// For testing the rules above them. PretendSlots passes the contract suite of Slots as real ones do
// (pretend_ports_test.cpp). Left out on purpose: PretendBreaker is open or closed as it is told to be.
#pragma once

#include <algorithm>
#include <functional>
#include <map>

#include "coordination/shared_breaker.h"
#include "coordination/slots.h"
#include "documents/origin.h"
#include "documents/static_copies.h"
#include "documents/testing/pretend_store.h"
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
  bool keeps = false;  // refuses to take slots back
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
  bool deaf = false;  // refuses reports of outcomes
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

}  // namespace sluice::documents
