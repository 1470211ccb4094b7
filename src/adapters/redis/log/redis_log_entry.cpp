#include "adapters/redis/log/redis_log_entry.h"

#include <charconv>
#include <iterator>

#include <fmt/format.h>

#include "adapters/redis/client/redis.h"
#include "adapters/redis/log/redis_log_keys.h"

namespace sluice::redis {
namespace {

void append_netstring(std::string& out, std::string_view text) {
  fmt::format_to(std::back_inserter(out), "{}:", text.size());
  out += text;
  out += ',';
}

std::string_view take_netstring(std::string_view& packed) {
  size_t size = 0;
  const char* const end = packed.data() + packed.size();
  const auto number = std::from_chars(packed.data(), end, size);
  const auto left = static_cast<size_t>(end - number.ptr);
  if (number.ec != std::errc() || left < 2 || *number.ptr != ':' || size > left - 2 || number.ptr[1 + size] != ',') {
    throw EngineUnavailable(engine_name, "an entry of the log has malformed headers", EngineUnavailable::Retryable::no);
  }
  const std::string_view text(number.ptr + 1, size);
  packed.remove_prefix(static_cast<size_t>(text.data() + size + 1 - packed.data()));
  return text;
}

// After the mark of the end come four for each message: id, key, payload, headers.
constexpr size_t fields = 4;

}  // namespace

std::string pack_headers(const messaging::Headers& headers) {
  std::string packed;
  for (const auto& [name, value] : headers) {
    append_netstring(packed, name);
    append_netstring(packed, value);
  }
  return packed;
}

messaging::HeaderViews unpack_headers(std::string_view packed) {
  messaging::HeaderViews headers;
  while (!packed.empty()) {
    const std::string_view name = take_netstring(packed);
    headers.emplace_back(name, take_netstring(packed));
  }
  return headers;
}

LogPage page_of(Reply reply, const std::shared_ptr<const messaging::Assignment>& assignment) {
  const auto owner = std::make_shared<const Reply>(std::move(reply));
  const Reply::Array& found = owner->array();
  LogPage page{{}, found.at(0).integer() == 1};
  page.messages.reserve(found.size() / fields);
  for (size_t i = 1; i + fields <= found.size(); i += fields) {
    const int64_t offset = offset_of(found[i].text());
    page.messages.push_back({.assignment = assignment,
                             .offset = offset,
                             .published_at = time_of(offset),
                             .key = found[i + 1].text(),
                             .payload = found[i + 2].text(),
                             .headers = unpack_headers(found[i + 3].text()),
                             .owner = owner});
  }
  return page;
}

}  // namespace sluice::redis
