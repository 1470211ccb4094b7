// JSON into structs: accepted values must be written so that they read the same again.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/encoding.h"
#include "base/json.h"

using namespace sluice;

namespace {

enum class Color { red, blue };
constexpr auto enum_names(Color) {
  return std::to_array<EnumName<Color>>({{Color::red, "red"}, {Color::blue, "blue"}});
}

struct Inside {
  std::string text;
  json::Raw any;

  static void describe(json::Object<Inside>& object) {
    object.required("text", &Inside::text).length(1, 20);
    object.optional("any", &Inside::any);
  }
};

struct Everything {
  std::optional<bool> flag;
  std::optional<int64_t> count;
  std::optional<double> number;
  std::optional<Uuid> id;
  std::optional<Time> at;
  std::optional<Color> color;
  std::optional<Money> price;
  std::vector<Inside> list;
  std::map<std::string, int64_t> map;

  static void describe(json::Object<Everything>& object) {
    object.optional("flag", &Everything::flag);
    object.optional("count", &Everything::count).range(-1000, 1000);
    object.optional("number", &Everything::number);
    object.optional("id", &Everything::id);
    object.optional("at", &Everything::at);
    object.optional("color", &Everything::color);
    object.optional("price", &Everything::price);
    object.optional("list", &Everything::list).items(0, 10);
    object.optional("map", &Everything::map);
  }
};

template <class T>
void survives(std::string_view text) {
  const auto value = json::decode<T>(text);
  if (!value) {
    check(is_utf8(value.error().text()), "an error can be sent to the client");
    return;
  }
  const std::string written = json::encode(*value);
  const auto again = json::decode<T>(written);
  check_that(again.has_value(), "what was written is refused: {}", written);
  check_that(json::encode(*again) == written, "what was read twice differs: {}", written);
  check(json::decode<T>(text, json::Unknown::ignored).has_value(), "leniency accepts what strictness does");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  survives<Everything>(text);
  survives<json::Raw>(text);
  // The writer's side: any bytes become a valid string, and valid ones stay what they are.
  const auto string = json::decode<std::string>(json::encode(text));
  check(string.has_value() || text.contains('\0'), "the writer writes valid JSON");
  check(!string || !is_utf8(text) || *string == text, "a string is kept");
  return 0;
}
