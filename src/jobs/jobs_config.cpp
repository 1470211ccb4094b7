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
           "each at most 366d";
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
           "Limit on running jobs per throttle key, over all workers of all processes.")
      .between(1, 10'000);
  section.key("per_second", &Throttle::per_second, "Limit on starts per second per throttle key; 0 means no limit.")
      .between(0, 100'000);
}

void describe(config::Section<JobKind>& section) {
  section.key("max_attempts", &JobKind::max_attempts, "Tries of a job before it is dead.").between(1, 1'000);
  section.key("backoff", &JobKind::backoff,
              "Time before the next try: a list with one entry per try, the last of which repeats, or an "
              "exponential backoff with jitter.");
  section.key("timeout", &JobKind::timeout, "Time limit for a try in Sluice's own workers; then it has failed.")
      .between(10ms, std::chrono::days(366));
  section
      .key("lock_ttl", &JobKind::lock_ttl,
           "Time after its last heartbeat at which a running job is given to another worker.")
      .between(1s, std::chrono::days(7));
  section.table("throttle", &JobKind::throttle, "Limits shared by jobs with the same throttle key.");
}

void WorkersConfig::describe(config::Section<WorkersConfig>& section) {
  section.key("batch", &WorkersConfig::batch, "Jobs claimed at once; they run concurrently.").between(1, 5'000);
  section
      .key("concurrency", &WorkersConfig::concurrency,
           "Jobs that run at once in this process, at least batch; 0 means batch.")
      .between(0, 10'000);
  section.key("poll_min", &WorkersConfig::poll_min, "First wait when the queue is empty.").at_least(1ms);
  section
      .key("poll_max", &WorkersConfig::poll_max,
           "Longest wait when the queue is empty; a job added by this process ends it at once.")
      .at_most(1min);
  section.key("drain", &WorkersConfig::drain, "Time for running jobs to finish when the server stops.");
}

void WorkersConfig::validate(config::Problems& problems) const {
  if (places() < batch) problems.add("concurrency", "must not be below batch; raise it, or leave it at 0");
  if (poll_max < poll_min) problems.add("poll_max", "must not be shorter than poll_min; raise it or lower poll_min");
}

void JobsConfig::describe(config::Section<JobsConfig>& section) {
  section.key("retention", &JobsConfig::retention, "Time finished jobs are kept.")
      .between(1min, std::chrono::days(36'500));
  section.table("workers", &JobsConfig::workers, "The workers of this process.");
  section.map("kinds", &JobsConfig::kinds, "Settings for jobs of one kind; any name is a kind.");
  section.map("recurring", &JobsConfig::recurring,
              "Jobs added on a schedule, once over all instances. Times at which no instance runs are skipped.");
}

void JobsConfig::validate(config::Problems& problems) const {
  for (const auto& [name, kind] : kinds) {
    if (kind.throttle.gap() <= longest_gap) continue;
    problems.add("kinds",
                 fmt::format("throttle.per_second of {} must be 0, or at least one start a day (0.0000116)", name));
  }
  for (const auto& [name, job] : recurring) {
    const std::string& kind = job.kind.empty() ? name : job.kind;
    if (kind.size() <= max_kind_characters) continue;
    problems.add("recurring", fmt::format("the kind {} must have at most {} bytes", kind, max_kind_characters));
  }
}

}  // namespace sluice::jobs
