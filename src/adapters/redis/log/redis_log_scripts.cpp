#include "adapters/redis/log/redis_log_scripts.h"

namespace sluice::redis::log_scripts {
namespace {

// Ids are compared by their parts: as one number they would exceed what Lua's doubles hold. Numbers leave as text,
// since Lua would write an exponent.
constexpr const char* prelude = R"(
local function parts(id)
  local ms, seq = string.match(id, '^(%d+)%-(%d+)$')
  return tonumber(ms), tonumber(seq)
end
local function before(a, b)
  local a_ms, a_seq = parts(a)
  local b_ms, b_seq = parts(b)
  return a_ms < b_ms or (a_ms == b_ms and a_seq < b_seq)
end
local function text(number) return string.format('%.0f', number) end
local function micros()
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2]
end
local function millis() return math.floor(micros() / 1000) end
)";

std::string with_prelude(const char* script) {
  return std::string(prelude) + script;
}
std::string with_prelude_and_history(const char* script) {
  return prelude + Script::with_history(script);
}

// Those that write little and help to make room also run while Redis is full: readers go on when nothing can be
// published any more.
std::string also_when_full(const char* script) {
  return std::string("#!lua flags=allow-oom\n") + prelude + script;
}

}  // namespace

const Script declare{R"(
-- KEYS  topics
-- ARGV  for each: name, partitions, retention
-- Returns how many partitions each has.
local partitions = {}
for i = 1, #ARGV, 3 do
  local known = redis.call('HGET', KEYS[1], ARGV[i])
  local kept = known and string.match(known, '^%d+') or ARGV[i + 1]
  local value = kept .. ' ' .. ARGV[i + 2]
  if known ~= value then redis.call('HSET', KEYS[1], ARGV[i], value) end
  partitions[#partitions + 1] = kept
end
return partitions
)"};

const Script publish{with_prelude_and_history(R"(
-- KEYS  messages, state, the publisher's generation
-- ARGV  generation, id to be behind of, life (of a new one), the life and the run that the publisher knows of (empty: any
--       will do), channel, news, then for each message: key, payload, headers
-- Returns the id of the first, the others follow without gaps as offsets; and 1 where nothing was known here. Or why it
-- took nothing.
local state = redis.call('HMGET', KEYS[2], 'life', 'last', 'count', 'bell')
if ARGV[4] ~= '' and (state[1] ~= ARGV[4] or history() ~= ARGV[5]) then return 'may have lost messages' end

-- A call whose outcome its publisher never learned may arrive after what was published since.
local generation = tonumber(redis.call('GET', KEYS[3]) or 0)
if generation > tonumber(ARGV[1]) then return 'has been told newer things' end
if generation < tonumber(ARGV[1]) then redis.call('SET', KEYS[3], ARGV[1], 'PX', 3600000) end

local last = state[2] or '0-0'
if before(last, ARGV[2]) then last = ARGV[2] end
local ms, seq = parts(last)
local now = millis()
if ms < now then ms, seq = now, 0 else seq = seq + 1 end

local count = tonumber(state[3] or 0)
local first
for i = 8, #ARGV, 3 do
  if seq == 1048576 then ms, seq = ms + 1, 0 end
  last = text(ms) .. '-' .. text(seq)
  first = first or last
  count = count + 1
  redis.call('XADD', KEYS[1], last, 'o', text(count), 'k', ARGV[i], 'p', ARGV[i + 1], 'h', ARGV[i + 2])
  seq = seq + 1
end
redis.call('HSET', KEYS[2], 'life', state[1] or ARGV[3], 'last', last, 'count', text(count), 'bell', '0')
if state[4] == '1' then redis.call('PUBLISH', ARGV[6], ARGV[7]) end
return {first, state[1] and 0 or 1}
)")};

const Script read{also_when_full(R"(
-- KEYS  messages, state, groups
-- ARGV  first id, most messages, most bytes, group (empty: an onlooker), token, the id before the first
-- Returns nothing where the lease is lost; else 1 if this is the end, then for each message: id, key, payload, headers.
if ARGV[4] ~= '' and redis.call('HGET', KEYS[3], 'token:' .. ARGV[4]) ~= ARGV[5] then return false end
local found = {0}
local from, left, bytes, size = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), 0
local some_at_once = 16
while left > 0 and size < bytes do
  local wanted = math.min(left, some_at_once)
  local some = redis.call('XRANGE', KEYS[1], from, '+', 'COUNT', wanted)
  for _, entry in ipairs(some) do
    if size >= bytes then return found end
    local fields = entry[2]
    local n = #found
    found[n + 1], found[n + 2], found[n + 3], found[n + 4] = entry[1], fields[4], fields[6], fields[8]
    size = size + #fields[4] + #fields[6] + #fields[8]
    from = '(' .. entry[1]
  end
  if #some < wanted then
    found[1] = 1
    break
  end
  left = left - wanted
  -- Large messages are read a few at a time, since those beyond the limit were read in vain.
  some_at_once = size / (#found / 4) < 4096 and 256 or 16
end

-- A reader at the end is woken by the next message. A reader who is further than the log itself has seen messages
-- that were lost; new ones must come behind them.
if found[1] == 1 and ARGV[4] ~= '' then
  local state = redis.call('HMGET', KEYS[2], 'bell', 'last')
  if state[1] ~= '1' then redis.call('HSET', KEYS[2], 'bell', '1') end
  if before(state[2] or '0-0', ARGV[6]) then redis.call('HSET', KEYS[2], 'last', ARGV[6]) end
end
return found
)")};

const Script trim{also_when_full(R"(
-- KEYS  messages
-- ARGV  id before which everything goes, or empty; milliseconds that are kept; how many may go at once
-- Returns 1 while there is more to do.
local id = ARGV[1] ~= '' and ARGV[1] or text(math.max(0, millis() - ARGV[2])) .. '-0'
if redis.call('XTRIM', KEYS[1], 'MINID', '~', id, 'LIMIT', ARGV[3]) > 0 then return 1 end
-- The rest to remove is a part of one node of the stream.
redis.call('XTRIM', KEYS[1], 'MINID', '=', id)
return 0
)")};

const Script remember{Script::with_history(R"(
-- KEYS  state
-- ARGV  life (of a new one)
-- Returns life, run (the replication history), and 1 where nothing was known here.
local new = redis.call('HSETNX', KEYS[1], 'life', ARGV[1])
return {redis.call('HGET', KEYS[1], 'life'), history(), new}
)")};

const Script look{with_prelude(R"(
-- KEYS  messages, state, groups
-- Returns the oldest id and the last one ('' where there is none), then for each group: name, next ('' if it has
-- committed nothing), lag, owner.
local state = redis.call('HMGET', KEYS[2], 'last', 'count')
local oldest = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 1)[1]
local count = tonumber(state[2] or 0)
local seen = {oldest and oldest[1] or '', state[1] or ''}

local groups = {}
local all = redis.call('HGETALL', KEYS[3])
for i = 1, #all, 2 do
  local field, group = string.match(all[i], '^(%l+):(.*)$')
  groups[group] = groups[group] or {}
  groups[group][field] = all[i + 1]
end
local now = millis()
for name, group in pairs(groups) do
  -- How many are done with: the ordinal of the last message before `next`.
  local done = count
  if oldest then done = tonumber(oldest[2][2]) - 1 end
  if oldest and group.next then
    local last = redis.call('XREVRANGE', KEYS[1], '(' .. group.next, '-', 'COUNT', 1)[1]
    if last then done = tonumber(last[2][2]) end
  end
  local held = group.owner and tonumber(group['until']) > now
  local n = #seen
  seen[n + 1], seen[n + 2], seen[n + 3], seen[n + 4] =
    name, group.next or '', text(count - done), held and group.owner or ''
end
return seen
)")};

const Script join{also_when_full(R"(
-- KEYS  members
-- ARGV  member, milliseconds until it is taken for dead, channel, news
-- Returns 1 if it was not among them, then all.
local now = millis()
local changed = redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(' .. text(now))
-- A deadline that far ahead comes from a clock that has gone back since: the member starts anew.
for _, member in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], text(now + 10 * ARGV[2]), '+inf')) do
  redis.call('ZADD', KEYS[1], text(now + ARGV[2]), member)
end
local added = redis.call('ZADD', KEYS[1], text(now + ARGV[2]), ARGV[1])
local ttl = 10 * ARGV[2]
if redis.call('PTTL', KEYS[1]) < ttl then redis.call('PEXPIRE', KEYS[1], text(ttl)) end
if changed + added > 0 then redis.call('PUBLISH', ARGV[3], ARGV[4]) end
local members = redis.call('ZRANGE', KEYS[1], 0, -1)
table.insert(members, 1, added)
return members
)")};

const Script leave{also_when_full(R"(
-- KEYS  members
-- ARGV  member, channel, news
if redis.call('ZREM', KEYS[1], ARGV[1]) == 1 then redis.call('PUBLISH', ARGV[2], ARGV[3]) end
return 1
)")};

const Script hold{also_when_full(R"(
-- KEYS  state, groups
-- ARGV  group, member, its session (ms), token (empty: to get the lease)
-- Returns 0 and for how long (ms) another member has it; or 1, token, next ('' if nothing was committed), last id.
local owner, token, til, next = 'owner:' .. ARGV[1], 'token:' .. ARGV[1], 'until:' .. ARGV[1], 'next:' .. ARGV[1]
local session = 'session:' .. ARGV[1]
local held = redis.call('HMGET', KEYS[2], owner, token, til, next, session)
local now = micros()
local left = held[1] and tonumber(held[3]) - math.floor(now / 1000) or 0
-- Longer than its holder asked for: the clock went back, and the holder may be dead. It gets one session from now.
if left > tonumber(held[5] or 0) then
  left = tonumber(held[5] or 0)
  redis.call('HSET', KEYS[2], til, text(math.floor(now / 1000) + left))
end
local mine = ARGV[4]
if mine ~= '' then
  if held[2] ~= mine or not held[1] then return {0, math.max(0, left)} end
else
  -- Asking again is harmless: the answer may have been lost.
  if left > 0 and held[1] ~= ARGV[2] then return {0, left} end
  -- The clock makes it grow also after the last one was forgotten.
  mine = text(math.max(tonumber(held[2] or 0) + 1, now))
end
redis.call('HSET', KEYS[2], owner, ARGV[2], token, mine, til, text(math.floor(now / 1000) + ARGV[3]), session, ARGV[3])
return {1, mine, held[4] or '', redis.call('HGET', KEYS[1], 'last') or '0-0'}
)")};

const Script commit{also_when_full(R"(
-- KEYS  groups
-- ARGV  group, token, next
-- Returns 0 where the lease is lost.
if redis.call('HGET', KEYS[1], 'token:' .. ARGV[1]) ~= ARGV[2] then return 0 end
local committed = redis.call('HGET', KEYS[1], 'next:' .. ARGV[1])
if not committed or before(committed, ARGV[3]) then redis.call('HSET', KEYS[1], 'next:' .. ARGV[1], ARGV[3]) end
return 1
)")};

const Script let_go{also_when_full(R"(
-- KEYS  groups
-- ARGV  group, token, channel, news
-- The token stays, so that the next one is another.
if redis.call('HGET', KEYS[1], 'token:' .. ARGV[1]) ~= ARGV[2] then return 0 end
if redis.call('HDEL', KEYS[1], 'owner:' .. ARGV[1], 'until:' .. ARGV[1], 'session:' .. ARGV[1]) > 0 then
  redis.call('PUBLISH', ARGV[3], ARGV[4])
end
return 1
)")};

}  // namespace sluice::redis::log_scripts
