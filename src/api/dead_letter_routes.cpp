#include "api/dead_letter_routes.h"

#include "api/dead_letter_view.h"
#include "api/problems.h"
#include "api/query.h"

namespace sluice::api {
namespace {

using messaging::DeadLetter;
using messaging::DeadLetters;
using messaging::LetterProgress;
using messaging::LetterSelection;

// Limit on letters settled by one request, so that it ends in its time; the caller repeats it for more.
constexpr size_t largest_batch = 1'000;

// Which letters, in queries and bodies alike.
struct Wanted {
  std::optional<std::string> topic;
  std::optional<std::string> reason;
  std::optional<std::string> key;
  std::optional<Time> from;
  std::optional<Time> before;

  template <class T>
  static void describe_wanted(json::Object<T>& object) {
    object.optional("topic", &T::topic).length(1, 200).about("Topic of the original message.");
    object.optional("reason", &T::reason).length(1, 200).about("Reason of the failure.");
    object.optional("key", &T::key).length(0, 1'000).about("Key of the original message.");
    object.optional("from", &T::from).about("Only letters that failed at or after this time.");
    object.optional("before", &T::before).about("Only letters that failed before this time.");
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

Task<http::Response> list_letters(DeadLetters& letters, http::Request& request) {
  auto query = decode_query<LettersQuery>(request);
  if (!query) co_return std::move(query.error());
  LetterSelection selection = query->selection();
  const auto most = static_cast<size_t>(query->limit);
  std::optional<messaging::Position> from;
  if (query->cursor) from = messaging::parse_letter_id(*query->cursor);
  const messaging::LetterPage page = co_await letters.list(std::move(selection), most, from);
  co_return http::Response::json(200, json::encode(page));
}

Task<http::Response> group_letters(DeadLetters& letters, http::Request& request) {
  auto query = decode_query<Wanted>(request);
  if (!query) co_return std::move(query.error());
  LetterSelection selection = query->selection();
  std::vector<messaging::LetterGroup> groups = co_await letters.groups(std::move(selection));
  co_return http::Response::json(200, json::encode(LetterGroups{std::move(groups)}));
}

Task<http::Response> show_letter(DeadLetters& letters, http::Request& request) {
  const auto position = messaging::parse_letter_id(request.param("id"));
  if (!position) co_return not_found(request, "The letter does not exist.");
  std::optional<DeadLetter> letter = co_await letters.show(*position);
  if (!letter) co_return not_found(request, "The letter does not exist, or it was settled.");
  const LetterWithOriginal shown = LetterWithOriginal::of(*std::move(letter));
  co_return http::Response::json(200, json::encode(shown));
}

using Settle = Task<LetterProgress> (DeadLetters::*)(LetterSelection, messaging::SettleOptions);

Task<http::Response> settle_letters(DeadLetters& letters, http::Request& request, Settle settle) {
  auto wanted = decode_body<SettleRequest>(request);
  if (!wanted) co_return std::move(wanted.error());
  LetterSelection selection = wanted->selection();
  if (wanted->id) selection.letter = messaging::parse_letter_id(*wanted->id);
  messaging::SettleOptions options{.dry_run = wanted->dry_run, .most = largest_batch};
  const LetterProgress done = co_await (letters.*settle)(std::move(selection), std::move(options));
  co_return http::Response::json(200, json::encode(done));
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
                 json::output_schema<LetterProgress>()}},
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
           .answers = {{200, "A page of letters.", json::output_schema<messaging::LetterPage>()}},
           .action = [&letters](const Call& call) { return list_letters(letters, call.request); }});
  api.add({.pattern = "/api/v1/dead-letters/groups",
           .tag = "dead letters",
           .summary = "Counts dead letters by topic and reason, largest group first.",
           .role = accounts::Role::admin,
           .query = query_parameters<Wanted>(),
           .answers = {{200, "The groups.", json::output_schema<LetterGroups>()}},
           .action = [&letters](const Call& call) { return group_letters(letters, call.request); }});
  api.add({.pattern = "/api/v1/dead-letters/{id}",
           .tag = "dead letters",
           .summary = "Returns a letter with its original message.",
           .role = accounts::Role::admin,
           .path = {{"id", "TOPIC:PARTITION:OFFSET.",
                     fmt::format(R"({{"type":"string","pattern":"{}"}})", letter_id_form.pattern)}},
           .answers = {{200, "The letter.", json::output_schema<LetterWithOriginal>()}},
           .action = [&letters](const Call& call) { return show_letter(letters, call.request); }});
  add_settling(api, letters, "/api/v1/dead-letters/replay",
               "Publishes the original messages to their topics again, in order for each key.", &DeadLetters::replay);
  add_settling(api, letters, "/api/v1/dead-letters/purge", "Discards letters.", &DeadLetters::purge);
}

}  // namespace sluice::api
