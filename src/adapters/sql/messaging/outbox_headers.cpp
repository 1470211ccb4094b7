#include "adapters/sql/messaging/outbox_headers.h"

#include "base/json.h"

namespace sluice::sql {

std::string to_json(const messaging::Headers& headers) {
  std::string out;
  json::Writer writer(out);
  writer.begin_object();
  for (const auto& [name, value] : headers) writer.field(name, value);
  writer.end_object();
  return out;
}

std::optional<messaging::Headers> headers_from_json(std::string_view text) {
  if (text == "{}") return messaging::Headers{};
  auto read = json::decode<std::map<std::string, std::string>>(text);
  if (!read) return std::nullopt;
  messaging::Headers headers;
  for (auto& [name, value] : *read) headers.emplace_back(name, std::move(value));
  return headers;
}

}  // namespace sluice::sql
