#include "adapters/redis/coordination/redis_cache.h"

#include "base/check.h"

namespace sluice::redis {
namespace {

using coordination::CacheAnswer;
using coordination::CachedCopy;
using coordination::CacheEntry;
using coordination::LoadTicket;
using coordination::TicketWish;

// Fields of the hash: body (absent if it is known to have none), fresh and keep (microseconds of the server's clock;
// absent without a copy), cost, ticket and claimed (until when).

// ARGV: ticket ("0": only looking), its ttl, eagerness. Gives: granted, known, left of the fresh time, cost, body.
const Script look_up_script{R"(
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local kept = redis.call('HMGET', KEYS[1], 'body', 'fresh', 'keep', 'cost', 'ticket', 'claimed')
local known = kept[3] and tonumber(kept[3]) > now
local left = known and tonumber(kept[2]) - now or 0
local cost = known and tonumber(kept[4]) or 0
local granted = 0
local claimed = kept[5] and tonumber(kept[6]) > now
if ARGV[1] ~= '0' and not claimed and (not known or left <= cost * tonumber(ARGV[3])) then
  granted = 1
  redis.call('HSET', KEYS[1], 'ticket', ARGV[1], 'claimed', string.format('%.0f', now + ARGV[2]))
  local ttl = math.ceil(ARGV[2] / 1000)
  if redis.call('PTTL', KEYS[1]) < ttl then redis.call('PEXPIRE', KEYS[1], ttl) end
end
return {granted, known and 1 or 0, left, cost, known and kept[1] or false}
)"};

// ARGV: ticket ("0": unconditionally), fresh, stale, cost, whether there is a body, body, channel or "".
const Script store_script{R"(
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
if ARGV[1] ~= '0' then
  local held = redis.call('HMGET', KEYS[1], 'ticket', 'claimed')
  if held[1] ~= ARGV[1] or tonumber(held[2]) <= now then return 0 end
end
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'fresh', string.format('%.0f', now + ARGV[2]),
  'keep', string.format('%.0f', now + ARGV[2] + ARGV[3]), 'cost', ARGV[4])
if ARGV[5] == '1' then redis.call('HSET', KEYS[1], 'body', ARGV[6]) end
redis.call('PEXPIRE', KEYS[1], math.max(1, math.ceil((ARGV[2] + ARGV[3]) / 1000)))
if ARGV[7] ~= '' then redis.call('PUBLISH', ARGV[7], ARGV[8]) end
return 1
)"};

const Script give_up_script{R"(
if redis.call('HGET', KEYS[1], 'ticket') ~= ARGV[1] then return 0 end
return redis.call('HDEL', KEYS[1], 'ticket', 'claimed')
)"};

// The ticket goes with the copy.
const Script remove_script{R"(
redis.call('DEL', KEYS[1])
redis.call('PUBLISH', ARGV[1], ARGV[2])
return 1
)"};

std::string key_of(const std::string& key) {
  return "sluice:cache:" + key;
}

Command store(const std::string& key, LoadTicket ticket, const CacheEntry& entry, std::string_view channel) {
  return Command(store_script, {key_of(key)})
      .arg(ticket)
      .arg(entry.fresh_for.count())
      .arg(entry.stale_for.count())
      .arg(entry.load_cost.count())
      .arg(entry.body ? 1 : 0)
      .arg(entry.body ? std::string_view(*entry.body) : std::string_view())
      .arg(channel)
      .arg(key);
}

}  // namespace

Task<CacheAnswer> RedisCache::look_up(std::string key, TicketWish wish) {
  // Asking twice for the ticket with the same number would be refused the second time: not repeatable.
  Command command =
      Command(look_up_script, {key_of(key)}).arg(wish.ticket).arg(wish.ttl.count()).arg(std::to_string(wish.eagerness));
  Reply reply = co_await redis_.run(std::move(command));
  CacheAnswer answer{std::nullopt, reply[0].integer() == 1};
  if (reply[1].integer() == 1) {
    CachedCopy copy{nullptr, Duration{reply[2].integer()}, Duration{reply[3].integer()}};
    Reply& body = reply.array()[4];
    if (!body.is_nil()) copy.body = std::make_shared<const std::string>(body.take_text());
    answer.copy = std::move(copy);
  }
  co_return answer;
}

Task<bool> RedisCache::fill(std::string key, LoadTicket ticket, CacheEntry entry) {
  check_that(ticket != 0, "{} is filled without a ticket", key);
  Command command = store(key, ticket, entry, "");
  const Reply reply = co_await redis_.run(std::move(command));
  co_return reply.integer() == 1;
}

Task<> RedisCache::give_up(std::string key, LoadTicket ticket) {
  Command command = Command(give_up_script, {key_of(key)}).arg(ticket).repeatable();
  co_await redis_.run(std::move(command));
}

Task<> RedisCache::put(std::string key, CacheEntry entry) {
  Command command = store(key, 0, entry, changes_channel).repeatable();
  co_await redis_.run(std::move(command));
}

Task<> RedisCache::remove(std::string key) {
  Command command = Command(remove_script, {key_of(key)}).arg(changes_channel).arg(key).repeatable();
  co_await redis_.run(std::move(command));
}

}  // namespace sluice::redis
