#include "adapters/redis/client/hash_slots.h"

#include <array>
#include <charconv>

#include "adapters/redis/client/redis.h"

namespace sluice::redis {
namespace {

// XMODEM: polynomial 0x1021, nothing reflected, starting at 0.
constexpr std::array<uint16_t, 256> make_crc_table() {
  std::array<uint16_t, 256> table{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    unsigned crc = byte << 8;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 0x8000) != 0 ? crc << 1 ^ 0x1021 : crc << 1;
    table[byte] = static_cast<uint16_t>(crc);
  }
  return table;
}

constexpr auto crc_table = make_crc_table();

uint16_t crc16(std::string_view bytes) {
  unsigned crc = 0;
  for (const char byte : bytes) crc = (crc << 8 ^ crc_table[(crc >> 8 ^ static_cast<uint8_t>(byte)) & 0xff]) & 0xffff;
  return static_cast<uint16_t>(crc);
}

std::string_view hashed_part(std::string_view key) {
  const size_t open = key.find('{');
  if (open == std::string_view::npos) return key;
  const size_t close = key.find('}', open + 1);
  if (close == std::string_view::npos || close == open + 1) return key;
  return key.substr(open + 1, close - open - 1);
}

template <class Number>
std::optional<Number> whole_number(std::string_view text, int64_t below) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 0 || number >= below) return std::nullopt;
  return static_cast<Number>(number);
}

uint16_t slot_number(const Reply& reply) {
  const int64_t number = reply.integer();
  if (number < 0 || number >= slot_count) {
    throw EngineUnavailable(engine_name, fmt::format("the cluster reports the invalid slot {}", number));
  }
  return static_cast<uint16_t>(number);
}

}  // namespace

uint16_t slot_of(std::string_view key) {
  return crc16(hashed_part(key)) % slot_count;
}

std::vector<SlotRange> read_slots(const Reply& reply, const Address& asked) {
  std::vector<SlotRange> ranges;
  for (const Reply& row : reply.array()) {
    const Reply& master = row[2];
    const std::string host = master[0].is_nil() ? "" : master[0].text();
    if (host == "?") continue;  // the node has not heard of it yet
    const int64_t port = master[1].integer();
    if (port <= 0 || port > 65535) continue;
    const Address address{host.empty() ? asked.host : host, static_cast<uint16_t>(port)};
    ranges.push_back({slot_number(row[0]), slot_number(row[1]), address});
  }
  return ranges;
}

SlotRange read_master(std::string_view info, const Address& asked) {
  SlotRange all{0, slot_count - 1, asked};
  if (info_field(info, "role") == "master") return all;
  const std::string_view host = info_field(info, "master_host");
  const auto port = whole_number<uint16_t>(info_field(info, "master_port"), 65536);
  if (host.empty() || !port || *port == 0) {
    throw EngineUnavailable(engine_name, fmt::format("{} is not a master and reports none", asked.to_string()));
  }
  all.master = {std::string(host), *port};
  return all;
}

std::string_view info_field(std::string_view info, std::string_view name) {
  while (!info.empty()) {
    const std::string_view line = info.substr(0, info.find_first_of("\r\n"));
    if (line.size() > name.size() && line.starts_with(name) && line[name.size()] == ':') {
      return line.substr(name.size() + 1);
    }
    info.remove_prefix(std::min(info.size(), line.size() + 1));
  }
  return {};
}

std::optional<Redirect> Redirect::parse(std::string_view error, const Address& asked) {
  const size_t first = error.find(' ');
  const size_t second = error.find(' ', std::min(first, error.size() - 1) + 1);
  if (first == std::string_view::npos || second == std::string_view::npos) return std::nullopt;
  const auto slot = whole_number<uint16_t>(error.substr(first + 1, second - first - 1), slot_count);
  const std::string_view target = error.substr(second + 1);
  const size_t colon = target.rfind(':');
  if (!slot || colon == std::string_view::npos) return std::nullopt;
  const auto port = whole_number<uint16_t>(target.substr(colon + 1), 65536);
  if (!port || *port == 0) return std::nullopt;
  const std::string_view host = target.substr(0, colon);
  return Redirect{*slot, {host.empty() ? asked.host : std::string(host), *port}};
}

}  // namespace sluice::redis
