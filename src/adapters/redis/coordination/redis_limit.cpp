#include "adapters/redis/coordination/redis_limit.h"

#include "adapters/redis/client/redis.h"
#include "adapters/redis/coordination/limit_scripts.h"
#include "base/check.h"

namespace sluice::redis {

using coordination::Drawn;
using coordination::LimitRing;

RedisLimit::RedisLimit(Redis& redis, coordination::LimitPlan plan, Clock& clock)
    : redis_(redis), plan_(std::move(plan)), clock_(clock) {
  check_that(plan_.name.find_first_of("{}") == std::string::npos, "a limit named {}", plan_.name);
  for (size_t priority = 0; priority < plan_.priority.size(); ++priority) {
    Account& account = accounts_.emplace_back();
    for (const size_t window : plan_.windows_of(priority)) {
      account.keys.push_back(window_key(window));
      for (std::string& argument : ring_arguments(window)) account.rings.push_back(std::move(argument));
    }
    account.most_at_once = plan_.most_at_once(priority);
    if (!plan_.priority[priority].days.empty()) account.keys.push_back(credit_key(priority));
    for (const size_t better : plan_.betters_of(priority)) {
      account.keys.push_back(mark_key(better));
      ++account.betters;
      accounts_[better].keeps_back = true;
    }
  }
  for (size_t priority = 0; priority < plan_.priority.size(); ++priority) {
    if (accounts_[priority].keeps_back) accounts_[priority].keys.push_back(mark_key(priority));
  }
  for (size_t window = 0; window < plan_.window.size(); ++window) {
    all_.keys.push_back(window_key(window));
    for (std::string& argument : ring_arguments(window)) all_.rings.push_back(std::move(argument));
  }
}

std::string RedisLimit::window_key(size_t window) const {
  return fmt::format("{{limit:{}}}:window:{}", plan_.name, plan_.window[window].name);
}

std::string RedisLimit::credit_key(size_t priority) const {
  return fmt::format("{{limit:{}}}:credit:{}", plan_.name, plan_.priority[priority].name);
}

std::string RedisLimit::mark_key(size_t priority) const {
  return fmt::format("{{limit:{}}}:wanted:{}", plan_.name, plan_.priority[priority].name);
}

std::vector<std::string> RedisLimit::ring_arguments(size_t window) const {
  const int64_t most = plan_.window[window].most;
  const int64_t grain = LimitRing::grain_of(most);
  const int64_t span = plan_.span(plan_.window[window]).count();
  return {std::to_string(most / grain), std::to_string(grain), std::to_string(span)};
}

Task<Drawn> RedisLimit::draw(size_t priority, int64_t least, int64_t most) {
  const Account& account = accounts_.at(priority);
  Command command(draw_permits, account.keys);
  // A request for more than the plan ever allows leaves no mark.
  const bool marks = account.keeps_back && least <= account.most_at_once;
  const auto mark_stands = std::chrono::duration_cast<std::chrono::milliseconds>(coordination::wanted_for).count();
  command.arg(least).arg(most).arg(plan_.priority[priority].days.empty() ? 0 : 1);
  command.arg(static_cast<int64_t>(account.betters)).arg(marks ? mark_stands : 0);
  for (const std::string& argument : account.rings) command.arg(argument);
  const Instant sent = clock_.now();
  const Reply reply = co_await redis_.run(std::move(command));
  co_return Drawn{.given = reply[0].integer(),
                  .stamp = reply[1].integer(),
                  .wait = Duration{reply[2].integer()},
                  .lacks_credit = reply[3].integer() != 0,
                  .credit = reply[4].integer(),
                  .sent = sent};
}

Task<> RedisLimit::deposit(size_t priority, int64_t permits, Duration lasts) {
  Command command(deposit_credit, {credit_key(priority)});
  command.arg(permits).arg(lasts.count());
  co_await redis_.run(std::move(command));
}

Task<std::vector<int64_t>> RedisLimit::remaining() {
  Command command(count_remaining, all_.keys);
  for (const std::string& argument : all_.rings) command.arg(argument);
  const Reply reply = co_await redis_.run(std::move(command));
  std::vector<int64_t> counts;
  for (const Reply& count : reply.array()) counts.push_back(count.integer());
  co_return counts;
}

}  // namespace sluice::redis
