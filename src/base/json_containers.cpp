#include "base/json_containers.h"

#include <fmt/format.h>

namespace sluice::json {

bool check_items(Decoder& decoder, size_t count, const Limits& limits) {
  if (count < limits.min_items) return decoder.invalid(fmt::format("must have at least {} items", limits.min_items));
  if (count > limits.max_items) return decoder.invalid(fmt::format("must have at most {} items", limits.max_items));
  return true;
}

void begin_map_schema(Writer& writer, const Limits& limits) {
  begin_schema(writer, "object", limits);
  if (limits.min_items > 0) writer.field("minProperties", limits.min_items);
  if (limits.max_items != Limits{}.max_items) writer.field("maxProperties", limits.max_items);
  writer.key("additionalProperties");
}

Limits limits_of_items(const Limits& limits) {
  Limits rest = limits;
  rest.min_items = Limits{}.min_items;
  rest.max_items = Limits{}.max_items;
  rest.about.clear();
  rest.example.clear();
  rest.fallback.clear();
  rest.nullable = false;
  return rest;
}

}  // namespace sluice::json
