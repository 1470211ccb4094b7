#include "jobs/jobs_config.h"

#include "jobs/job_request.h"
#include "runtime/config_section.h"

namespace sluice::config {
namespace {

// Times are reckoned from now on: a year more is always a time that databases can keep.
constexpr Duration longest_delay = std::chrono::days(366);

}  // namespace

// ["1m", "5m"], or {first = "1s", factor = 2, max = "5m"}; as a variable 1m,5m.
template <>
struct Kind<jobs::RetryDelays> {
  static std::string type() { return "list of durations, or {first, factor, max}"; }
  static std::string expected() {
    return R"(durations such as ["5m"], the last of which repeats, or {first = "1s", factor = 2, max = "5m"}; )"
           "none longer than 366d";
  }

  static std::optional<jobs::RetryDelays> read(const Node& node) {
    if (const auto* members = node.get<Node::Table>()) return read_growing(*members);
    const auto texts = Kind<std::vector<std::string>>::read(node);
    if (!texts || texts->empty()) return std::nullopt;
    jobs::RetryDelays delays{.fixed = {}};
    for (const std::string& text : *texts) {
      const auto delay = parse_duration(text);
      if (!delay || *delay < Duration{0} || *delay > longest_delay) return std::nullopt;
      delays.fixed.push_back(*delay);
    }
    return delays;
  }

  static std::string print(const jobs::RetryDelays& delays) {
    if (delays.growing) {
      const Backoff& growing = *delays.growing;
      return fmt::format("{{first = {}, factor = {}, max = {}}}", Kind<Duration>::print(growing.first),
                         Kind<double>::print(growing.factor), Kind<Duration>::print(growing.max));
    }
    std::vector<std::string> texts;
    for (const Duration delay : delays.fixed) texts.push_back(format_duration(delay));
    return Kind<std::vector<std::string>>::print(texts);
  }

 private:
  static std::optional<jobs::RetryDelays> read_growing(const Node::Table& members) {
    Backoff growing{.first = 1s, .factor = 2, .max = 5min};
    for (const Member& member : members) {
      if (!set(growing, member)) return std::nullopt;
    }
    if (growing.first < 1ms || growing.factor < 1 || growing.max < growing.first) return std::nullopt;
    if (growing.max > longest_delay) return std::nullopt;
    return jobs::RetryDelays{.growing = growing};
  }
  static bool set(Backoff& growing, const Member& member) {
    const auto store = [](auto& into, const auto& value) { return value ? (into = *value, true) : false; };
    if (member.name == "first") return store(growing.first, Kind<Duration>::read(member.node));
    if (member.name == "factor") return store(growing.factor, Kind<double>::read(member.node));
    return member.name == "max" && store(growing.max, Kind<Duration>::read(member.node));
  }
};

}  // namespace sluice::config

namespace sluice::jobs {

void describe(config::Section<Throttle>& section) {
  section
      .key("concurrency", &Throttle::concurrency,
           "Jobs of one throttle key that run at once, over all workers of all processes.")
      .between(1, 10'000);
  section.key("per_second", &Throttle::per_second, "Starts a second of one throttle key; 0 is no limit.")
      .between(0, 100'000);
}

void describe(config::Section<JobKind>& section) {
  section.key("max_attempts", &JobKind::max_attempts, "Tries of a job before it is dead.").between(1, 1'000);
  section.key("backoff", &JobKind::backoff,
              "How long a failed job waits for its next try: for each try its own, the last one repeats; or growing "
              "and jittered.");
  section.key("timeout", &JobKind::timeout, "How long a try may take in our own workers; then it has failed.")
      .between(10ms, std::chrono::days(366));
  section.key("lock_ttl", &JobKind::lock_ttl, "A running job that nobody has renewed for so long is given to another.")
      .between(1s, std::chrono::days(7));
  section.table("throttle", &JobKind::throttle, "What jobs of one throttle key may do together.");
}

void WorkersConfig::describe(config::Section<WorkersConfig>& section) {
  section.key("batch", &WorkersConfig::batch, "Jobs claimed at once; they run side by side.").between(1, 5'000);
  section
      .key("concurrency", &WorkersConfig::concurrency,
           "Jobs that run at once in this process: not fewer than a batch has; 0 is as many.")
      .between(0, 10'000);
  section.key("poll_min", &WorkersConfig::poll_min, "The first wait where there is nothing to do.").at_least(1ms);
  section.key("poll_max", &WorkersConfig::poll_max, "The longest wait; work added by this process ends it at once.")
      .at_most(1min);
  section.key("drain", &WorkersConfig::drain, "How long running jobs may take to end when the server stops.");
}

void WorkersConfig::validate(config::Problems& problems) const {
  if (places() < batch) problems.add("concurrency", "must not be below batch; raise it, or leave it at 0");
  if (poll_max < poll_min) problems.add("poll_max", "must not be shorter than poll_min; raise it or lower poll_min");
}

void JobsConfig::describe(config::Section<JobsConfig>& section) {
  section.key("retention", &JobsConfig::retention, "How long finished jobs can be looked at.")
      .between(1min, std::chrono::days(36'500));
  section.table("workers", &JobsConfig::workers, "How this process runs jobs.");
  section.map("kinds", &JobsConfig::kinds, "What differs for jobs of one kind; any name is a kind.");
  section.map("recurring", &JobsConfig::recurring,
              "Jobs that are added by the clock, once over all instances; what comes due while none runs is left out.");
}

void JobsConfig::validate(config::Problems& problems) const {
  for (const auto& [name, job] : recurring) {
    const std::string& kind = job.kind.empty() ? name : job.kind;
    if (kind.size() <= max_kind_characters) continue;
    problems.add("recurring", fmt::format("the kind {} must have at most {} bytes", kind, max_kind_characters));
  }
}

}  // namespace sluice::jobs
