// Instances of one origin's documents in virtual time, over pretended ports.
#pragma once

#include <deque>

#include <gtest/gtest.h>

#include "coordination/testing/pretend_limit.h"
#include "documents/origin_documents.h"
#include "documents/testing/pretend_ports.h"
#include "runtime/virtual_clock.h"

namespace sluice::documents {

inline constexpr Duration fresh_for = 24h;

struct Reading {
  std::optional<Lookup> lookup;
  Instant at{};

  bool served() const { return lookup && lookup->has_value(); }
  std::string body() const { return served() ? (*lookup)->document->body : ""; }
  std::optional<Source> source() const { return served() ? std::optional((*lookup)->source) : std::nullopt; }
  std::optional<Reason> degraded() const { return served() ? (*lookup)->degraded : std::nullopt; }
  bool is(Refusal kind) const { return lookup && !*lookup && lookup->error().kind == kind; }
  std::optional<Reason> refused() const { return lookup && !*lookup ? lookup->error().reason : std::nullopt; }
};

struct OriginDocumentsTest : testing::Test {
  ~OriginDocumentsTest() override {
    readers.cancel();
    scope.cancel();
    context.restart();
    context.poll();
  }

  static OriginConfig often() {
    OriginConfig config;
    config.name = "o";
    config.base_url = "http://127.0.0.1/";
    config.fresh_for = fresh_for;
    config.max_per_second = 1000;
    config.strangers_per_second = 1000;
    return config;
  }
  OriginDocuments& instance(const std::string& owner = "me") {
    const OriginConfig config = often();
    const OriginParts parts{store, static_copies, origin, slots, limit, breaker, clock, random, owner};
    return *instances.emplace_back(std::make_unique<OriginDocuments>(config, parts, scope, context.get_executor()));
  }

  static Task<> note(Clock& clock, Task<Lookup> asked, Reading& reading) {
    reading.lookup = co_await std::move(asked);
    reading.at = clock.now();
  }
  static Task<> purge(OriginDocuments& documents, DocumentPath path) { co_await documents.purge(std::move(path)); }
  Reading& ask(Task<Lookup> asked, TaskScope& from) {
    Reading& reading = readings.emplace_back();
    from.spawn("reader", note(clock, std::move(asked), reading));
    return reading;
  }
  Reading& get(OriginDocuments& documents, bool fetch = true) { return ask(documents.get(path, fetch), readers); }
  Reading& get_path(OriginDocuments& documents, const std::string& text) {
    return ask(documents.get(DocumentPath::parse(text).value(), true), readers);
  }
  Reading& refresh(OriginDocuments& documents, bool force, std::optional<std::string> case_type = std::nullopt) {
    RefreshRequest request{path, std::move(case_type), force};
    return ask(documents.refresh(std::move(request)), readers);
  }
  // Another process holds every slot.
  static Task<> occupy(coordination::Slots& slots) {
    for (int i = 0; i < 2; ++i) co_await slots.take("origin/o", 2, "other", 1h);
    co_await slots.take("origin/o/shared", 1, "other", 1h);
  }
  void pass(Duration time) { clock.run(context, clock.now() + time); }
  Reading& get_now(OriginDocuments& documents) {
    Reading& reading = get(documents);
    pass(30s);
    return reading;
  }
  void store_copy(std::string body, Duration age) {
    store.rows[path.text()].document = make_document(std::move(body), clock.wall() - age);
  }

  asio::io_context context;
  VirtualClock clock;
  SeededRandom random{1};
  PretendStore store{clock};
  PretendStatic static_copies;
  PretendOrigin origin{clock};
  PretendSlots slots{clock};
  coordination::PretendLimit limit{rate_plan(often()), clock};
  PretendBreaker breaker;
  const DocumentPath path = DocumentPath::parse("a/b.xml").value();
  TaskScope scope{context.get_executor()};
  std::vector<std::unique_ptr<OriginDocuments>> instances;
  std::deque<Reading> readings;
  TaskScope readers{context.get_executor()};
};

}  // namespace sluice::documents
