#include <fmt/format.h>

#include "base/encoding.h"
#include "server/commands.h"
#include "server/log_desk.h"

namespace sluice::server {
namespace {

using messaging::DeadLetter;
using messaging::DeadLetters;
using messaging::LetterProgress;
using messaging::LetterSelection;

struct DlqFlags {
  CommonFlags common;
  std::string id;
  std::string topic;
  std::string reason;
  std::string key;
  std::string since;
  std::string before;
  int count = 50;
  bool each = false;
  bool all = false;
  bool dry_run = false;
};

// The letters that the flags select. If a flag is invalid, complains and returns nothing.
std::optional<LetterSelection> selection_of(const DlqFlags& flags, const Clock& clock) {
  LetterSelection selection;
  if (!flags.topic.empty()) selection.topic = flags.topic;
  if (!flags.reason.empty()) selection.reason = flags.reason;
  if (!flags.key.empty()) selection.key = flags.key;
  if (!flags.since.empty() && !(selection.failed_from = parse_moment(flags.since, clock))) {
    complain_of_moment("--since", flags.since);
    return std::nullopt;
  }
  if (!flags.before.empty() && !(selection.failed_before = parse_moment(flags.before, clock))) {
    complain_of_moment("--before", flags.before);
    return std::nullopt;
  }
  if (!flags.id.empty() && !(selection.letter = messaging::parse_letter_id(flags.id))) {
    fmt::print(stderr, "sluice: {} is not the id of a letter; `sluice dlq list --each` lists letters\n", flags.id);
    return std::nullopt;
  }
  return selection;
}

int complain_of_missing(const std::string& id) {
  fmt::print(stderr, "sluice: there is no dead letter {}, or it was settled\n", id);
  return failed;
}

bool selects_something(const DlqFlags& flags) {
  return flags.all || !(flags.id + flags.topic + flags.reason + flags.key + flags.since + flags.before).empty();
}

Task<int> list_each(LogDesk& desk, const DlqFlags& flags, LetterSelection selection) {
  size_t left = static_cast<size_t>(flags.count);
  std::optional<messaging::Position> from;
  do {
    const messaging::LetterPage page = co_await desk.parts.dead_letters().list(selection, left, from);
    for (const DeadLetter& letter : page.letters) {
      fmt::print("{:<32} {}  {:<24} {:<16} key {}  {} tries: {}\n", letter.id(), format_time(letter.failure.at),
                 letter.original.topic, letter.failure.reason, letter.original.key, letter.failure.tries,
                 letter.failure.error);
    }
    left -= page.letters.size();
    from = page.next;
  } while (from && left > 0);
  if (from) fmt::print(stderr, "there are more; --count says how many to show\n");
  co_return 0;
}

Task<int> run_list(LogDesk& desk, const DlqFlags& flags) {
  const auto selection = selection_of(flags, desk.clock);
  if (!selection) co_return asked_wrongly;
  if (flags.each) {
    const int code = co_await list_each(desk, flags, *selection);
    co_return code;
  }
  const std::vector<messaging::LetterGroup> groups = co_await desk.parts.dead_letters().groups(*selection);
  fmt::print("{:<28} {:<28} {:>8}  {:<24}  {:<24}\n", "TOPIC", "REASON", "LETTERS", "OLDEST", "NEWEST");
  size_t total = 0;
  for (const messaging::LetterGroup& group : groups) {
    total += group.count;
    fmt::print("{:<28} {:<28} {:>8}  {:<24}  {:<24}\n", group.topic, group.reason, group.count,
               format_time(group.oldest), format_time(group.newest));
  }
  fmt::print(stderr, "{} dead letters\n", total);
  co_return 0;
}

Task<int> run_show(LogDesk& desk, const DlqFlags& flags) {
  const auto selection = selection_of(flags, desk.clock);
  if (!selection) co_return asked_wrongly;
  const messaging::Position position = *selection->letter;
  const std::optional<DeadLetter> letter = co_await desk.parts.dead_letters().show(position);
  if (!letter) {
    co_return complain_of_missing(flags.id);
  }
  const auto line = [](std::string_view name, const std::string& value) { fmt::print("{:<12}{}\n", name, value); };
  line("id", letter->id());
  line("topic", letter->original.topic);
  if (letter->was_in_log()) {
    line("message", fmt::format("partition {} offset {}", letter->origin.partition, letter->origin.offset));
  }
  line("key", letter->original.key);
  line("group", letter->group);
  line("reason", letter->failure.reason);
  line("error", letter->failure.error);
  line("tries", std::to_string(letter->failure.tries));
  line("failed at", format_time(letter->failure.at));
  line("worker", letter->failure.worker);
  for (const auto& [name, value] : letter->original.headers) line("header", name + ": " + value);
  if (letter->complete) fmt::print("\n{}\n", letter->original.payload);
  if (!letter->complete) fmt::print("\n(the message was too large for the letter)\n");
  co_return 0;
}

using Settle = Task<LetterProgress> (DeadLetters::*)(LetterSelection, messaging::SettleOptions);

Task<int> settle(LogDesk& desk, const DlqFlags& flags, Settle how, std::string_view done_word) {
  if (!selects_something(flags)) {
    fmt::print(stderr, "sluice: select letters (an id, --topic, --reason, --key, --since, --before), or give --all\n");
    co_return asked_wrongly;
  }
  const auto selection = selection_of(flags, desk.clock);
  if (!selection) co_return asked_wrongly;
  Instant next = desk.clock.now() + 1s;
  const auto show = [&desk, &next, done_word](const LetterProgress& progress) {
    if (desk.clock.now() < next) return;
    next = desk.clock.now() + 1s;
    fmt::print(stderr, "{} of {} {}\n", progress.settled, progress.selected, done_word);
  };
  messaging::SettleOptions options{.dry_run = flags.dry_run, .on_progress = show};
  Task<LetterProgress> settling = (desk.parts.dead_letters().*how)(*selection, std::move(options));
  const LetterProgress done = co_await std::move(settling);
  if (!flags.id.empty() && done.selected == 0) co_return complain_of_missing(flags.id);
  if (flags.dry_run) {
    fmt::print("{} would be {}\n", done.selected, done_word);
    co_return 0;
  }
  fmt::print("{} {}, {} refused\n", done.settled, done_word, done.refused);
  if (done.refused > 0) fmt::print(stderr, "sluice: last refusal: {}\n", done.refused_because);
  co_return done.refused == 0 ? 0 : failed;
}

Task<int> run_replay(LogDesk& desk, const DlqFlags& flags) {
  return settle(desk, flags, &DeadLetters::replay, "replayed");
}

Task<int> run_purge(LogDesk& desk, const DlqFlags& flags) {
  return settle(desk, flags, &DeadLetters::purge, "purged");
}

// The options that select letters, then those of the command alone.
std::vector<CommandOption> with_selection(DlqFlags& flags, std::vector<CommandOption> own) {
  std::vector<CommandOption> options{
      {.name = "--topic", .value = &flags.topic, .help = "Messages of this topic"},
      {.name = "--reason", .value = &flags.reason, .help = "Letters with this reason"},
      {.name = "--key", .value = &flags.key, .help = "Messages of this key"},
      {.name = "--since",
       .value = &flags.since,
       .help = "Failed since this time (2026-05-01T11:00:00Z), or at most this long ago (2h)"},
      {.name = "--before", .value = &flags.before, .help = "Failed before this time, or longer ago than this"}};
  options.insert(options.end(), std::make_move_iterator(own.begin()), std::make_move_iterator(own.end()));
  return options;
}

}  // namespace

Command dlq_command() {
  const auto flags = std::make_shared<DlqFlags>();
  const std::vector<CommandOption> settling =
      with_selection(*flags, {{.name = "id", .value = &flags->id, .help = "Only this letter"},
                              {.name = "--all", .value = &flags->all, .help = "All letters"},
                              {.name = "--dry-run", .value = &flags->dry_run, .help = "Only count the letters"}});
  return {
      .name = "dlq",
      .help = "Inspect, replay and purge dead letters, also beside a running server",
      .footer = "Example: sluice dlq replay --reason HANDLER_FAILED --since 2h",
      .commands = {
          desk_command(
              flags, "list", "Count dead letters by topic and reason", "sluice dlq list --topic jobs.enqueue", run_list,
              with_selection(*flags, {{.name = "--each", .value = &flags->each, .help = "Show the letters themselves"},
                                      {.name = "--count",
                                       .value = &flags->count,
                                       .help = "Number of letters to show (default: 50)",
                                       .check = integer_in(1, 1'000'000)}})),
          desk_command(flags, "show", "Show a letter and its message", "sluice dlq show dead-letters:3:17", run_show,
                       {{.name = "id", .value = &flags->id, .help = "The letter's id", .required = true}}),
          desk_command(flags, "replay", "Publish messages to their topics again",
                       "sluice dlq replay --reason HANDLER_FAILED --dry-run", run_replay, settling),
          desk_command(flags, "purge", "Discard letters", "sluice dlq purge --topic jobs.enqueue --before 5d",
                       run_purge, settling)}};
}

}  // namespace sluice::server
