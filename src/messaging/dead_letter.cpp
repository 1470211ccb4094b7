#include "messaging/dead_letter.h"

#include <charconv>

#include <fmt/format.h>

#include "base/encoding.h"
#include "base/json.h"

namespace sluice::messaging {
namespace {

// Headers of a letter and of a mark.
constexpr std::string_view group_header = "letter-group";
constexpr std::string_view origin_header = "letter-origin";       // TOPIC:PARTITION:OFFSET
constexpr std::string_view size_header = "letter-original-size";  // where the original is JSON
constexpr std::string_view mark_header = "letter-mark";           // "replayed" or "purged": it is a mark
constexpr std::string_view settles_header = "letter-settles-to";  // an offset
constexpr std::string_view original_prefix = "original.";
// The original comes first and byte for byte, so that a replay publishes the same bytes.
constexpr std::string_view opening = R"({"originalEvent":)";

struct LetterBody {
  std::optional<json::Raw> original_event;
  std::optional<std::string> original_bytes;
  std::string reason;
  std::string error;
  int64_t tries = 0;
  Time failed_at{};
  std::string worker;

  static void describe(json::Object<LetterBody>& object) {
    object.optional("originalEvent", &LetterBody::original_event);
    object.optional("originalBytes", &LetterBody::original_bytes);
    object.required("failureReason", &LetterBody::reason);
    object.required("errorMessage", &LetterBody::error);
    object.required("retryCount", &LetterBody::tries);
    object.required("failedAt", &LetterBody::failed_at);
    object.required("workerId", &LetterBody::worker);
  }
};

std::string position_text(const Position& position) {
  return fmt::format("{}:{}:{}", position.topic, position.partition, position.offset);
}

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

// Not within a character of UTF-8.
std::string_view cut(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
  return text.substr(0, most);
}

void write_failure(json::Writer& writer, const Failure& failure) {
  writer.field("failureReason", cut(failure.reason, max_reason_bytes))
      .field("errorMessage", cut(failure.error, max_error_bytes))
      .field("retryCount", failure.tries)
      .field("failedAt", failure.at)
      .field("workerId", failure.worker)
      .end_object();
}

std::string body_with_event(std::string_view original, const Failure& failure) {
  std::string body;
  json::Writer writer(body);
  writer.begin_object().key("originalEvent").raw(original);
  write_failure(writer, failure);
  return body;
}

std::string body_with_bytes(std::optional<std::string> bytes, const Failure& failure) {
  std::string body;
  json::Writer writer(body);
  writer.begin_object();
  if (bytes) writer.field("originalBytes", *bytes);
  write_failure(writer, failure);
  return body;
}

// Ours only if everything that makes a letter is there.
bool read_body(const Delivery& delivery, DeadLetter& letter) {
  const auto group = delivery.header(group_header);
  const auto origin = delivery.header(origin_header);
  const auto stood = origin ? parse_letter_id(*origin) : std::nullopt;
  auto body = json::decode<LetterBody>(delivery.payload, json::Unknown::ignored);
  if (!group || !stood || !body) return false;

  letter.group = *group;
  letter.origin = *stood;
  letter.failure = {body->reason, body->error, body->tries, body->failed_at, body->worker};
  letter.original.topic = stood->topic;
  const auto size = parse_number<size_t>(delivery.header(size_header).value_or(""));
  if (size && opening.size() + *size <= delivery.payload.size()) {
    letter.original.payload = delivery.payload.substr(opening.size(), *size);
    letter.complete = true;
  } else if (body->original_bytes) {
    const auto bytes = from_base64url(*body->original_bytes);
    if (!bytes) return false;
    letter.original.payload = as_text(*bytes);
    letter.complete = true;
  }
  return true;
}

}  // namespace

std::string DeadLetter::id() const {
  return letter_id(position);
}

std::string letter_id(const Position& letter) {
  return position_text(letter);
}

std::optional<Position> parse_letter_id(std::string_view id) {
  const size_t second = id.rfind(':');
  if (second == std::string_view::npos || second == 0) return std::nullopt;
  const size_t first = id.rfind(':', second - 1);
  if (first == std::string_view::npos || first == 0) return std::nullopt;
  const auto partition = parse_number<int32_t>(id.substr(first + 1, second - first - 1));
  const auto offset = parse_number<int64_t>(id.substr(second + 1));
  if (!partition || !offset) return std::nullopt;
  return Position{std::string(id.substr(0, first)), *partition, *offset};
}

Message write_letter(const std::string& topic, const std::string& group, const Delivery& delivery,
                     const Failure& failure, LetterForm form) {
  const bool least = form == LetterForm::least;
  Message letter{topic, std::string(least ? delivery.key.substr(0, max_least_key_bytes) : delivery.key), {}};
  letter.headers = {{std::string(header::message_type), "DeadLetter"},
                    {std::string(group_header), group},
                    {std::string(origin_header), position_text(delivery.position())}};
  for (const auto& [name, value] : delivery.headers) {
    if (!least) letter.headers.emplace_back(std::string(original_prefix) + std::string(name), value);
  }
  if (form != LetterForm::whole) {
    letter.payload = body_with_bytes(std::nullopt, failure);
    return letter;
  }
  // A payload that is not JSON, or that is too deep inside a letter, is stored as bytes.
  if (json::decode<json::Raw>(delivery.payload)) letter.payload = body_with_event(delivery.payload, failure);
  if (!letter.payload.empty() && json::decode<LetterBody>(letter.payload)) {
    letter.headers.emplace_back(size_header, std::to_string(delivery.payload.size()));
  } else {
    letter.payload = body_with_bytes(to_base64url(as_bytes(delivery.payload)), failure);
  }
  return letter;
}

Message write_mark(const DeadLetter& letter, int64_t settles_to, Settled how, Time now) {
  std::string body;
  json::Writer(body).begin_object().field("letter", letter.id()).field("settledAt", now).end_object();
  const std::string_view how_text = how == Settled::replayed ? "replayed" : "purged";
  return {letter.position.topic,
          letter.letter_key,
          std::move(body),
          {{std::string(header::message_type), "DeadLetterMark"},
           {std::string(group_header), letter.group},
           {std::string(origin_header), position_text(letter.origin)},
           {std::string(mark_header), std::string(how_text)},
           {std::string(settles_header), std::to_string(settles_to)}}};
}

LetterEntry read_entry(const Delivery& delivery) {
  const auto group = delivery.header(group_header);
  const auto origin = delivery.header(origin_header);
  LetterEntry entry{
      group && origin ? fmt::format("{} {}", *group, *origin) : fmt::format(" {}", position_text(delivery.position())),
      std::nullopt};
  if (delivery.header(mark_header)) {
    entry.settles_to = parse_number<int64_t>(delivery.header(settles_header).value_or("")).value_or(0);
  }
  return entry;
}

DeadLetter read_letter(const Delivery& delivery) {
  DeadLetter letter{delivery.position(), {}, {}};
  letter.letter_key = delivery.key;
  letter.original.key = delivery.key;
  if (read_body(delivery, letter)) {
    for (const auto& [name, value] : delivery.headers) {
      if (name.starts_with(original_prefix)) {
        letter.original.headers.emplace_back(name.substr(original_prefix.size()), value);
      }
    }
    return letter;
  }
  letter.origin = delivery.position();
  letter.failure = {"UNREADABLE", "not written by a consumer", 0, delivery.published_at, ""};
  letter.original = delivery.message();
  letter.complete = false;
  return letter;
}

}  // namespace sluice::messaging
