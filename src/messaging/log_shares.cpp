#include "messaging/log_shares.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

namespace sluice::messaging {
namespace {

// The same in every process, which std::hash does not promise: FNV-1a, its bits spread.
uint64_t hash_of(const std::string& text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9;
  hash = (hash ^ hash >> 27) * 0x94d049bb133111eb;
  return hash ^ hash >> 31;
}

struct Reader {
  std::string id;
  int32_t total = 0;  // of the topics dealt out so far
  int32_t room = 0;   // left of the topic that is dealt out now
};

// A member's preference for a partition depends only on the two, so it stays when other members come or go.
uint64_t liking(const Reader& reader, const std::string& topic, int32_t partition) {
  return hash_of(fmt::format("{} {} {}", reader.id, topic, partition));
}

// The remainder of an uneven division goes to the readers with the fewest partitions.
void make_room(std::vector<Reader*>& readers, const std::string& topic, int32_t partitions) {
  const auto count = static_cast<int32_t>(readers.size());
  std::ranges::sort(readers, {}, [&](const Reader* reader) {
    return std::tuple(reader->total, hash_of(reader->id + " " + topic), reader->id);
  });
  for (int32_t i = 0; i < count; ++i) {
    Reader& reader = *readers[static_cast<size_t>(i)];
    reader.room = partitions / count + (i < partitions % count ? 1 : 0);
    reader.total += reader.room;
  }
}

Reader& keenest(const std::vector<Reader*>& readers, const std::string& topic, int32_t partition) {
  return **std::ranges::max_element(readers, {}, [&](const Reader* reader) {
    return std::tuple(reader->room > 0, liking(*reader, topic, partition), reader->id);
  });
}

}  // namespace

std::map<LogPartition, std::string> shares_of(const std::vector<LogMember>& members,
                                              const std::map<std::string, int32_t>& topics) {
  std::vector<Reader> all;
  for (const LogMember& member : members) all.push_back({member.id});
  std::map<LogPartition, std::string> shares;
  for (const auto& [topic, partitions] : topics) {
    std::vector<Reader*> readers;
    for (size_t i = 0; i < members.size(); ++i) {
      if (members[i].topics.contains(topic)) readers.push_back(&all[i]);
    }
    if (readers.empty()) continue;
    make_room(readers, topic, partitions);
    for (int32_t partition = 0; partition < partitions; ++partition) {
      Reader& reader = keenest(readers, topic, partition);
      --reader.room;
      shares[{topic, partition}] = reader.id;
    }
  }
  return shares;
}

}  // namespace sluice::messaging
