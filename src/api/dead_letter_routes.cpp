#include "api/dead_letter_routes.h"

#include "api/paging.h"
#include "api/problems.h"
#include "base/encoding.h"
#include "base/json.h"
#include "http/problem.h"

namespace sluice::api {
namespace {

using messaging::DeadLetter;
using messaging::DeadLetters;
using messaging::LetterProgress;
using messaging::LetterSelection;

// Settled by one request, so that it ends in its time; whoever has more asks again.
constexpr size_t largest_batch = 1'000;

struct SettleRequest {
  std::optional<std::string> id;
  std::optional<std::string> topic;
  std::optional<std::string> reason;
  std::optional<std::string> key;
  std::optional<Time> from;
  std::optional<Time> before;
  bool all = false;
  bool dry_run = false;

  static void describe(json::Object<SettleRequest>& object) {
    object.optional("id", &SettleRequest::id).about("Just this letter.");
    object.optional("topic", &SettleRequest::topic).about("Of the original message.");
    object.optional("reason", &SettleRequest::reason).about("Why it was given up.");
    object.optional("key", &SettleRequest::key).about("Of the message.");
    object.optional("from", &SettleRequest::from).about("Failed at or after.");
    object.optional("before", &SettleRequest::before).about("Failed before.");
    object.optional("all", &SettleRequest::all).about("Needed where nothing else is said.");
    object.optional("dryRun", &SettleRequest::dry_run).about("Only count what is selected.");
  }
  bool selects() const { return id || topic || reason || key || from || before; }
};

constexpr std::string_view progress_schema =
    R"({"type":"object","required":["selected","settled","refused","remaining"],"properties":{)"
    R"("selected":{"type":"integer"},"settled":{"type":"integer"},"refused":{"type":"integer"},)"
    R"("remaining":{"type":"integer","description":"Selected, and neither settled nor refused yet."}}})";
constexpr std::string_view letter_schema =
    R"({"type":"object","required":["id","topic","key","reason","error","tries","failedAt"],"properties":{)"
    R"("id":{"type":"string"},"topic":{"type":"string"},"partition":{"type":"integer"},"offset":{"type":"integer"},)"
    R"("key":{"type":"string"},"group":{"type":"string"},"reason":{"type":"string"},"error":{"type":"string"},)"
    R"("tries":{"type":"integer"},"failedAt":{"type":"string","format":"date-time"},"worker":{"type":"string"},)"
    R"("complete":{"type":"boolean"}}})";

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

// What the query selects, or the answer that says what is wrong with it.
std::expected<LetterSelection, http::Response> selection_of(const http::Request& request) {
  LetterSelection selection;
  selection.topic = request.query_param("topic");
  selection.reason = request.query_param("reason");
  selection.key = request.query_param("key");
  for (const auto& [name, member] :
       {std::pair{"from", &LetterSelection::failed_from}, std::pair{"before", &LetterSelection::failed_before}}) {
    const auto text = request.query_param(name);
    if (!text) continue;
    selection.*member = parse_time(*text);
    if (!(selection.*member)) return std::unexpected(bad_query(request, name, "must be a time, 2026-05-01T11:00:00Z"));
  }
  return selection;
}

Task<http::Response> list_letters(DeadLetters& letters, http::Request& request) {
  auto selection = selection_of(request);
  if (!selection) co_return std::move(selection.error());
  const auto most = page_size(request);
  if (!most) co_return bad_page_size(request);
  std::optional<messaging::Position> from;
  if (const auto cursor = request.query_param("cursor")) {
    from = messaging::parse_letter_id(*cursor);
    if (!from) co_return bad_cursor(request);
  }
  const messaging::LetterPage page = co_await letters.list(std::move(*selection), *most, from);
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
  auto selection = selection_of(request);
  if (!selection) co_return std::move(selection.error());
  const std::vector<messaging::LetterGroup> groups = co_await letters.groups(std::move(*selection));
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
  if (!position) co_return not_found(request, "There is no such letter.");
  const std::optional<DeadLetter> letter = co_await letters.show(*position);
  if (!letter) co_return not_found(request, "There is no such letter, or it was settled.");
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
  if (!wanted->selects() && !wanted->all) co_return bad_query(request, "all", "say what to take, or all");
  LetterSelection selection{.topic = wanted->topic,
                            .reason = wanted->reason,
                            .key = wanted->key,
                            .failed_from = wanted->from,
                            .failed_before = wanted->before};
  if (wanted->id) {
    selection.letter = messaging::parse_letter_id(*wanted->id);
    if (!selection.letter) co_return bad_query(request, "id", "is no id of a letter");
  }
  messaging::SettleOptions options{.dry_run = wanted->dry_run, .most = largest_batch};
  const LetterProgress done = co_await (letters.*settle)(std::move(selection), std::move(options));
  std::string body;
  json::Writer writer(body);
  writer.begin_object().field("selected", done.selected).field("settled", done.settled);
  writer.field("refused", done.refused).field("remaining", done.remaining()).end_object();
  co_return http::Response::json(200, std::move(body));
}

std::vector<QueryParameter> selection_parameters() {
  return {{"topic", "Of the original message."},
          {"reason", "Why it was given up."},
          {"key", "Of the message."},
          {"from", "Failed at or after.", R"({"type":"string","format":"date-time"})"},
          {"before", "Failed before.", R"({"type":"string","format":"date-time"})"}};
}

void add_settling(Api& api, DeadLetters& letters, std::string pattern, std::string summary, Settle settle) {
  api.add(
      {.method = http::Method::post,
       .pattern = std::move(pattern),
       .tag = "dead letters",
       .summary = std::move(summary),
       .role = accounts::Role::admin,
       .body_schema = json::schema<SettleRequest>(),
       .answers =
           {{200,
             "How many; a call settles at most 1,000 and passes by what is refused. Repeat it while `remaining` and "
             "`settled` are above 0.",
             std::string(progress_schema)},
            {422, "Nothing is selected."}},
       .options = {.max_body = 16 << 10},
       .action = [&letters, settle](const Call& call) { return settle_letters(letters, call.request, settle); }});
}

}  // namespace

void add_dead_letter_routes(Api& api, DeadLetters& letters) {
  std::vector<QueryParameter> paged = selection_parameters();
  paged.push_back({"cursor", "`next` of the page before."});
  paged.push_back({"limit", "Letters on a page.", std::string(page_size_schema)});
  api.add({.pattern = "/api/v1/dead-letters",
           .tag = "dead letters",
           .summary = "Messages that nobody could handle and nobody has dealt with yet.",
           .role = accounts::Role::admin,
           .query = std::move(paged),
           .answers = {{200, "A page of them.",
                        fmt::format(R"({{"type":"object","required":["letters"],"properties":{{"letters":{{)"
                                    R"("type":"array","items":{}}},"next":{{"type":"string"}}}}}})",
                                    letter_schema)}},
           .action = [&letters](const Call& call) { return list_letters(letters, call.request); }});
  api.add({.pattern = "/api/v1/dead-letters/groups",
           .tag = "dead letters",
           .summary = "How many there are, by topic and reason; the largest group first.",
           .role = accounts::Role::admin,
           .query = selection_parameters(),
           .answers = {{200, "The groups.", R"({"type":"object","properties":{"groups":{"type":"array"}}})"}},
           .action = [&letters](const Call& call) { return group_letters(letters, call.request); }});
  api.add({.pattern = "/api/v1/dead-letters/{id}",
           .tag = "dead letters",
           .summary = "One letter with the message it is about.",
           .role = accounts::Role::admin,
           .answers = {{200, "The letter.", std::string(letter_schema)}, {404, "There is none."}},
           .action = [&letters](const Call& call) { return show_letter(letters, call.request); }});
  add_settling(api, letters, "/api/v1/dead-letters/replay",
               "Publishes the originals to their topics again, in order for each key.", &DeadLetters::replay);
  add_settling(api, letters, "/api/v1/dead-letters/purge", "Gives letters up.", &DeadLetters::purge);
}

}  // namespace sluice::api
