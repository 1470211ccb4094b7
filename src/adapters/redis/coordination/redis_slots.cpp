#include "adapters/redis/coordination/redis_slots.h"

namespace sluice::redis {

using coordination::Slot;

namespace {

// KEYS[1] of all of them is a hash:
//   1, 2, ...  "TOKEN END OWNER" of a slot; it is free once it has ended
//   last       the last token
//   longest    the longest ttl that was requested
//   run        the replication history of the server that gave slots last
//   closed     nothing is given before this time
// Times are microseconds of Redis' clock. Numbers leave as text: Lua would write an exponent.

const Script take_script{Script::with_history(R"(
-- ARGV  n, owner, ttl (us)
local run = history()
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local fields = redis.call('HGETALL', KEYS[1])
local kept = {}
for i = 1, #fields, 2 do kept[fields[i]] = fields[i + 1] end
local longest = math.max(tonumber(ARGV[3]), tonumber(kept.longest or 0))

local function keep(...)
  redis.call('HSET', KEYS[1], 'run', run, 'longest', string.format('%.0f', longest), ...)
  redis.call('PEXPIRE', KEYS[1], string.format('%.0f', math.ceil(longest / 1000) + 3600000))
end

if kept.run and kept.run ~= run then
  keep('closed', string.format('%.0f', now + longest))
  return false
end
if now < tonumber(kept.closed or 0) then return false end

for number = 1, tonumber(ARGV[1]) do
  local ends = string.match(kept[tostring(number)] or '', '^%d+ (%d+)')
  if not ends or tonumber(ends) <= now then
    local token = string.format('%.0f', math.max(tonumber(kept.last or 0) + 1, now))
    local slot = token .. ' ' .. string.format('%.0f', now + tonumber(ARGV[3])) .. ' ' .. ARGV[2]
    keep('last', token, tostring(number), slot)
    return {number, token}
  end
end
return false
)")};

const Script renew_script{R"(
-- ARGV  number, token, ttl (us); 0 gives it back
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local slot = redis.call('HGET', KEYS[1], ARGV[1]) or ''
local token, ends, owner = string.match(slot, '^(%d+) (%d+) (.*)$')
if token ~= ARGV[2] or tonumber(ends) <= now then return 0 end
if ARGV[3] == '0' then
  redis.call('HDEL', KEYS[1], ARGV[1])
  return 1
end
local longest = math.max(tonumber(ARGV[3]), tonumber(redis.call('HGET', KEYS[1], 'longest') or 0))
slot = token .. ' ' .. string.format('%.0f', now + tonumber(ARGV[3])) .. ' ' .. owner
redis.call('HSET', KEYS[1], ARGV[1], slot, 'longest', string.format('%.0f', longest))
redis.call('PEXPIRE', KEYS[1], string.format('%.0f', math.ceil(longest / 1000) + 3600000))
return 1
)"};

const Script count_script{R"(
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local count = 0
for _, value in ipairs(redis.call('HVALS', KEYS[1])) do
  local ends = string.match(value, '^%d+ (%d+) ')
  if ends and tonumber(ends) > now then count = count + 1 end
end
return count
)"};

}  // namespace

Task<std::optional<Slot>> RedisSlots::take(std::string key, int64_t n, std::string owner, Duration ttl) {
  Command command = Command(take_script, {place_of(key)}).arg(n).arg(owner).arg(ttl.count());
  const Reply reply = co_await redis_.run(std::move(command));
  if (reply.is_nil()) co_return std::nullopt;
  co_return Slot{key, reply[0].integer(), reply[1].integer()};
}

Task<bool> RedisSlots::renew(Slot slot, Duration ttl) {
  Command command = Command(renew_script, {place_of(slot.key)}).arg(slot.number).arg(slot.token);
  command.arg(std::max<int64_t>(1, ttl.count())).repeatable();
  const Reply reply = co_await redis_.run(std::move(command));
  co_return reply.integer() == 1;
}

Task<> RedisSlots::give_back(Slot slot) {
  Command command = Command(renew_script, {place_of(slot.key)}).arg(slot.number).arg(slot.token).arg(0).repeatable();
  co_await redis_.run(std::move(command));
}

Task<int64_t> RedisSlots::in_use(std::string key) {
  Command command = Command(count_script, {place_of(key)}).repeatable();
  const Reply reply = co_await redis_.run(std::move(command));
  co_return reply.integer();
}

}  // namespace sluice::redis
