#include "adapters/redis/coordination/limit_scripts.h"

namespace sluice::redis {

// A window's string: 64 bytes of header, then the stamps, 8 bytes each.
//
//   0 history   40 stamps   44 grain   48 head (the oldest)   52 used (of the newest grain)   56 newest stamp
//
// A credit's string: 0 history, 40 permits, 48 until. Microseconds since 1970 fit into a double without loss for the
// next two centuries, so Lua's numbers do.

const Script draw_permits{Script::with_history(R"(
-- KEYS: the string of each window; that of the credit where the priority draws from days; the marks of better
--   priorities; the priority's own mark where it keeps others back
-- ARGV: least, most, whether there is a credit, how many better marks, how long its own mark stands (ms; 0: leaves none),
--   {stamps, grain, span} of each window
-- Returns given, now, wait, whether credit is lacking, credit
local least, most, run = tonumber(ARGV[1]), tonumber(ARGV[2]), history()
local has_days, betters, wanted_for = ARGV[3] == '1', tonumber(ARGV[4]), tonumber(ARGV[5])
local windows = (#ARGV - 5) / 3
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

-- Head and used of a ring. One that is missing, of another size, of another run of the server or from the future is
-- refilled: it counts as spent.
local function open_ring(key, stamps, grain)
  local header = redis.call('GETRANGE', key, 0, 63)
  if #header == 64 and string.sub(header, 1, 40) == run then
    local size, each, head, used, newest = struct.unpack('<I4I4I4I4i8', header, 41)
    if size == stamps and each == grain and newest <= now then return head, used end
  end
  redis.call('SET', key, run .. struct.pack('<I4I4I4I4i8', stamps, grain, 0, grain, now) ..
    string.rep(struct.pack('<i8', now), stamps))
  return 0, grain
end

-- The `count` oldest stamps in one string; the ring may wrap around.
local function oldest(key, stamps, head, count)
  local tail = math.min(count, stamps - head)
  local bytes = redis.call('GETRANGE', key, 64 + head * 8, 63 + (head + tail) * 8)
  if tail == count then return bytes end
  return bytes .. redis.call('GETRANGE', key, 64, 63 + (count - tail) * 8)
end

-- How many of the `count` stamps are not after `latest`. They never fall.
local function count_old(bytes, count, latest)
  if struct.unpack('<i8', bytes, count * 8 - 7) <= latest then return count end
  local old, young = 0, count - 1
  while old < young do
    local middle = math.floor((old + young) / 2)
    if struct.unpack('<i8', bytes, middle * 8 + 1) <= latest then old = middle + 1 else young = middle end
  end
  return old
end

local given, wait, rings = most, 0, {}
for i = 1, windows do
  local stamps, grain, span = tonumber(ARGV[3 * i + 3]), tonumber(ARGV[3 * i + 4]), tonumber(ARGV[3 * i + 5])
  local head, used = open_ring(KEYS[i], stamps, grain)
  local open = grain - used
  rings[i] = {stamps, grain, head, used}
  -- The newest may not be overwritten while its grain is open.
  local usable = open > 0 and stamps - 1 or stamps
  local count = math.min(math.ceil((math.max(given, least) - open) / grain), usable)
  if count > 0 then
    local bytes = oldest(KEYS[i], stamps, head, count)
    given = math.min(given, open + count_old(bytes, count, now - span) * grain)
    local first = math.min(math.ceil((least - open) / grain), count)
    if first > 0 then wait = math.max(wait, struct.unpack('<i8', bytes, first * 8 - 7) + span - now) end
  end
end

local kept_back = 0
local marks = windows + (has_days and 1 or 0)
for i = marks + 1, marks + betters do
  local left = redis.call('PTTL', KEYS[i])
  -- Longer than any mark stands: the clock went back.
  if left <= 1000 then kept_back = math.max(kept_back, left * 1000) end
end
wait = math.max(wait, kept_back)
if wanted_for > 0 and (given < least or kept_back > 0) then redis.call('SET', KEYS[#KEYS], '', 'PX', wanted_for) end

local credit = 0
local credit_key = KEYS[windows + 1]
if has_days then
  local held = redis.call('GETRANGE', credit_key, 0, 55)
  if #held == 56 and string.sub(held, 1, 40) == run then
    local permits, ends = struct.unpack('<i8i8', held, 41)
    if now < ends then credit = permits end
  end
  given = math.min(given, credit)
end
if given < least or kept_back > 0 then
  return {0, now, wait, (has_days and credit < least) and 1 or 0, credit}
end

local stamp = struct.pack('<i8', now)
for i = 1, windows do
  local key = KEYS[i]
  local stamps, grain, head, used = unpack(rings[i])
  local count = given
  if used < grain then
    local filled = math.min(count, grain - used)
    used, count = used + filled, count - filled
    redis.call('SETRANGE', key, 64 + (head + stamps - 1) % stamps * 8, stamp)
  end
  if count > 0 then
    local written = math.ceil(count / grain)
    local tail = math.min(written, stamps - head)
    redis.call('SETRANGE', key, 64 + head * 8, string.rep(stamp, tail))
    if tail < written then redis.call('SETRANGE', key, 64, string.rep(stamp, written - tail)) end
    head, used = (head + written) % stamps, count - (written - 1) * grain
  end
  redis.call('SETRANGE', key, 48, struct.pack('<I4I4i8', head, used, now))
end
if has_days then
  credit = credit - given
  redis.call('SETRANGE', credit_key, 40, struct.pack('<i8', credit))
end
return {given, now, 0, 0, credit}
)")};

const Script deposit_credit{Script::with_history(R"(
-- KEYS: the string of the credit
-- ARGV: permits, how long they last
local permits, run = tonumber(ARGV[1]), history()
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local ends = now + tonumber(ARGV[2])
local held = redis.call('GETRANGE', KEYS[1], 0, 55)
if #held == 56 and string.sub(held, 1, 40) == run then
  local before, end_before = struct.unpack('<i8i8', held, 41)
  -- Ends of one day differ by what calls take; what ends at another time is of another day.
  if now < end_before and ends - end_before < 60000000 then permits = permits + before end
end
redis.call('SET', KEYS[1], run .. struct.pack('<i8i8', permits, ends), 'PX', math.ceil((ends - now) / 1000))
return permits
)")};

const Script count_remaining{Script::with_history(R"(
-- KEYS: the string of each window
-- ARGV: {stamps, grain, span} of each window
local run = history()
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local function remaining(key, stamps, grain, span)
  local header = redis.call('GETRANGE', key, 0, 63)
  if #header ~= 64 or string.sub(header, 1, 40) ~= run then return 0 end
  local size, each, head, used, newest = struct.unpack('<I4I4I4I4i8', header, 41)
  if size ~= stamps or each ~= grain or newest > now then return 0 end
  local old, young = 0, used < grain and stamps - 1 or stamps
  while old < young do
    local middle = math.floor((old + young) / 2)
    local at = 64 + (head + middle) % stamps * 8
    if struct.unpack('<i8', redis.call('GETRANGE', key, at, at + 7)) <= now - span then
      old = middle + 1
    else
      young = middle
    end
  end
  return grain - used + old * grain
end

local counts = {}
for i = 1, #KEYS do
  counts[i] = remaining(KEYS[i], tonumber(ARGV[3 * i - 2]), tonumber(ARGV[3 * i - 1]), tonumber(ARGV[3 * i]))
end
return counts
)")};

}  // namespace sluice::redis
