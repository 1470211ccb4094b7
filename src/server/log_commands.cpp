#include <algorithm>

#include <fmt/format.h>

#include "server/commands.h"
#include "server/log_desk.h"
#include "server/log_tail.h"

namespace sluice::server {
namespace {

using messaging::PartitionBounds;
using messaging::TopicView;

struct LogFlags {
  CommonFlags common;
  std::string topic;
  std::string group;
  std::string key;
  std::string since;
  int partition = -1;
  int count = 10;
  bool all = false;
  bool follow = false;
};

Task<int> run_tail(LogDesk& desk, const LogFlags& flags) {
  TailSelection wanted{.topic = flags.topic, .key = flags.key};
  if (!flags.since.empty()) {
    wanted.since = parse_moment(flags.since, desk.clock);
    if (!wanted.since) co_return complain_of_moment("--since", flags.since);
  }
  const bool all = flags.all || wanted.since;
  const std::vector<TopicView> topics = co_await desk.parts.view().topics();
  const auto name = [](const TopicView& view) { return view.topic.name; };
  const auto topic = std::ranges::find(topics, flags.topic, name);
  if (topic == topics.end()) {
    fmt::print(stderr, "sluice: there is no topic {}; `sluice log topics` lists all\n", flags.topic);
    co_return failed;
  }
  std::vector<PartitionBounds> partitions = topic->partitions;
  if (flags.partition >= 0) {
    std::erase_if(partitions, [&flags](const PartitionBounds& each) { return each.partition != flags.partition; });
    if (partitions.empty()) {
      fmt::print(stderr, "sluice: {} has {} partitions, counted from 0\n", flags.topic, topic->topic.partitions);
      co_return failed;
    }
  }
  LogTail tail(desk.parts.view(), std::move(wanted), std::move(partitions));
  if (all) {
    co_await tail.print_all();
  } else {
    co_await tail.print_last(static_cast<size_t>(flags.count));
  }
  if (flags.follow) co_await tail.follow(desk.clock);
  co_return 0;
}

Task<int> run_groups(LogDesk& desk, const LogFlags& flags) {
  const std::vector<messaging::GroupView> groups = co_await desk.parts.view().groups();
  fmt::print("{:<24} {:<24} {:>9} {:>20} {:>10}  {}\n", "GROUP", "TOPIC", "PARTITION", "COMMITTED", "LAG", "MEMBER");
  int64_t lag = 0;
  for (const messaging::GroupView& each : groups) {
    if (!flags.group.empty() && each.group != flags.group) continue;
    if (!flags.topic.empty() && each.topic != flags.topic) continue;
    lag += each.lag;
    fmt::print("{:<24} {:<24} {:>9} {:>20} {:>10}  {}\n", each.group, each.topic, each.partition,
               each.committed ? std::to_string(*each.committed) : "-", each.lag,
               each.member.empty() ? "-" : each.member);
  }
  fmt::print(stderr, "{} messages behind\n", lag);
  co_return 0;
}

Task<int> run_topics(LogDesk& desk, const LogFlags&) {
  const std::vector<TopicView> topics = co_await desk.parts.view().topics();
  fmt::print("{:<32} {:>10} {:>10}\n", "TOPIC", "PARTITIONS", "RETENTION");
  for (const TopicView& each : topics) {
    fmt::print("{:<32} {:>10} {:>10}\n", each.topic.name, each.topic.partitions, format_duration(each.topic.retention));
  }
  co_return 0;
}

}  // namespace

Command log_command() {
  const auto flags = std::make_shared<LogFlags>();
  return {.name = "log",
          .help = "Inspect the message log, also beside a running server",
          .footer = "Example: sluice log tail jobs.enqueue --follow",
          .commands = {
              desk_command(flags, "tail", "Print a topic's last messages, a line of JSON each",
                           "sluice log tail jobs.enqueue -n 20 --key 42", run_tail,
                           {{.name = "topic", .value = &flags->topic, .help = "The topic's name", .required = true},
                            {.name = "-n,--count",
                             .value = &flags->count,
                             .help = "Number of messages (default: 10)",
                             .check = integer_in(1, 1'000'000)},
                            {.name = "--all", .value = &flags->all, .help = "All messages of the topic"},
                            {.name = "--since",
                             .value = &flags->since,
                             .help = "Messages since this time (2026-05-01T11:00:00Z), or at most this long ago (2h)"},
                            {.name = "--key", .value = &flags->key, .help = "Only messages with this key"},
                            {.name = "--partition",
                             .value = &flags->partition,
                             .help = "Only this partition",
                             .check = not_negative()},
                            {.name = "-f,--follow",
                             .value = &flags->follow,
                             .help = "Continue with new messages until interrupted"}}),
              desk_command(flags, "groups", "Show the progress and the members of consumer groups",
                           "sluice log groups --topic jobs.enqueue", run_groups,
                           {{.name = "--group", .value = &flags->group, .help = "Only this group"},
                            {.name = "--topic", .value = &flags->topic, .help = "Only this topic"}}),
              desk_command(flags, "topics", "List the topics", "sluice log topics", run_topics)}};
}

}  // namespace sluice::server
