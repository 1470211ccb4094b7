// Ids: UUIDs with a type for each kind of object.
//
// Id<User> and Id<Event> are different types, so they cannot be confused. New ids are version 7 (they start with the
// time, so they sort by age and indexes grow at one end); every version is accepted.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/random.h"
#include "base/time.h"

namespace sluice {

struct Uuid {
  std::array<uint8_t, 16> bytes{};

  // "018f4e1c-6d2a-7c3e-9f10-0242ac120002", in lower case.
  std::string text() const;
  // Nothing unless it is written in exactly that form (upper case is accepted).
  static std::optional<Uuid> parse(std::string_view text);
  static Uuid v7(Time now, Random& random);

  friend auto operator<=>(const Uuid&, const Uuid&) = default;
};

template <class Tag>
class Id {
 public:
  Id() = default;
  explicit Id(Uuid uuid) : uuid_(uuid) {}

  static Id make(Time now, Random& random) { return Id(Uuid::v7(now, random)); }
  static std::optional<Id> parse(std::string_view text) {
    const auto uuid = Uuid::parse(text);
    if (!uuid) return std::nullopt;
    return Id(*uuid);
  }

  std::string text() const { return uuid_.text(); }
  const Uuid& uuid() const { return uuid_; }

  friend auto operator<=>(const Id&, const Id&) = default;

 private:
  Uuid uuid_;
};

}  // namespace sluice

template <class Tag>
struct std::hash<sluice::Id<Tag>> {
  size_t operator()(const sluice::Id<Tag>& id) const noexcept {
    uint64_t tail;  // the random half
    std::memcpy(&tail, id.uuid().bytes.data() + 8, sizeof tail);
    return tail;
  }
};
