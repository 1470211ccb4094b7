// Many ask for an item to be refreshed; it is fetched once, and never forgotten.
//
// Whoever wants an item fresh asks here first and is told whether to publish a message; whoever takes a message from
// the log asks here whether to fetch. Three things must not happen: that a crowd publishes a message each; that a
// message in a slow lane holds up somebody in a hurry; that an item asked for all the time is never fetched, because
// each message is skipped for a newer one. So: **a fetch satisfies every version issued before it began**, and a
// message is skipped only when such a fetch has ended well.
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
// Each call is one atomic step on the engine's clock, right with any number of instances. The versions are those of
// version_floors.h: they never repeat and never go back. What is kept here may be lost at any time: then an item is
// fetched once more than needed, nothing else. An answer that did not arrive (EngineUnavailable) may have taken effect:
// the message that nobody published is presumed lost after a while and asked for again.
//
// Every implementation passes tests/contract/coalescing_contract.h.
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
  Version row = 0;  // of what is stored; 0 where nothing is
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
  // What to publish. Of `already` the message that is waited for; where only a fetch is running, its version.
  WaitingMessage message;
  std::optional<WaitingMessage> before;  // what was waiting, for unpublish

  bool to_publish() const { return outcome != RefreshOutcome::already; }
};

struct FetchRequest {
  std::string item;
  Version version = 0;  // of the message
  Version row = 0;      // of what is stored
  size_t lane = 0;
  // Names this one fetch: a worker that has two messages of an item in hand uses two.
  std::string owner;
};

enum class FetchOutcome {
  run,       // fetch
  obsolete,  // satisfied: commit the message and go on
  busy,      // somebody else's fetch runs: come back
};

struct FetchAnswer {
  FetchOutcome outcome = FetchOutcome::run;
  Version covers = 0;    // of `run`: the version to store what is fetched with
  Duration busy_for{0};  // of `busy`: at the longest
};

class Coalescing {
 public:
  virtual ~Coalescing() = default;

  // Of any number of callers at once one is told to publish.
  virtual Task<RefreshAnswer> request(RefreshRequest request) = 0;

  // The message of `answer` could not be published: what was waiting before waits again. False, and nothing changes,
  // where something else waits by now (or nothing): of several callers one gets true.
  virtual Task<bool> unpublish(std::string item, RefreshAnswer answer) = 0;

  // What `begin` would say. Changes nothing for others.
  virtual Task<FetchAnswer> look(FetchRequest request) = 0;

  // `run`: the fetch begins now and the item is its owner's for the lane's lease. Again as the same owner: begins anew.
  virtual Task<FetchAnswer> begin(FetchRequest request) = 0;

  // The row has `covers` or a higher version: everything up to it is satisfied, whoever holds the item now.
  virtual Task<> finish(std::string item, std::string owner, Version covers) = 0;

  // The fetch did not succeed: the item is free at once if `owner` still has it. `given_up` is the version of a message
  // that will not come again (it went to the dead letters): it does not wait any more. Without it the message is
  // expected again.
  virtual Task<> abandon(std::string item, std::string owner, std::optional<Version> given_up = std::nullopt) = 0;
};

}  // namespace sluice::coordination
