#include "adapters/redis/coordination/redis_leases.h"

#include <map>

#include <fmt/format.h>

#include "adapters/redis/client/hash_slots.h"
#include "adapters/redis/client/together.h"

namespace sluice::redis {

using coordination::Lease;
using coordination::LeaseHolder;
using coordination::LeaseToken;
using coordination::Renewal;

namespace {

// Leases share a few hash tags, so that one call renews many of them also in a cluster.
constexpr int buckets = 64;
// Limit on leases in one call: a hundred take Redis about 0.2 ms.
constexpr size_t most_in_call = 100;

// A lease's value is "TOKEN OWNER".

const Script acquire_script{R"(
-- KEYS  the lease, the bucket's last token
-- ARGV  owner, ttl (ms)
if redis.call('EXISTS', KEYS[1]) == 1 then return false end

-- The clock makes it grow also after the last one was forgotten. It leaves as text: Lua would write an exponent.
local time = redis.call('TIME')
local token = math.max(tonumber(redis.call('GET', KEYS[2]) or 0) + 1, time[1] * 1000000 + time[2])
token = string.format('%.0f', token)
redis.call('SET', KEYS[2], token)
redis.call('SET', KEYS[1], token .. ' ' .. ARGV[1], 'PX', ARGV[2])
return token
)"};

const Script renew_script{R"(
-- KEYS  leases
-- ARGV  ttl (ms), then the token of each
-- Returns the positions of those that are still held.
local renewed = {}
for i, key in ipairs(KEYS) do
  local value = redis.call('GET', key)
  if value and string.match(value, '^%d+') == ARGV[i + 1] then
    redis.call('PEXPIRE', key, ARGV[1])
    renewed[#renewed + 1] = i
  end
end
return renewed
)"};

const Script release_script{R"(
-- KEYS  the lease
-- ARGV  token
local value = redis.call('GET', KEYS[1])
if value and string.match(value, '^%d+') == ARGV[1] then redis.call('DEL', KEYS[1]) end
)"};

const Script look_script{R"(
-- KEYS  the lease
-- ARGV  1 to end it
local value = redis.call('GET', KEYS[1])
if not value then return false end
local time = redis.call('TIME')
local ends = time[1] * 1000000 + time[2] + 1000 * redis.call('PTTL', KEYS[1])
if ARGV[1] == '1' then redis.call('DEL', KEYS[1]) end
return {value, string.format('%.0f', ends)}
)"};

std::string tag_of(const std::string& key) {
  return fmt::format("sluice:leases:{{{}}}", slot_of(key) % buckets);
}

int64_t milliseconds(Duration ttl) {
  return std::max<int64_t>(1, std::chrono::ceil<std::chrono::milliseconds>(ttl).count());
}

}  // namespace

std::string RedisLeases::place_of(const std::string& key) {
  return tag_of(key) + ":key:" + key;
}

Task<std::optional<LeaseToken>> RedisLeases::acquire(std::string key, std::string owner, Duration ttl) {
  const std::string last = tag_of(key) + ":last";
  Command command = Command(acquire_script, {place_of(key), last}).arg(owner).arg(milliseconds(ttl));
  const Reply reply = co_await redis_.run(std::move(command));
  if (reply.is_nil()) co_return std::nullopt;
  co_return reply.integer();
}

Task<Renewal<Lease>> RedisLeases::renew(std::vector<Lease> leases, Duration ttl) {
  std::map<std::string, std::vector<Lease>> by_tag;
  for (Lease& lease : leases) by_tag[tag_of(lease.key)].push_back(std::move(lease));
  Renewal<Lease> renewal;
  // At once: a node that does not answer costs its own leases the time, and no others.
  std::vector<Task<>> calls;
  for (const auto& [tag, all] : by_tag) {
    for (size_t begin = 0; begin < all.size(); begin += most_in_call) {
      const auto end = all.begin() + static_cast<ptrdiff_t>(std::min(begin + most_in_call, all.size()));
      std::vector<Lease> some(all.begin() + static_cast<ptrdiff_t>(begin), end);
      calls.push_back(renew_some(std::move(some), ttl, renewal));
    }
  }
  co_await together(std::move(calls));
  co_return renewal;
}

Task<> RedisLeases::renew_some(std::vector<Lease> leases, Duration ttl, Renewal<Lease>& renewal) {
  std::vector<std::string> places;
  for (const Lease& lease : leases) places.push_back(place_of(lease.key));
  Command command = Command(renew_script, places).arg(milliseconds(ttl)).repeatable();
  for (const Lease& lease : leases) command.arg(lease.token);
  try {
    const Reply renewed = co_await redis_.run(std::move(command));
    for (const Reply& position : renewed.array()) {
      renewal.renewed.push_back(leases.at(static_cast<size_t>(position.integer() - 1)));
    }
  } catch (const EngineUnavailable& error) {
    // A part of the cluster is away; the other parts' leases must not suffer.
    renewal.failure = error.what();
    std::ranges::move(leases, std::back_inserter(renewal.unknown));
  }
}

Task<> RedisLeases::release(Lease lease) {
  Command command = Command(release_script, {place_of(lease.key)}).arg(lease.token).repeatable();
  co_await redis_.run(std::move(command));
}

Task<std::optional<LeaseHolder>> RedisLeases::holder(std::string key) {
  return look(std::move(key), Look::only);
}

Task<std::optional<LeaseHolder>> RedisLeases::end_any(std::string key) {
  return look(std::move(key), Look::and_end);
}

Task<std::optional<LeaseHolder>> RedisLeases::look(std::string key, Look look) {
  Command command = Command(look_script, {place_of(key)}).arg(look == Look::and_end ? 1 : 0);
  if (look == Look::only) command.repeatable();
  const Reply reply = co_await redis_.run(std::move(command));
  if (reply.is_nil()) co_return std::nullopt;
  const std::string& value = reply[0].text();
  const size_t space = value.find(' ');
  const Time until{Duration{reply[1].integer()}};
  co_return LeaseHolder{value.substr(space + 1), std::stoll(value), until};
}

}  // namespace sluice::redis
