// Many ask for an item to be refreshed; it is fetched once, and never forgotten.
//
// A caller that wants an item refreshed asks here whether to publish a message; a consumer of a message asks here
// whether to fetch. Three things must not happen: that a crowd publishes a message each; that a message in a slow lane
// delays an urgent caller; that an item requested all the time is never fetched, because each message is skipped for a
// newer one. So: **a fetch satisfies every version issued before it began**, and a message is skipped only when such a
// fetch has succeeded.
//
//   ask:    RefreshAnswer answer = co_await coalescing.request(request);
//           if (answer.to_publish()) publish(answer.message), and if that fails: co_await coalescing.unpublish(item,
//           answer);
//   fetch:  FetchAnswer answer = co_await coalescing.look(message);  obsolete: done. Else wait for the upstream's
//   budget;
//           answer = co_await coalescing.begin(message);             now it may run: fetch
//           store the row with answer.covers where its version is lower, then co_await coalescing.finish(...);
//           where it failed: co_await coalescing.abandon(...).
//
// Each call is one atomic step on the engine's clock, correct with any number of instances. The versions are those of
// version_floors.h: they never repeat and never go back. The state here may be lost at any time: then an item is
// fetched once more than needed, nothing else. A call with an unknown outcome (EngineUnavailable) may have taken
// effect: a message that was not published is presumed lost after a while and requested again.
//
// Every implementation passes tests/contract/coalescing_contract.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coordination/coalescing_plan.h"
#include "coordination/version_floors.h"

namespace sluice::coordination {

struct RefreshRequest {
  std::string item;
  size_t lane = 0;  // of the plan
  Version row = 0;  // of the stored row; 0 if there is none
  // How long messages of each lane wait at present; shorter where it is not known.
  std::vector<Duration> lags = {};
};

// A message that was published and is not satisfied yet.
struct WaitingMessage {
  size_t lane = 0;
  Version version = 0;
  Time since;

  bool operator==(const WaitingMessage&) const = default;
};

enum class RefreshOutcome {
  published,  // nothing was waiting: publish
  upgraded,   // a message waits in a less urgent lane: publish, in the lane asked for
  already,    // a fetch is running, or a message waits in this lane or a more urgent one: nothing to do
  repeated,   // the waiting message is presumed lost: publish it again, in its lane, with its version
};

struct RefreshAnswer {
  RefreshOutcome outcome = RefreshOutcome::already;
  // The message to publish. For `already` the waiting message; if only a fetch is running, its version.
  WaitingMessage message;
  std::optional<WaitingMessage> before;  // the previous waiting message, for unpublish

  bool to_publish() const { return outcome != RefreshOutcome::already; }
};

struct FetchRequest {
  std::string item;
  Version version = 0;  // of the message
  Version row = 0;      // of the stored row
  size_t lane = 0;
  // Identifies this fetch: a worker with two messages of an item uses two.
  std::string owner;
};

enum class FetchOutcome {
  run,       // fetch
  obsolete,  // satisfied: commit the message and go on
  busy,      // another fetch is running: retry later
};

struct FetchAnswer {
  FetchOutcome outcome = FetchOutcome::run;
  Version covers = 0;    // of `run`: the version under which to store the result
  Duration busy_for{0};  // of `busy`: at the longest
};

class Coalescing {
 public:
  virtual ~Coalescing() = default;

  // Tells one of any number of concurrent callers to publish.
  virtual Task<RefreshAnswer> request(RefreshRequest request) = 0;

  // The message of `answer` could not be published: the previous message waits again. False, and nothing changes, if
  // another message waits by now (or none): one of several callers gets true.
  virtual Task<bool> unpublish(std::string item, RefreshAnswer answer) = 0;

  // The result that `begin` would return. Changes nothing for others.
  virtual Task<FetchAnswer> look(FetchRequest request) = 0;

  // `run`: the fetch begins now and the item belongs to its owner for the lane's lease. A repeated call by the same
  // owner restarts it.
  virtual Task<FetchAnswer> begin(FetchRequest request) = 0;

  // The row has `covers` or a higher version: everything up to it is satisfied, regardless of the item's current owner.
  virtual Task<> finish(std::string item, std::string owner, Version covers) = 0;

  // The fetch did not succeed: the item is free at once if `owner` still has it. `given_up` is the version of a message
  // that will not come again (it went to the dead letters): it does not wait any more. Without it the message is
  // expected again.
  virtual Task<> abandon(std::string item, std::string owner, std::optional<Version> given_up = std::nullopt) = 0;
};

}  // namespace sluice::coordination
