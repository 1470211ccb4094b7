#include "adapters/redis/coordination/redis_denial_copy.h"

#include <array>
#include <functional>

#include <fmt/format.h>

namespace sluice::redis {
namespace {

using coordination::Denial;
using coordination::Denied;

constexpr size_t buckets = 16;
// Ids of one script call: enough to be quick, few enough not to hold up others.
constexpr size_t batch = 500;

const Script ask_script{Script::with_history(R"(
if redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 'yes' end
if redis.call('HGET', KEYS[2], 'complete') == history() then return 'no' end
return 'unknown'
)")};

// ARGV: end, id, end, id, ... Ends only move forward. An entry that ended an hour ago is of no use on any clock.
const Script add_script{R"(
for i = 1, #ARGV, 2 do redis.call('ZADD', KEYS[1], 'GT', ARGV[i], ARGV[i + 1]) end
local now = redis.call('TIME')[1] * 1000000
return redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now - 3600000000))
)"};

// The filler's mark is lost with all other state of the server, so that `end` notices.
const Script begin_script{Script::with_history(R"(
return redis.call('HSET', KEYS[1], 'filler', ARGV[1], 'filled', history())
)")};

const Script end_script{Script::with_history(R"(
local began = redis.call('HMGET', KEYS[1], 'filler', 'filled')
if began[1] ~= ARGV[1] or began[2] ~= history() then return 0 end
redis.call('HDEL', KEYS[1], 'filler', 'filled')
redis.call('HSET', KEYS[1], 'complete', began[2])
return 1
)")};

// The bucket of an id must be the same in every instance and every version.
size_t bucket_of(std::string_view token) {
  uint32_t hash = 2166136261U;  // FNV-1a
  for (const char c : token) hash = (hash ^ static_cast<uint8_t>(c)) * 16777619U;
  return hash % buckets;
}
std::string tokens_key(size_t bucket) {
  return fmt::format("sluice:{{denied:{}}}:tokens", bucket);
}
std::string state_key(size_t bucket) {
  return fmt::format("sluice:{{denied:{}}}:state", bucket);
}

}  // namespace

Task<Denied> RedisDenialCopy::ask(std::string token) {
  const size_t bucket = bucket_of(token);
  Command command = Command(ask_script, {tokens_key(bucket), state_key(bucket)}).arg(token).repeatable();
  const Reply reply = co_await redis_.run(std::move(command));
  if (reply.text() == "yes") co_return Denied::yes;
  co_return reply.text() == "no" ? Denied::no : Denied::unknown;
}

Task<> RedisDenialCopy::add(std::vector<Denial> denials) {
  std::array<std::vector<Denial>, buckets> sorted;
  for (Denial& denial : denials) sorted[bucket_of(denial.token)].push_back(std::move(denial));
  for (size_t bucket = 0; bucket < buckets; ++bucket) {
    const std::vector<Denial>& all = sorted[bucket];
    for (size_t from = 0; from < all.size(); from += batch) {
      Command command = Command(add_script, {tokens_key(bucket)}).repeatable();
      for (size_t i = from; i < std::min(from + batch, all.size()); ++i) {
        command.arg(all[i].until.time_since_epoch().count()).arg(all[i].token);
      }
      co_await redis_.run(std::move(command));
    }
  }
}

Task<> RedisDenialCopy::begin_fill(uint64_t filler) {
  for (size_t bucket = 0; bucket < buckets; ++bucket) {
    Command command = Command(begin_script, {state_key(bucket)}).arg(filler).repeatable();
    co_await redis_.run(std::move(command));
  }
}

Task<> RedisDenialCopy::end_fill(uint64_t filler) {
  for (size_t bucket = 0; bucket < buckets; ++bucket) {
    Command command = Command(end_script, {state_key(bucket)}).arg(filler).repeatable();
    co_await redis_.run(std::move(command));
  }
}

}  // namespace sluice::redis
