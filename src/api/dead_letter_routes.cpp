#include "api/dead_letter_routes.h"

#include "api/problems.h"
#include "api/query.h"
#include "base/encoding.h"
#include "base/json.h"

namespace sluice::api {
namespace {

using messaging::DeadLetter;
using messaging::DeadLetters;
using messaging::LetterProgress;
using messaging::LetterSelection;

// Limit on letters settled by one request, so that it ends in its time; the caller repeats it for more.
constexpr size_t largest_batch = 1'000;

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

namespace {

// Which letters, in queries and bodies alike.
struct Wanted {
  std::optional<std::string> topic;
  std::optional<std::string> reason;
  std::optional<std::string> key;
  std::optional<Time> from;
  std::optional<Time> before;

  template <class T>
  static void describe_wanted(json::Object<T>& object) {
    using Text = std::optional<std::string> T::*;
    using When = std::optional<Time> T::*;
    object.optional("topic", static_cast<Text>(&T::topic)).length(1, 200).about("Topic of the original message.");
    object.optional("reason", static_cast<Text>(&T::reason)).length(1, 200).about("Reason of the failure.");
    object.optional("key", static_cast<Text>(&T::key)).length(0, 1'000).about("Key of the original message.");
    object.optional("from", static_cast<When>(&T::from)).about("Only letters that failed at or after this time.");
    object.optional("before", static_cast<When>(&T::before)).about("Only letters that failed before this time.");
  }
  static void describe(json::Object<Wanted>& object) { describe_wanted(object); }

  LetterSelection selection() const {
    return {.topic = topic, .reason = reason, .key = key, .failed_from = from, .failed_before = before};
  }
};

struct LettersQuery : Wanted {
  std::optional<std::string> cursor;
  int64_t limit = default_page;

  static void describe(json::Object<LettersQuery>& object) {
    describe_wanted(object);
    object.optional("cursor", &LettersQuery::cursor).form(letter_id_form).about("The `next` of the previous page.");
    describe_limit(object);
  }
};

struct SettleRequest : Wanted {
  std::optional<std::string> id;
  bool all = false;
  bool dry_run = false;

