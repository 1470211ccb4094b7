#include "api/dead_letter_view.h"

#include <algorithm>

#include "base/encoding.h"

namespace sluice {
namespace api {
namespace {

bool all_digits(std::string_view text, size_t most) {
  return !text.empty() && text.size() <= most && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// Those of Redis have 19 digits, and 64 bits hold all that begin with at most an 8.
bool is_offset(std::string_view text) {
  return all_digits(text, 18) || (all_digits(text, 19) && text.front() <= '8');
}

bool is_letter_id(std::string_view text) {
  const auto position = messaging::parse_letter_id(text);
  if (!position || position->topic.size() > 200) return false;
  const size_t last = text.rfind(':');
  const size_t first = position->topic.size();
  return all_digits(text.substr(first + 1, last - first - 1), 9) && is_offset(text.substr(last + 1)) &&
         std::ranges::all_of(position->topic, [](char c) {
           return all_digits({&c, 1}, 1) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '_' ||
                  c == '-';
         });
}

}  // namespace

const json::TextForm letter_id_form{"^[A-Za-z0-9._-]{1,200}:[0-9]{1,9}:([0-9]{1,18}|[0-8][0-9]{18})$", is_letter_id,
                                    "must be the id of a dead letter"};

}  // namespace api

namespace messaging {
namespace {

std::optional<int32_t> partition(const DeadLetter& letter) {
  if (!letter.was_in_log()) return std::nullopt;
  return letter.origin.partition;
}

std::optional<int64_t> offset(const DeadLetter& letter) {
  if (!letter.was_in_log()) return std::nullopt;
  return letter.origin.offset;
}

std::optional<std::string> next(const LetterPage& page) {
  if (!page.next) return std::nullopt;
  return letter_id(*page.next);
}

template <std::derived_from<DeadLetter> T>
void describe_letter(json::Object<T>& object) {
  using Text = const std::string&;
  object.required("id", &DeadLetter::id).form(api::letter_id_form);
  object.required("topic", [](const DeadLetter& letter) -> Text { return letter.original.topic; });
  object.optional("partition", partition).omit_null();
  object.optional("offset", offset).omit_null();
  object.required("key", [](const DeadLetter& letter) -> Text { return letter.original.key; });
  object.required("group", &DeadLetter::group);
  object.required("reason", [](const DeadLetter& letter) -> Text { return letter.failure.reason; });
  object.required("error", [](const DeadLetter& letter) -> Text { return letter.failure.error; });
  object.required("tries", [](const DeadLetter& letter) { return letter.failure.tries; });
  object.required("failedAt", [](const DeadLetter& letter) { return letter.failure.at; });
  object.required("worker", [](const DeadLetter& letter) -> Text { return letter.failure.worker; });
  object.required("complete", &DeadLetter::complete);
}

}  // namespace

static void describe(json::Object<LetterGroup>& object) {
  object.required("topic", &LetterGroup::topic);
  object.required("reason", &LetterGroup::reason);
  object.required("count", &LetterGroup::count).at_least(1);
  object.required("oldest", &LetterGroup::oldest);
  object.required("newest", &LetterGroup::newest);
  object.required("lettersTopic", &LetterGroup::letters_topic);
}

void describe(json::Object<DeadLetter>& object) {
  describe_letter(object);
}

void describe(json::Object<LetterPage>& object) {
  object.required("letters", &LetterPage::letters);
  object.optional("next", next).form(api::letter_id_form).omit_null();
}

void describe(json::Object<LetterProgress>& object) {
  object.required("selected", &LetterProgress::selected);
  object.required("settled", &LetterProgress::settled);
  object.required("refused", &LetterProgress::refused);
  object.required("remaining", &LetterProgress::remaining)
      .about("Selected letters that are neither settled nor refused.");
}

}  // namespace messaging

namespace api {
namespace {

std::optional<json::RawView> payload(const LetterWithOriginal& letter) {
  if (!letter.complete || !letter.is_json) return std::nullopt;
  return json::RawView{letter.original.payload};
}

std::optional<std::string> payload_bytes(const LetterWithOriginal& letter) {
  if (!letter.complete || letter.is_json) return std::nullopt;
  return to_base64url(as_bytes(letter.original.payload));
}

}  // namespace

void LetterGroups::describe(json::Object<LetterGroups>& object) {
  object.required("groups", &LetterGroups::groups);
}

LetterWithOriginal LetterWithOriginal::of(messaging::DeadLetter letter) {
  const bool is_json = json::Document::parse(letter.original.payload).has_value();
  return {std::move(letter), is_json};
}

void LetterWithOriginal::describe(json::Object<LetterWithOriginal>& object) {
  using Headers = const messaging::Headers&;
  messaging::describe_letter(object);
  object.required("headers", [](const DeadLetter& letter) -> Headers { return letter.original.headers; });
  object.optional("payload", payload).about("Payload of the original message, if it is JSON.").omit_null();
  object.optional("payloadBytes", payload_bytes).about("Payload in base64url, if it is not JSON.").omit_null();
}

}  // namespace api
}  // namespace sluice
