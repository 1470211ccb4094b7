#include "adapters/sql/messaging/log_block.h"

#include "coordination/journal_record.h"

namespace sluice::sql {

using coordination::RecordReader;
using coordination::RecordWriter;
using messaging::AssignmentRef;
using messaging::Delivery;
using messaging::HeaderViews;
using messaging::Message;

namespace {

struct RecordViews {
  std::string_view key;
  std::string_view payload;
  HeaderViews headers;
};

RecordViews next_record(RecordReader& reader) {
  RecordViews record;
  record.key = reader.text();
  record.payload = reader.text();
  const auto headers = static_cast<size_t>(reader.number());
  record.headers.reserve(headers);
  for (size_t i = 0; i < headers; ++i) {
    const std::string_view name = reader.text();
    record.headers.emplace_back(name, reader.text());
  }
  return record;
}

}  // namespace

std::string log_record(const Message& message) {
  RecordWriter record;
  record.reserve(messaging::bytes_of(message) + 16 + 8 * message.headers.size());
  record.text(message.key).text(message.payload).number(static_cast<int64_t>(message.headers.size()));
  for (const auto& [name, value] : message.headers) record.text(name).text(value);
  return record.take();
}

std::vector<Delivery> open_block(LogBlock block, const AssignmentRef& assignment, int64_t from) {
  const auto owner = std::make_shared<const LogBlock>(std::move(block));
  std::vector<Delivery> deliveries;
  RecordReader reader(as_text(owner->records));
  for (int64_t offset = owner->id * offsets_per_block + owner->first; !reader.at_end(); ++offset) {
    RecordViews record = next_record(reader);
    if (offset < from) continue;
    deliveries.push_back({.assignment = assignment,
                          .offset = offset,
                          .published_at = owner->published_at,
                          .key = record.key,
                          .payload = record.payload,
                          .headers = std::move(record.headers),
                          .owner = owner});
  }
  return deliveries;
}

std::string_view records_from(const LogBlock& block, int64_t number) {
  const std::string_view all = as_text(block.records);
  RecordReader reader(all);
  for (int64_t i = block.first; i < number && !reader.at_end(); ++i) next_record(reader);
  return all.substr(all.size() - reader.left());
}

}  // namespace sluice::sql
