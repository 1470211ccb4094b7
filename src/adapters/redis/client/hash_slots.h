// The place of a key in a Redis Cluster: one of 16,384 slots, each served by one master.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "adapters/redis/client/redis_config.h"
#include "adapters/redis/client/reply.h"

namespace sluice::redis {

inline constexpr uint16_t slot_count = 16384;

// CRC16 of the key, or of the part between its first { and the next }, if that is not empty.
uint16_t slot_of(std::string_view key);

struct SlotRange {
  uint16_t first = 0;
  uint16_t last = 0;
  Address master;

  bool operator==(const SlotRange&) const = default;
};

// Reads the reply to CLUSTER SLOTS. A node that does not know its own address leaves it out: it is `asked` then. Throws
// EngineUnavailable where the reply is something else.
std::vector<SlotRange> read_slots(const Reply& reply, const Address& asked);

// Reads a single server's INFO replication: the master of all slots is itself or the server it follows. Throws
// EngineUnavailable if it names none.
SlotRange read_master(std::string_view info, const Address& asked);

// The value of a field in the text of INFO; empty if there is none.
std::string_view info_field(std::string_view info, std::string_view name);

// The target of MOVED and ASK: "MOVED 3999 127.0.0.1:6381".
struct Redirect {
  uint16_t slot = 0;
  Address target;

  // Nothing where `error` does not name slot and address. A node that leaves its host out means `asked`'s.
  static std::optional<Redirect> parse(std::string_view error, const Address& asked);
};

}  // namespace sluice::redis
