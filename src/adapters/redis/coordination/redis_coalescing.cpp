#include "adapters/redis/coordination/redis_coalescing.h"

#include <algorithm>

#include "adapters/redis/coordination/coalescing_script.h"
#include "base/check.h"

namespace sluice::redis {

using coordination::FetchAnswer;
using coordination::FetchOutcome;
using coordination::FetchRequest;
using coordination::RefreshAnswer;
using coordination::RefreshOutcome;
using coordination::RefreshRequest;
using coordination::Version;
using coordination::WaitingMessage;

namespace {

// One for each master of a cluster goes along with a request; those of servers long gone make room.
constexpr size_t most_runs = 64;

// A request that finds a server it does not know learns its floor and is sent again. More often than this in one
// request, servers change faster than we can ask.
constexpr int most_rounds = 5;

EngineUnavailable not_understood(const std::string& text) {
  return {engine_name, "unexpected reply of the coalescing script: " + text, EngineUnavailable::Retryable::no};
}

RefreshOutcome refresh_outcome(const std::string& text) {
  if (text == "published") return RefreshOutcome::published;
  if (text == "upgraded") return RefreshOutcome::upgraded;
  if (text == "already") return RefreshOutcome::already;
  if (text == "repeated") return RefreshOutcome::repeated;
  throw not_understood(text);
}

WaitingMessage message_at(const Reply& reply, size_t first) {
  return {static_cast<size_t>(reply[first].integer()), reply[first + 1].integer(),
          Time{Duration{reply[first + 2].integer()}}};
}

RefreshAnswer refresh_answer(const Reply& reply) {
  RefreshAnswer answer{refresh_outcome(reply[0].text()), message_at(reply, 1), {}};
  if (!answer.to_publish()) return answer;
  const WaitingMessage before = message_at(reply, 4);
  if (before.version > 0) answer.before = before;
  return answer;
}

FetchAnswer fetch_answer(const Reply& reply) {
  const std::string& outcome = reply[0].text();
  if (outcome == "obsolete") return {.outcome = FetchOutcome::obsolete};
  if (outcome == "busy") return {.outcome = FetchOutcome::busy, .busy_for = Duration{reply[1].integer()}};
  if (outcome == "run") return {.outcome = FetchOutcome::run, .covers = reply[1].integer()};
  throw not_understood(outcome);
}

void check_version(Version version) {
  check_that(version >= 0 && version < coordination::highest_version, "version {}", version);
}

}  // namespace

RedisCoalescing::RedisCoalescing(Redis& redis, coordination::VersionFloors& floors, coordination::CoalescingPlan plan,
                                 std::string name)
    : redis_(redis), floors_(floors), plan_(std::move(plan)), name_(std::move(name)) {}

Task<RefreshAnswer> RedisCoalescing::request(RefreshRequest request) {
  check_that(request.lane < plan_.lanes.size(), "lane {} of {}", request.lane, plan_.lanes.size());
  check_version(request.row);
  for (int round = 0; round < most_rounds; ++round) {
    Command asked = request_command(request);
    const Reply reply = co_await redis_.run(std::move(asked));
    if (reply[0].text() != "run") {
      const RefreshAnswer answer = refresh_answer(reply);
      if (reply.array().size() > 7) note_seen(reply[7].text(), answer.message.version);
      co_return answer;
    }
    std::string history = reply[1].text();
    co_await learn(std::move(history));
  }
  throw EngineUnavailable(engine_name, "the server was replaced repeatedly");
}

Task<bool> RedisCoalescing::unpublish(std::string item, RefreshAnswer answer) {
  const WaitingMessage before = answer.before.value_or(WaitingMessage{});
  Command asked = command("unpublish", item);
  for (const WaitingMessage& message : {answer.message, before}) {
    asked.arg(message.lane).arg(message.version).arg(message.since.time_since_epoch().count());
  }
  const Reply reply = co_await redis_.run(std::move(asked));
  co_return reply.integer() == 1;
}

Task<FetchAnswer> RedisCoalescing::look(FetchRequest request) {
  return fetch(std::move(request), Duration{0});
}

Task<FetchAnswer> RedisCoalescing::begin(FetchRequest request) {
  check_that(request.lane < plan_.lanes.size(), "lane {} of {}", request.lane, plan_.lanes.size());
  check(!request.owner.empty(), "a fetch has no owner");
  const Duration lease = plan_.lanes[request.lane].lease;
  return fetch(std::move(request), lease);
}

Task<FetchAnswer> RedisCoalescing::fetch(FetchRequest request, Duration lease) {
  check_version(request.version);
  check_version(request.row);
  // Repeatable: a second begin of the same owner changes nothing.
  Command asked = command("fetch", request.item)
                      .arg(request.version)
                      .arg(request.row)
                      .arg(request.owner)
                      .arg(lease.count())
                      .repeatable();
  const Reply reply = co_await redis_.run(std::move(asked));
  co_return fetch_answer(reply);
}

Task<> RedisCoalescing::finish(std::string item, std::string owner, Version covers) {
  check_version(covers);
  Command asked = command("finish", item).arg(owner).arg(covers).repeatable();
  co_await redis_.run(std::move(asked));
}

Task<> RedisCoalescing::abandon(std::string item, std::string owner, std::optional<Version> given_up) {
  Command asked = command("abandon", item).arg(owner).arg(given_up.value_or(0)).repeatable();
  co_await redis_.run(std::move(asked));
}

Command RedisCoalescing::command(std::string_view operation, const std::string& item) const {
  const std::string key = "sluice:coalescing:" + name_ + ":{" + item + "}";
  return Command(coalescing_script, {key})
      .arg(operation)
      .arg(std::chrono::ceil<std::chrono::milliseconds>(plan_.keep).count())
      .arg(plan_.longest_lease().count());
}

Command RedisCoalescing::request_command(const RefreshRequest& request) {
  Command asked = command("request", request.item).arg(request.lane).arg(request.row).arg(plan_.lanes.size());
  for (size_t lane = 0; lane < plan_.lanes.size(); ++lane) asked.arg(plan_.patience(lane, request.lags).count());
  const std::scoped_lock lock(mutex_);
  for (const Run& run : runs_) asked.arg(run.history).arg(run.floor.floor).arg(run.floor.began).arg(run.seen);
  return asked;
}

Task<> RedisCoalescing::learn(std::string history) {
  const coordination::RunFloor floor = co_await floors_.floor_of(history);
  const std::scoped_lock lock(mutex_);
  if (std::ranges::find(runs_, history, &Run::history) != runs_.end()) co_return;
  if (runs_.size() == most_runs) runs_.erase(runs_.begin());
  runs_.push_back({std::move(history), floor});
}

// Only of this run: the versions of a server must not run ahead of its own clock because of another server's.
void RedisCoalescing::note_seen(const std::string& history, Version version) {
  const std::scoped_lock lock(mutex_);
  const auto run = std::ranges::find(runs_, history, &Run::history);
  if (run != runs_.end()) run->seen = std::max(run->seen, version);
}

}  // namespace sluice::redis
