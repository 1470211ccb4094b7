// Any bytes from a Redis, or from another server: replies in any pieces, maps of slots, redirections.
#include <cstdint>

#include "adapters/redis/client/hash_slots.h"
#include "adapters/redis/client/redis.h"
#include "adapters/redis/client/reply_reader.h"
#include "base/check.h"

using namespace sluice;

namespace {

void try_as_answer(const redis::Reply& reply) {
  const redis::Address asked{"127.0.0.1", 6379};
  if (reply.is_error()) {
    const auto redirect = redis::Redirect::parse(reply.error(), asked);
    if (redirect) check_that(redirect->slot < redis::slot_count, "slot {}", redirect->slot);
  }
  try {
    for (const redis::SlotRange& range : redis::read_slots(reply, asked)) {
      check_that(range.last < redis::slot_count, "slot {}", range.last);
    }
  } catch (const EngineUnavailable&) {
    // It is no map of slots.
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const size_t piece = 1 + data[0];
  std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  redis::ReplyReader reader(1 << 16);
  try {
    while (!bytes.empty()) {
      reader.feed(bytes.substr(0, piece));
      bytes.remove_prefix(std::min(piece, bytes.size()));
      while (const auto reply = reader.next()) try_as_answer(*reply);
    }
  } catch (const EngineUnavailable&) {
    // It is no Redis.
  }
  return 0;
}
