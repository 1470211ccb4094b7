#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "base/encoding.h"
#include "base/json.h"
#include "server/commands.h"
#include "server/log_desk.h"

namespace sluice::server {
namespace {

using messaging::Delivery;
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

constexpr size_t page = 500;
constexpr Duration follow_every = 500ms;

// One line of JSON, so that it can be cut with jq. Bytes that are no text are written as base64url.
std::string line_of(const Delivery& delivery) {
  std::string line;
  json::Writer writer(line);
  const auto text = [&writer](std::string_view name, std::string_view value) {
    if (is_utf8(value)) {
      writer.field(name, value);
    } else {
      writer.field(std::string(name) + "Bytes", to_base64url(as_bytes(value)));
    }
  };
  writer.begin_object().field("publishedAt", delivery.published_at).field("topic", delivery.assignment->topic);
  writer.field("partition", delivery.assignment->partition).field("offset", delivery.offset);
  text("key", delivery.key);
  writer.key("headers").begin_object();
  for (const auto& [name, value] : delivery.headers) text(name, value);
  writer.end_object();
  if (json::Document::parse(delivery.payload)) {
    writer.key("payload").raw(delivery.payload);
  } else {
    text("payload", delivery.payload);
  }
  writer.end_object();
  return line;
}

// What is left of what was read by the flags.
struct Wanted {
  std::string key;
  std::optional<Time> since;

  bool takes(const Delivery& delivery) const {
    return (key.empty() || delivery.key == key) && (!since || delivery.published_at >= *since);
  }
};

// Everything of a partition from `from` on that is wanted; `from` ends behind the last message that was looked at.
Task<std::vector<Delivery>> read_on(messaging::LogView& view, std::string topic, int32_t partition, int64_t& from,
                                    const Wanted& wanted) {
  std::vector<Delivery> found;
  while (true) {
    const std::vector<Delivery> batch = co_await view.read(topic, partition, from, page);
    for (const Delivery& delivery : batch) {
      if (wanted.takes(delivery)) found.push_back(delivery);
    }
    if (!batch.empty()) from = batch.back().offset + 1;
    if (batch.size() < page) co_return found;
  }
}

// The last `count` of a partition. Offsets have gaps, so it looks further and further back until there are enough.
Task<std::vector<Delivery>> last_of(messaging::LogView& view, std::string topic, PartitionBounds bounds, size_t count,
                                    const Wanted& wanted) {
  for (int64_t back = static_cast<int64_t>(count);; back *= 8) {
    const bool whole = bounds.end - bounds.first <= back;
    int64_t from = whole ? bounds.first : bounds.end - back;
    std::vector<Delivery> found = co_await read_on(view, topic, bounds.partition, from, wanted);
    if (found.size() > count) found.erase(found.begin(), found.end() - static_cast<std::ptrdiff_t>(count));
    if (whole || found.size() == count) co_return found;
  }
}

// By time over all partitions, each partition in its own order.
void sort_by_time(std::vector<Delivery>& found) {
  std::ranges::sort(found, {}, [](const Delivery& delivery) {
    return std::tuple(delivery.published_at, delivery.assignment->partition, delivery.offset);
  });
}

void print_in_order(std::vector<Delivery> found) {
  sort_by_time(found);
  for (const Delivery& delivery : found) fmt::print("{}\n", line_of(delivery));
  std::fflush(stdout);
}

// Prints what comes, until it is interrupted.
Task<> follow(LogDesk& desk, const LogFlags& flags, std::vector<PartitionBounds> partitions, Wanted wanted) {
  while (true) {
    std::vector<Delivery> found;
    for (PartitionBounds& each : partitions) {
      const std::vector<Delivery> more =
          co_await read_on(desk.parts.view(), flags.topic, each.partition, each.end, wanted);
      found.insert(found.end(), more.begin(), more.end());
    }
    print_in_order(std::move(found));
    co_await desk.clock.sleep_for(follow_every);
  }
}

Task<int> run_tail(LogDesk& desk, const LogFlags& flags) {
  Wanted wanted{flags.key, std::nullopt};
  if (!flags.since.empty()) {
    wanted.since = parse_moment(flags.since, desk.clock);
    if (!wanted.since) co_return complain_of_moment("--since", flags.since);
  }
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
  const bool whole = flags.all || wanted.since;
  std::vector<Delivery> found;
  for (const PartitionBounds& each : partitions) {
    const size_t most = whole ? std::numeric_limits<int64_t>::max() / 16 : static_cast<size_t>(flags.count);
    const std::vector<Delivery> some = co_await last_of(desk.parts.view(), flags.topic, each, most, wanted);
    found.insert(found.end(), some.begin(), some.end());
  }
  sort_by_time(found);
  if (!whole && found.size() > static_cast<size_t>(flags.count)) found.erase(found.begin(), found.end() - flags.count);
  for (PartitionBounds& each : partitions) {
    for (const Delivery& delivery : found) {
      if (delivery.assignment->partition == each.partition) each.end = std::max(each.end, delivery.offset + 1);
    }
  }
  print_in_order(std::move(found));
  if (flags.follow) co_await follow(desk, flags, std::move(partitions), std::move(wanted));
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
