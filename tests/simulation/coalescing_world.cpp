#include "tests/simulation/coalescing_world.h"

#include <algorithm>

#include <fmt/format.h>

namespace sluice::test {

using coordination::FetchAnswer;
using coordination::FetchOutcome;
using coordination::RefreshAnswer;
using coordination::RefreshOutcome;

CoalescingWorld::CoalescingWorld(uint64_t seed) : chance_(seed), refreshed_(clock_.wall()) {
  take_over(true);
}

void CoalescingWorld::step(bool stormy) {
  ++steps_;
  clock_.advance(100ms);
  if (stormy) disturb();
  if (happens(0.5)) ask(stormy);
  work(stormy);
  if (happens(0.3)) replica_ = item_;
}

void CoalescingWorld::disturb() {
  if (happens(0.003)) item_ = {};               // wiped, with its clock going on
  if (happens(0.003)) take_over(happens(0.3));  // failover, or a restart without data
  if (happens(0.01) && !log_.empty()) log_.pop_front();
  if (happens(0.01) && !log_.empty()) log_.push_back(log_.front());
}

void CoalescingWorld::take_over(bool empty) {
  item_ = empty ? coordination::CoalescingItem{} : replica_;
  replica_ = item_;
  run_ = floors_.floor(fmt::format("run {}", ++runs_));
  skew_ = std::chrono::seconds(below(119)) - 59s;
}

void CoalescingWorld::ask(bool stormy) {
  const Time now = engine_time();
  const Version at_least = coordination::next_version(0, coordination::clock_version(now), run_);
  const RefreshAnswer answer = item_.request({"item", below(2), known_row(), {1s, 5s}}, plan_, at_least, now);
  if (!answer.to_publish()) return;
  const Version version = answer.message.version;
  if (answer.outcome == RefreshOutcome::repeated) {
    if (!issued_.contains(version)) wrong_ = fmt::format("{} is repeated but was never issued", version);
  } else {
    if (version <= highest_) wrong_ = fmt::format("{} is issued after {}", version, highest_);
    highest_ = std::max(highest_, version);
    issued_[version] = steps_;
  }
  publish(answer, stormy);
}

void CoalescingWorld::publish(const RefreshAnswer& answer, bool stormy) {
  const bool failed = stormy && happens(0.2);
  if (!failed) {
    ++published_;
    log_.push_back({answer.message.lane, answer.message.version});
  } else if (happens(0.8)) {
    item_.unpublish(answer);
  }  // else the caller crashed before it could take it back
}

void CoalescingWorld::work(bool stormy) {
  for (size_t i = 0; i < workers_.size();) {
    if (workers_[i].ends > clock_.wall()) {
      ++i;
      continue;
    }
    const Worker worker = workers_[i];
    workers_.erase(workers_.begin() + static_cast<std::ptrdiff_t>(i));
    if (worker.crashes) {
      log_.push_front(worker.message);  // it was not committed
    } else {
      end_fetch(worker, stormy);
    }
  }
  if (workers_.size() < 3 && !log_.empty()) take_message(stormy);
}

void CoalescingWorld::take_message(bool stormy) {
  const Message message = log_.front();
  log_.pop_front();
  const std::string owner = fmt::format("fetch {}", ++owners_);
  const coordination::FetchRequest request{"item", message.version, known_row(), message.lane, owner};
  const FetchAnswer answer = item_.begin(request, plan_, engine_time());
  switch (answer.outcome) {
    case FetchOutcome::obsolete: return note_obsolete(message.version);
    case FetchOutcome::busy: return log_.push_back(message);  // comes back later
    case FetchOutcome::run: break;
  }
  const bool slow = stormy && happens(0.05);  // paused, longer than any lease
  const Duration takes = slow ? Duration{100s} : std::chrono::milliseconds(100 + below(2000));
  workers_.push_back({.owner = owner,
                      .message = message,
                      .covers = answer.covers,
                      .began = steps_,
                      .began_at = clock_.wall(),
                      .ends = clock_.wall() + takes,
                      .crashes = stormy && happens(0.1)});
}

void CoalescingWorld::end_fetch(const Worker& worker, bool stormy) {
  if (stormy && happens(0.1)) {
    const bool dead_letter = happens(0.3);
    if (!dead_letter) log_.push_front(worker.message);
    item_.abandon(worker.owner, dead_letter ? std::optional(worker.message.version) : std::nullopt);
    return;
  }
  if (row_ < worker.covers) {
    row_ = worker.covers;
    refreshed_ = worker.began_at;
    ++stored_;
    fetches_.push_back({worker.covers, worker.began});
  }
  if (!(stormy && happens(0.1))) item_.finish(worker.owner, worker.covers);
}

void CoalescingWorld::note_obsolete(Version version) {
  const bool satisfied = std::ranges::any_of(
      fetches_, [&](const Fetch& fetch) { return fetch.covers >= version && fetch.began >= issued_.at(version); });
  if (!satisfied) wrong_ = fmt::format("{} was skipped, but no fetch that began after it was stored", version);
}

}  // namespace sluice::test