  static void describe(json::Object<SettleRequest>& object) {
    object.optional("id", &SettleRequest::id).form(letter_id_form).about("Only this letter.");
    describe_wanted(object);
    object.optional("all", &SettleRequest::all).about("Selects every letter; required if no other field is given.");
    object.optional("dryRun", &SettleRequest::dry_run).about("Only count the selected letters.");
    object.at_least_one_of({"id", "topic", "reason", "key", "from", "before", "all"});
  }
};

constexpr std::string_view progress_schema =
    R"({"type":"object","required":["selected","settled","refused","remaining"],"properties":{)"
    R"("selected":{"type":"integer"},"settled":{"type":"integer"},"refused":{"type":"integer"},)"
    R"("remaining":{"type":"integer","description":"Selected letters that are neither settled nor refused."}}})";
constexpr std::string_view groups_schema =
    R"({"type":"object","required":["groups"],"properties":{"groups":{"type":"array","items":{"type":"object",)"
    R"("required":["topic","reason","count","oldest","newest","lettersTopic"],"properties":{)"
    R"("topic":{"type":"string"},"reason":{"type":"string"},"count":{"type":"integer","minimum":1},)"
    R"("oldest":{"type":"string","format":"date-time"},"newest":{"type":"string","format":"date-time"},)"
    R"("lettersTopic":{"type":"string"}}}}}})";
// Of one letter alone.
constexpr std::string_view original_properties =
    R"(,"headers":{"type":"object","additionalProperties":{"type":"string"}},)"
    R"("payload":{"description":"Payload of the original message, if it is JSON."},)"
    R"("payloadBytes":{"type":"string","description":"Payload in base64url, if it is not JSON."})";

std::string letter_schema(std::string_view more_properties) {
  return fmt::format(
      R"({{"type":"object","required":["id","topic","key","group","reason","error","tries","failedAt","worker",)"
      R"("complete"],"properties":{{"id":{{"type":"string","pattern":"{}"}},"topic":{{"type":"string"}},)"
      R"("partition":{{"type":"integer"}},"offset":{{"type":"integer"}},"key":{{"type":"string"}},)"
      R"("group":{{"type":"string"}},"reason":{{"type":"string"}},"error":{{"type":"string"}},)"
      R"("tries":{{"type":"integer"}},"failedAt":{{"type":"string","format":"date-time"}},)"
      R"("worker":{{"type":"string"}},"complete":{{"type":"boolean"}}{}}}}})",
      letter_id_form.pattern, more_properties);
}

void write_letter(json::Writer& writer, const DeadLetter& letter) {
  writer.field("id", letter.id()).field("topic", letter.original.topic);
  if (letter.was_in_log()) writer.field("partition", letter.origin.partition).field("offset", letter.origin.offset);
  writer.field("key", letter.original.key).field("group", letter.group).field("reason", letter.failure.reason);
  writer.field("error", letter.failure.error).field("tries", letter.failure.tries);
  writer.field("failedAt", letter.failure.at).field("worker", letter.failure.worker);
  writer.field("complete", letter.complete);
}

// The original's payload as it is where it is JSON, else its bytes.
void write_original(json::Writer& writer, const DeadLetter& letter) {
  writer.key("headers").begin_object();
  for (const auto& [name, value] : letter.original.headers) writer.field(name, value);
  writer.end_object();
  if (!letter.complete) return;
  if (json::Document::parse(letter.original.payload)) {
    writer.key("payload").raw(letter.original.payload);
  } else {
    writer.field("payloadBytes", to_base64url(as_bytes(letter.original.payload)));
  }
}

Task<http::Response> list_letters(DeadLetters& letters, http::Request& request) {
  auto query = decode_query<LettersQuery>(request);
  if (!query) co_return std::move(query.error());
  LetterSelection selection = query->selection();
  const auto most = static_cast<size_t>(query->limit);
  std::optional<messaging::Position> from;
  if (query->cursor) from = messaging::parse_letter_id(*query->cursor);
  const messaging::LetterPage page = co_await letters.list(std::move(selection), most, from);
  std::string body;
  json::Writer writer(body);
  writer.begin_object().key("letters").begin_array();
  for (const DeadLetter& letter : page.letters) {
    writer.begin_object();
    write_letter(writer, letter);
    writer.end_object();
  }
  writer.end_array();
  if (page.next) writer.field("next", messaging::letter_id(*page.next));
  writer.end_object();
  co_return http::Response::json(200, std::move(body));
}

Task<http::Response> group_letters(DeadLetters& letters, http::Request& request) {
  auto query = decode_query<Wanted>(request);
  if (!query) co_return std::move(query.error());
  LetterSelection selection = query->selection();
  const std::vector<messaging::LetterGroup> groups = co_await letters.groups(std::move(selection));
  std::string body;
  json::Writer writer(body);
  writer.begin_object().key("groups").begin_array();
  for (const messaging::LetterGroup& group : groups) {
    writer.begin_object().field("topic", group.topic).field("reason", group.reason).field("count", group.count);
    writer.field("oldest", group.oldest).field("newest", group.newest).field("lettersTopic", group.letters_topic);
    writer.end_object();
  }
  writer.end_array().end_object();
  co_return http::Response::json(200, std::move(body));
}

Task<http::Response> show_letter(DeadLetters& letters, http::Request& request) {
  const auto position = messaging::parse_letter_id(request.param("id"));
  if (!position) co_return not_found(request, "The letter does not exist.");
  const std::optional<DeadLetter> letter = co_await letters.show(*position);
  if (!letter) co_return not_found(request, "The letter does not exist, or it was settled.");
  std::string body;
  json::Writer writer(body);
  writer.begin_object();
  write_letter(writer, *letter);
  write_original(writer, *letter);
  writer.end_object();
  co_return http::Response::json(200, std::move(body));
}

using Settle = Task<LetterProgress> (DeadLetters::*)(LetterSelection, messaging::SettleOptions);

Task<http::Response> settle_letters(DeadLetters& letters, http::Request& request, Settle settle) {
  auto wanted = decode_body<SettleRequest>(request);
  if (!wanted) co_return std::move(wanted.error());
  LetterSelection selection = wanted->selection();
  if (wanted->id) selection.letter = messaging::parse_letter_id(*wanted->id);
  messaging::SettleOptions options{.dry_run = wanted->dry_run, .most = largest_batch};
  const LetterProgress done = co_await (letters.*settle)(std::move(selection), std::move(options));
  std::string body;
  json::Writer writer(body);
  writer.begin_object().field("selected", done.selected).field("settled", done.settled);
  writer.field("refused", done.refused).field("remaining", done.remaining()).end_object();
  co_return http::Response::json(200, std::move(body));
}

void add_settling(Api& api, DeadLetters& letters, std::string pattern, std::string summary, Settle settle) {
  api.add({.method = http::Method::post,
           .pattern = std::move(pattern),
           .tag = "dead letters",
           .summary = std::move(summary),
           .role = accounts::Role::admin,
           .body_schema = json::schema<SettleRequest>(),
           .answers =
               {{200,
                 "The counts. A call settles at most 1,000 letters and skips those that are refused. Repeat it while "
                 "`remaining` and `settled` are above 0.",
                 std::string(progress_schema)}},
           .options = {.max_body = 16 << 10},
           .action = [&letters, settle](const Call& call) { return settle_letters(letters, call.request, settle); }});
}

}  // namespace

void add_dead_letter_routes(Api& api, DeadLetters& letters) {
  api.add({.pattern = "/api/v1/dead-letters",
           .tag = "dead letters",
           .summary = "Lists open dead letters: messages that could not be handled.",
           .role = accounts::Role::admin,
           .query = query_parameters<LettersQuery>(),
           .answers = {{200, "A page of letters.",
                        fmt::format(R"({{"type":"object","required":["letters"],"properties":{{"letters":{{)"
                                    R"("type":"array","items":{}}},"next":{{"type":"string","pattern":"{}"}}}}}})",
                                    letter_schema(""), letter_id_form.pattern)}},
           .action = [&letters](const Call& call) { return list_letters(letters, call.request); }});
  api.add({.pattern = "/api/v1/dead-letters/groups",
           .tag = "dead letters",
           .summary = "Counts dead letters by topic and reason, largest group first.",
           .role = accounts::Role::admin,
           .query = query_parameters<Wanted>(),
           .answers = {{200, "The groups.", std::string(groups_schema)}},
           .action = [&letters](const Call& call) { return group_letters(letters, call.request); }});
  api.add({.pattern = "/api/v1/dead-letters/{id}",
           .tag = "dead letters",
           .summary = "Returns a letter with its original message.",
           .role = accounts::Role::admin,
           .path = {{"id", "TOPIC:PARTITION:OFFSET.",
                     fmt::format(R"({{"type":"string","pattern":"{}"}})", letter_id_form.pattern)}},
           .answers = {{200, "The letter.", letter_schema(original_properties)}},
           .action = [&letters](const Call& call) { return show_letter(letters, call.request); }});
  add_settling(api, letters, "/api/v1/dead-letters/replay",
               "Publishes the original messages to their topics again, in order for each key.", &DeadLetters::replay);
  add_settling(api, letters, "/api/v1/dead-letters/purge", "Discards letters.", &DeadLetters::purge);
}

}  // namespace sluice::api
