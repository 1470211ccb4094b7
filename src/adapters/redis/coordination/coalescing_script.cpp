#include "adapters/redis/coordination/coalescing_script.h"

namespace sluice::redis {

const Script coalescing_script{Script::with_history(R"(
-- KEYS[1]  hash of the item: issued, done: the highest version issued, and satisfied
--                            lane, version, since: the waiting message; version 0 where none waits
--                            patience: with the waiting message (us), from the lag of its lane at the last request
--                            owner, ends: the running fetch; owner '' where none runs
-- ARGV     operation, keep (ms), longest lease (us), then what the operation takes
--
-- Versions and times are microseconds. They come and leave as text: Lua would write them with an exponent.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local longest_lease = tonumber(ARGV[3])

local kept =
  redis.call('HMGET', KEYS[1], 'issued', 'done', 'lane', 'version', 'since', 'owner', 'ends', 'patience')
local issued, done = tonumber(kept[1] or 0), tonumber(kept[2] or 0)
local lane, version, since = tonumber(kept[3] or 0), tonumber(kept[4] or 0), tonumber(kept[5] or 0)
local owner, ends = kept[6] or '', tonumber(kept[7] or 0)
local patience = tonumber(kept[8] or 0)

local function text(number) return string.format('%.0f', number) end

-- While a message waits the item is kept at least as long as that may take.
local function keep()
  local longest = tonumber(ARGV[2])
  if version > 0 then longest = math.max(longest, math.ceil(patience / 1000)) end
  redis.call('PEXPIRE', KEYS[1], text(longest))
end

local function save()
  redis.call('HSET', KEYS[1], 'issued', text(issued), 'done', text(done), 'lane', text(lane), 'version', text(version),
    'since', text(since), 'owner', owner, 'ends', text(ends), 'patience', text(patience))
  keep()
end

local learned = false

local function satisfy(up_to)
  learned = learned or up_to > done
  done = math.max(done, up_to)
  if version <= done then version = 0 end
end

-- Nothing has changed but what the caller knew of the row.
local function used()
  if learned then save() else keep() end
end

local function running_for()
  local left = ends - now
  if owner == '' or left <= 0 then return 0 end
  return left <= longest_lease and left or 0 -- longer: the clock was set back
end

-- The waiting message as it was before becomes part of the answer.
local function publish(outcome, new_lane, new_version)
  local answer = {outcome, text(new_lane), text(new_version), text(now), text(lane), text(version), text(since)}
  lane, version, since = new_lane, new_version, now
  save()
  return answer
end

-- The caller's runs stand from ARGV[first] on: history, floor, began, highest version the caller has seen of it.
local function next_version(run, first)
  for i = first, #ARGV, 4 do
    if ARGV[i] == run then
      local floor = tonumber(ARGV[i + 1]) + math.max(0, math.floor((now - tonumber(ARGV[i + 2])) / 2))
      return math.max(issued + 1, done + 1, now, floor, tonumber(ARGV[i + 3]) + 1)
    end
  end
end

local operations = {}

-- lane, row, number of lanes, the patience of each, the caller's runs
function operations.request()
  local asked, lanes = tonumber(ARGV[4]), tonumber(ARGV[6])
  satisfy(tonumber(ARGV[5]))
  if running_for() > 0 then
    used()
    return {'already', text(asked), text(issued), text(now)}
  end
  local overtakes = version > 0 and asked < lane
  if version > 0 and not overtakes then
    local waited = now - since
    learned = learned or patience ~= tonumber(ARGV[7 + lane])
    patience = tonumber(ARGV[7 + lane])
    if waited >= 0 and waited <= patience then
      used()
      return {'already', text(lane), text(version), text(since)}
    end
    return publish('repeated', lane, version)
  end
  local run = history()
  local new_version = next_version(run, 7 + lanes)
  if not new_version then return {'run', run} end
  issued = new_version
  patience = tonumber(ARGV[7 + asked])
  local answer = publish(overtakes and 'upgraded' or 'published', asked, new_version)
  answer[8] = run
  return answer
end

-- the message: lane, version, since; the same of what was waiting before
function operations.unpublish()
  local mine = lane == tonumber(ARGV[4]) and version == tonumber(ARGV[5]) and since == tonumber(ARGV[6])
  if version == 0 or not mine then return 0 end
  lane, version, since = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])
  satisfy(done)
  save()
  return 1
end

-- version, row, owner, lease; 0 for only looking
function operations.fetch()
  satisfy(tonumber(ARGV[5]))
  local wanted, lease = tonumber(ARGV[4]), tonumber(ARGV[7])
  local left = running_for()
  if done >= wanted or (left > 0 and owner ~= ARGV[6]) then
    used()
    return done >= wanted and {'obsolete'} or {'busy', text(left)}
  end
  local covers = math.max(issued, wanted)
  if lease > 0 then
    issued, owner, ends = covers, ARGV[6], now + lease
    save()
  else
    used()
  end
  return {'run', text(covers)}
end

-- owner, version
function operations.finish()
  issued = math.max(issued, tonumber(ARGV[5]))
  satisfy(tonumber(ARGV[5]))
  if owner == ARGV[4] then owner = '' end
  save()
  return 1
end

-- owner, version of the message that was given up, or 0
function operations.abandon()
  if owner == ARGV[4] then owner = '' end
  if version == tonumber(ARGV[5]) then version = 0 end
  save()
  return 1
end

return operations[ARGV[1]]()
)")};

}  // namespace sluice::redis
