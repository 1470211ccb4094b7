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
    fmt::print(stderr, "sluice: there is no topic {}; `sluice log topics` lists them\n", flags.topic);
    co_return failed;
  }
  std::vector<PartitionBounds> partitions = topic->partitions;
  if (flags.partition >= 0) {
    std::erase_if(partitions, [&flags](const PartitionBounds& each) { return each.partition != flags.partition; });
    if (partitions.empty()) {
      fmt::print(stderr, "sluice: {} has {} partitions, from 0 on\n", flags.topic, topic->topic.partitions);
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

using Work = Task<int> (*)(LogDesk&, const LogFlags&);

}  // namespace

void add_log(CLI::App& program, Chosen& chosen) {
  const auto flags = std::make_shared<LogFlags>();
  CLI::App* const command = program.add_subcommand("log", "Look into the message log; also beside a running server");
  command->require_subcommand(1);
  command->footer("Example: sluice log tail payment.events --follow");
  const auto add = [&](const char* name, const char* about, const char* example, Work work) {
    CLI::App* const one = command->add_subcommand(name, about);
    add_common_flags(*one, flags->common);
    one->footer(std::string("Example: ") + example);
    one->callback([flags, work, &chosen] {
      chosen = [flags, work] {
        return at_log_desk(flags->common, [flags, work](LogDesk& desk) { return work(desk, *flags); });
      };
    });
    return one;
  };
  CLI::App* const tail = add("tail", "Print a topic's last messages, a line of JSON each",
                             "sluice log tail payment.events -n 20 --key 42", run_tail);
  tail->add_option("topic", flags->topic, "The topic's name")->required();
  tail->add_option("-n,--count", flags->count, "How many (default: 10)")->check(CLI::Range(1, 1'000'000));
  tail->add_flag("--all", flags->all, "Everything that is kept");
  tail->add_option("--since", flags->since, "From this time on (2026-05-01T11:00:00Z), or so long ago (2h)");
  tail->add_option("--key", flags->key, "Only messages of this key");
  tail->add_option("--partition", flags->partition, "Only this partition")->check(CLI::NonNegativeNumber);
  tail->add_flag("-f,--follow", flags->follow, "Go on with what comes, until interrupted");
  CLI::App* const groups = add("groups", "How far each group of consumers is, and who reads",
                               "sluice log groups --topic payment.events", run_groups);
  groups->add_option("--group", flags->group, "Only this group");
  groups->add_option("--topic", flags->topic, "Only this topic");
  add("topics", "List the topics", "sluice log topics", run_topics);
}

}  // namespace sluice::server
