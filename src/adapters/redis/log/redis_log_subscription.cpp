#include "adapters/redis/log/redis_log_subscription.h"

#include <algorithm>

#include "adapters/redis/client/together.h"
#include "runtime/log.h"

namespace sluice::redis {

using messaging::AssignmentRef;
using messaging::Fetched;
using messaging::Progress;

namespace {

constexpr Duration look_after_failure = 200ms;
// A partition's part of a fetch is not made smaller than this.
constexpr size_t least_bytes = 64 << 10;

std::set<std::string> set_of(const std::vector<std::string>& names) {
  return {names.begin(), names.end()};
}

}  // namespace

RedisSubscription::RedisSubscription(RedisLog& log, messaging::SubscriptionConfig config, Executor executor,
                                     const std::string& member)
    : log_(log),
      clock_(log.clock()),
      config_(std::move(config)),
      membership_(log.redis(), log.catalogue(), config_, member),
      leases_(log.redis(), config_.group, member, config_.session),
      ear_(log.news().listen(std::move(executor), set_of(config_.topics), config_.group)) {}

Task<Fetched> RedisSubscription::fetch(size_t most, Deadline deadline) {
  while (true) {
    failure_.reset();
    take_news();
    if (clock_.now() >= tend_at_) co_await tend();
    std::vector<Read> reads = co_await read(most);
    Fetched fetched = hand_over(std::move(reads));
    if (!fetched.empty()) co_return fetched;
    if (failure_) throw *failure_;
    if (deadline.passed(clock_)) co_return fetched;
    // One may have been resumed meanwhile.
    if (anything_readable()) continue;
    co_await ear_->wait_until(clock_, std::min(deadline.at, tend_at_));
  }
}

void RedisSubscription::take_news() {
  const LogNews::Heard heard = ear_->take();
  if (heard.everything || heard.subjects.contains(log_news_of_group(config_.group))) tend_at_ = clock_.now();
  for (const auto& [partition, owned] : owned_) {
    if (heard.subjects.contains(log_news_of(partition))) owned->more = true;
  }
}

bool RedisSubscription::anything_readable() const {
  return std::ranges::any_of(owned_, [](const auto& entry) { return entry.second->readable(); });
}

std::vector<RedisSubscription::Read> RedisSubscription::choose(size_t most) {
  std::vector<Read> reads;
  const auto turn = owned_.upper_bound(last_read_);
  const auto choose_from = [&](auto begin, auto end) {
    for (; begin != end && reads.size() < most; ++begin) {
      if (begin->second->readable()) reads.push_back({begin->second});
    }
  };
  choose_from(turn, owned_.end());
  choose_from(owned_.begin(), turn);
  if (!reads.empty()) last_read_ = reads.back().owned->id;
  return reads;
}

Task<std::vector<RedisSubscription::Read>> RedisSubscription::read(size_t most) {
  std::vector<Read> reads = choose(most);
  if (reads.empty()) co_return reads;
  const size_t each = most / reads.size();
  const size_t bytes_each = std::max(least_bytes, messaging::bytes_at_once / reads.size());
  std::vector<Task<>> tasks;
  for (Read& one : reads) tasks.push_back(read_one(one, each, bytes_each));
  co_await together(std::move(tasks));
  co_return reads;
}

Task<> RedisSubscription::read_one(Read& read, size_t most, size_t most_bytes) {
  try {
    read.page = co_await leases_.read(read.owned, most, most_bytes);
    read.answered = true;
  } catch (const EngineUnavailable& error) {
    failed(error);
  }
}

// Nothing is awaited here: a fetch that is cancelled has read nothing.
Fetched RedisSubscription::hand_over(std::vector<Read> reads) {
  Fetched fetched;
  for (Read& read : reads) {
    LeasedPartition& owned = *read.owned;
    if (!read.answered || owned.ended) continue;
    if (!read.page) {
      lose(read.owned);
      continue;
    }
    // Paused or asked back meanwhile: read again when it is resumed, or by the next owner.
    if (owned.paused || owned.leave_by) continue;
    owned.more = !read.page->at_end;
    if (read.page->messages.empty()) continue;
    owned.next = read.page->messages.back().offset + 1;
    log_.catalogue().saw(owned.id, owned.next - 1);
    std::ranges::move(read.page->messages, std::back_inserter(fetched.deliveries));
  }
  fetched.leaving = std::exchange(leaving_, {});
  fetched.lost = std::exchange(lost_, {});
  return fetched;
}

Task<> RedisSubscription::commit(std::vector<Progress> progress) {
  std::vector<Task<>> commits;
  for (const Progress& one : progress) {
    if (const LeasedPartitionRef found = owned(one.assignment)) commits.push_back(commit_one(found, one.next));
  }
  co_await together(std::move(commits));
}

Task<> RedisSubscription::commit_one(LeasedPartitionRef owned, int64_t next) {
  const bool held = co_await leases_.commit(owned, next);
  if (!held) lose(owned);
}

void RedisSubscription::pause(const AssignmentRef& assignment) {
  if (const LeasedPartitionRef found = owned(assignment)) found->paused = true;
}

void RedisSubscription::resume(const AssignmentRef& assignment) {
  const LeasedPartitionRef found = owned(assignment);
  if (!found) return;
  found->paused = false;
  found->more = true;
  ear_->nudge();
}

Task<> RedisSubscription::let_go(AssignmentRef assignment) {
  const LeasedPartitionRef found = owned(assignment);
  if (!found) co_return;
  end(found);
  co_await leases_.let_go(found);
}

Task<> RedisSubscription::close() {
  std::vector<Task<>> farewells;
  for (const auto& [partition, owned] : owned_) farewells.push_back(leases_.let_go(owned));
  owned_.clear();
  farewells.push_back(membership_.leave());
  try {
    co_await together(std::move(farewells));
  } catch (const EngineUnavailable& error) {
    // Others take over when the session is over.
    log::warning("leaving a consumer group failed", {{"group", config_.group}, {"error", error.what()}});
  }
}

LeasedPartitionRef RedisSubscription::owned(const AssignmentRef& assignment) const {
  const auto found = owned_.find({assignment->topic, assignment->partition});
  return found != owned_.end() && found->second->assignment == assignment ? found->second : nullptr;
}

void RedisSubscription::end(LeasedPartitionRef owned) {
  owned->ended = true;
  // A partition that has gone need not be announced as leaving.
  std::erase(leaving_, owned->assignment);
  const auto found = owned_.find(owned->id);
  if (found != owned_.end() && found->second == owned) owned_.erase(found);
}

void RedisSubscription::lose(const LeasedPartitionRef& owned) {
  if (owned->ended) return;
  lost_.push_back(owned->assignment);
  end(owned);
  tend_by(clock_.now());
}

void RedisSubscription::failed(const EngineUnavailable& error) {
  if (!failure_) failure_ = error;
  tend_by(clock_.now() + look_after_failure);
}

}  // namespace sluice::redis
