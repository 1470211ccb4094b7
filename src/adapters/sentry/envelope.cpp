#include "adapters/sentry/envelope.h"

#include <fmt/format.h>

#include "adapters/sentry/scrub.h"
#include "base/encoding.h"
#include "base/json.h"

namespace sluice::sentry {
namespace {

// Beyond these Sentry cuts or refuses.
constexpr size_t longest_tag = 200;
constexpr size_t longest_text = 8 * 1024;

// `text` is scrubbed already: a secret cut in two would not be recognized.
std::string shortened(std::string text, size_t most) {
  if (text.size() <= most) return text;
  text.resize(most);
  while ((static_cast<unsigned char>(text.back()) & 0xC0) == 0x80) text.pop_back();  // not in the middle of a letter
  if (static_cast<unsigned char>(text.back()) >= 0xC0) text.pop_back();
  return text;
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

void write_pairs(json::Writer& writer, std::string_view name, const Pairs& pairs, size_t longest) {
  writer.key(name).begin_object();
  for (const auto& [key, value] : pairs) writer.field(key, shortened(scrub(value), longest));
  writer.end_object();
}

std::string event_json(const ErrorReport& report, const Sender& sender, const std::string& id) {
  const std::string message = shortened(scrub(report.message), longest_text);
  std::string out;
  json::Writer writer(out);
  writer.begin_object().field("event_id", id).field("timestamp", format_time(report.at)).field("platform", "other");
  writer.field("level", report.severity == ErrorReport::Severity::error ? "error" : "warning");
  writer.field("logger", "sluice").field("release", sender.release).field("environment", sender.environment);
  if (!sender.server.empty()) writer.field("server_name", sender.server);
  writer.key("exception").begin_object().key("values").begin_array();
  writer.begin_object().field("type", report.type).field("value", message).end_object();
  writer.end_array().end_object();
  // Texts differ in hosts and numbers; without this each would be a matter of its own.
  writer.key("fingerprint").begin_array().string(report.type).end_array();
  write_pairs(writer, "tags", report.tags, longest_tag);
  write_pairs(writer, "extra", report.details, longest_text);
  writer.end_object();
  return out;
}

}  // namespace

std::string envelope(const ErrorReport& report, const Sender& sender, const Uuid& event, Time now) {
  const std::string id = to_hex(event.bytes);
  const std::string body = event_json(report, sender, id);
  std::string out;
  json::Writer(out).begin_object().field("event_id", id).field("sent_at", format_time(now)).end_object();
  out += '\n';
  std::string item;
  json::Writer(item)
      .begin_object()
      .field("type", "event")
      .field("content_type", "application/json")
      .field("length", body.size())
      .end_object();
  return out + item + '\n' + body + '\n';
}

}  // namespace sluice::sentry
