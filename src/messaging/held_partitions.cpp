#include "messaging/held_partitions.h"

#include <algorithm>

namespace sluice::messaging {
namespace {

bool leaves(const HeldPartition& held, Instant now) {
  return held.leave_by && (held.prefix.unfinished() == 0 || now >= *held.leave_by);
}

}  // namespace

const HeldRef& HeldPartitions::of(const AssignmentRef& assignment) {
  HeldRef& held = held_[assignment.get()];
  if (!held) held = std::make_shared<HeldPartition>(assignment);
  return held;
}

size_t HeldPartitions::room() const {
  size_t room = std::min(config_.batch, config_.in_work);
  for (const auto& [assignment, held] : held_) {
    if (held->paused) continue;
    room = std::min({room, config_.in_work - held->prefix.unfinished(), config_.window - held->prefix.span()});
  }
  return std::max<size_t>(1, room);
}

void HeldPartitions::pause_full(Subscription& subscription) {
  for (const auto& [assignment, held] : held_) {
    if (held->paused || !full(*held)) continue;
    held->paused = true;
    subscription.pause(held->assignment);
  }
}

void HeldPartitions::pause_all(Subscription& subscription) {
  for (const auto& [assignment, held] : held_) {
    if (!held->paused) subscription.pause(held->assignment);
    held->paused = true;
  }
}

void HeldPartitions::resume_if_empty(HeldPartition& held, Subscription& subscription) const {
  if (!held.paused || held.leave_by || held.ended || !empty(held)) return;
  held.paused = false;
  subscription.resume(held.assignment);
}

void HeldPartitions::ask_back(const AssignmentRef& assignment, Instant now) {
  // The rest is for committing and letting go.
  of(assignment)->leave_by = now + config_.handover * 3 / 4;
}

void HeldPartitions::lose(const AssignmentRef& assignment) {
  const auto held = held_.find(assignment.get());
  if (held == held_.end()) return;
  held->second->ended = true;
  held_.erase(held);
}

std::vector<Progress> HeldPartitions::progress() const {
  std::vector<Progress> progress;
  for (const auto& [assignment, held] : held_) {
    const std::optional<int64_t> next = held->prefix.next();
    if (next && next != held->committed) progress.push_back({held->assignment, *next});
  }
  return progress;
}

void HeldPartitions::committed(const std::vector<Progress>& progress) {
  for (const Progress& made : progress) {
    const auto held = held_.find(made.assignment.get());
    if (held != held_.end()) held->second->committed = made.next;
  }
}

bool HeldPartitions::any_leaving(Instant now) const {
  return std::ranges::any_of(held_, [now](const auto& entry) { return leaves(*entry.second, now); });
}

std::vector<HeldRef> HeldPartitions::end_leaving(Instant now) {
  std::vector<HeldRef> leaving;
  for (const auto& [assignment, held] : held_) {
    if (!leaves(*held, now)) continue;
    held->ended = true;
    leaving.push_back(held);
  }
  return leaving;
}

}  // namespace sluice::messaging
