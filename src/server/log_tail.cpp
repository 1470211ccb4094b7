#include "server/log_tail.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "base/encoding.h"
#include "base/json.h"

namespace sluice::server {
namespace {

using messaging::Delivery;
using messaging::PartitionBounds;

constexpr size_t page = 200;
constexpr Duration follow_every = 500ms;

// Bytes that are no text are written as base64url.
std::string line_of(const Delivery& delivery) {
  std::string line;
  json::Writer writer(line);
  const auto text = [&writer](std::string_view name, std::string_view value) {
    if (is_utf8(value)) {
      writer.field(name, value);
    } else {
      writer.field(std::string(name) + "Bytes", to_base64url(as_bytes(value)));
    }
  };
  writer.begin_object().field("publishedAt", delivery.published_at).field("topic", delivery.assignment->topic);
  writer.field("partition", delivery.assignment->partition).field("offset", delivery.offset);
  text("key", delivery.key);
  writer.key("headers").begin_object();
  for (const auto& [name, value] : delivery.headers) text(name, value);
  writer.end_object();
  if (json::Document::parse(delivery.payload)) {
    writer.key("payload").raw(delivery.payload);
  } else {
    text("payload", delivery.payload);
  }
  writer.end_object();
  return line;
}

auto order_of(const Delivery& delivery) {
  return std::tuple(delivery.published_at, delivery.assignment->partition, delivery.offset);
}

// Those over the count go, oldest first.
void keep_last(auto& deliveries, size_t count) {
  if (deliveries.size() <= count) return;
  deliveries.erase(deliveries.begin(), deliveries.end() - static_cast<std::ptrdiff_t>(count));
}

void print_in_order(std::vector<Delivery> found) {
  std::ranges::sort(found, {}, order_of);
  for (const Delivery& delivery : found) fmt::print("{}\n", line_of(delivery));
  std::fflush(stdout);
}

}  // namespace

bool TailSelection::takes(const Delivery& delivery) const {
  return (key.empty() || delivery.key == key) && (!since || delivery.published_at >= *since);
}

// A partition that is read from its beginning to the end it had at the start.
struct LogTail::Reading {
  PartitionBounds left;
  std::deque<Delivery> ready{};
};

// Returns the next page without filtered messages; advances `from` past the page, at most to the partition's end.
Task<std::vector<Delivery>> LogTail::read_page(int32_t partition, int64_t& from) {
  std::vector<Delivery> found = co_await view_.read(wanted_.topic, partition, from, page);
  if (!found.empty()) from = found.back().offset + 1;
  std::erase_if(found, [this](const Delivery& delivery) { return !wanted_.takes(delivery); });
  co_return found;
}

Task<> LogTail::read_more(Reading& reading) {
  PartitionBounds& left = reading.left;
  while (reading.ready.empty() && left.first < left.end) {
    const int64_t before = left.first;
    std::vector<Delivery> found = co_await read_page(left.partition, left.first);
    if (left.first == before) left.first = left.end;
    std::erase_if(found, [&left](const Delivery& delivery) { return delivery.offset >= left.end; });
    std::ranges::move(found, std::back_inserter(reading.ready));
  }
}

Task<> LogTail::print_all() {
  std::vector<Reading> readings;
  for (const PartitionBounds& each : partitions_) readings.push_back({each});
  while (true) {
    for (Reading& each : readings) co_await read_more(each);
    std::erase_if(readings, [](const Reading& each) { return each.ready.empty(); });
    if (readings.empty()) break;
    const auto next =
        std::ranges::min_element(readings, {}, [](const Reading& each) { return order_of(each.ready.front()); });
    fmt::print("{}\n", line_of(next->ready.front()));
    next->ready.pop_front();
  }
  std::fflush(stdout);
}

Task<> LogTail::print_last(size_t count) {
  std::vector<Delivery> found;
  for (PartitionBounds& each : partitions_) {
    const std::deque<Delivery> some = co_await last_of(each, count);
    if (!some.empty()) each.end = std::max(each.end, some.back().offset + 1);
    found.insert(found.end(), some.begin(), some.end());
  }
  std::ranges::sort(found, {}, order_of);
  keep_last(found, count);
  print_in_order(std::move(found));
}

// Offsets have gaps, so it looks further and further back until there are enough.
Task<std::deque<Delivery>> LogTail::last_of(PartitionBounds bounds, size_t count) {
  for (int64_t back = static_cast<int64_t>(count);; back *= 8) {
    const bool whole = bounds.end - bounds.first <= back;
    PartitionBounds some = bounds;
    if (!whole) some.first = bounds.end - back;
    std::deque<Delivery> found = co_await last_behind(some, count);
    if (whole || found.size() == count) co_return found;
  }
}

Task<std::deque<Delivery>> LogTail::last_behind(PartitionBounds bounds, size_t count) {
  std::deque<Delivery> last;
  for (int64_t before = -1; bounds.first < bounds.end && bounds.first != before;) {
    before = bounds.first;
    std::vector<Delivery> found = co_await read_page(bounds.partition, bounds.first);
    std::ranges::move(found, std::back_inserter(last));
    keep_last(last, count);
  }
  co_return last;
}

Task<> LogTail::follow(Clock& clock) {
  while (true) {
    std::vector<Delivery> found;
    bool more = false;
    for (PartitionBounds& each : partitions_) {
      const int64_t before = each.end;
      std::vector<Delivery> some = co_await read_page(each.partition, each.end);
      more = more || each.end != before;
      std::ranges::move(some, std::back_inserter(found));
    }
    print_in_order(std::move(found));
    if (!more) co_await clock.sleep_for(follow_every);
  }
}

}  // namespace sluice::server
