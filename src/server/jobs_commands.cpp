#include <fmt/format.h>

#include "adapters/sql/jobs/sql_job_store.h"
#include "adapters/sql/links/sql_blocked_domains.h"
#include "runtime/system_clock.h"
#include "server/blocking.h"
#include "server/commands.h"
#include "server/engines.h"
#include "server/printable.h"
#include "server/system_random.h"

namespace sluice::server {
namespace {

using jobs::Job;
using jobs::JobId;

// Each may have megabytes.
constexpr size_t listed_at_once = 100;

struct JobsFlags {
  CommonFlags common;
  std::string id;
  std::string kind;
  std::string status;
  std::string older_than = "7d";
  int count = 50;
};

// Shared by all commands on jobs, which may run beside a server.
struct JobDesk {
  explicit JobDesk(const Settings& settings)
      : engines(settings, {Service::jobs}, clock, Engines::Access::beside_owner),
        kinds(settings.jobs.kinds),
        store(engines.of(Service::jobs), kinds, clock, random) {}

  asio::io_context here;
  SystemClock clock;
  SystemRandom random;
  Engines engines;
  jobs::JobKinds kinds;
  sql::SqlJobStore store;
};

using Work = Task<int> (*)(JobDesk&, const JobsFlags&);

int at_job_desk(const JobsFlags& flags, Work work) {
  const auto loaded = settings_or_complain(flags.common);
  if (!loaded) return asked_wrongly;
  JobDesk desk(loaded->settings);
  return run_blocking(desk.here, work(desk, flags));
}

std::string or_dash(const std::optional<Time>& time) {
  return time ? format_time(*time) : "-";
}

std::optional<JobId> id_or_complain(const JobsFlags& flags) {
  const auto id = JobId::parse(flags.id);
  if (!id) fmt::print(stderr, "sluice: {} is not the id of a job; `sluice jobs list` lists jobs\n", flags.id);
  return id;
}

int no_such_job(const JobsFlags& flags) {
  fmt::print(stderr, "sluice: there is no job {}\n", flags.id);
  return failed;
}

void print_line(const Job& job) {
  fmt::print("{}  {:<20} {:<10} {:>8}  {:<24}  {}\n", job.id.text(), printable(job.kind), enum_name(job.status),
             fmt::format("{}/{}", job.attempts, job.max_attempts), format_time(job.run_after),
             printable(job.last_error.value_or("")));
}

Task<int> run_list(JobDesk& desk, const JobsFlags& flags) {
  jobs::JobFilter filter;
  if (!flags.kind.empty()) filter.kind = flags.kind;
  if (!flags.status.empty()) {
    filter.status = parse_enum<jobs::JobStatus>(flags.status);
    if (!filter.status) {
      fmt::print(stderr, "sluice: --status must be one of {}\n", list_names<jobs::JobStatus>());
      co_return asked_wrongly;
    }
  }
  fmt::print("{:<36}  {:<20} {:<10} {:>8}  {:<24}  {}\n", "ID", "KIND", "STATUS", "ATTEMPTS", "RUN AFTER",
             "LAST ERROR");
  std::optional<JobId> next;
  for (auto left = static_cast<size_t>(flags.count); left > 0;) {
    const jobs::JobPage page = co_await desk.store.list(filter, next, std::min(left, listed_at_once));
    for (const Job& job : page.jobs) print_line(job);
    next = page.next;
    if (!next) break;
    left -= page.jobs.size();
  }
  if (next) fmt::print(stderr, "there are more; raise --count to see them\n");
  co_return 0;
}

void print_job(const Job& job) {
  const auto line = [](std::string_view name, const std::string& value) {
    fmt::print("{:<14}{}\n", name, printable(value));
  };
  line("id", job.id.text());
  line("kind", job.kind);
  line("status", std::string(enum_name(job.status)));
  line("attempts", fmt::format("{} of {}", job.attempts, job.max_attempts));
  line("priority", std::to_string(job.priority));
  line("unique key", job.unique_key.value_or("-"));
  line("throttle key", job.throttle_key.value_or("-"));
  line("run after", format_time(job.run_after));
  line("locked", job.locked_by ? fmt::format("by {} at {}", *job.locked_by, or_dash(job.locked_at)) : "-");
  line("lock token", job.lock_token == 0 ? "-" : std::to_string(job.lock_token));
  line("created", format_time(job.created_at));
  line("updated", format_time(job.updated_at));
  line("finished", or_dash(job.finished_at));
  line("last error", job.last_error.value_or("-"));
  line("payload", job.payload);
  line("result", job.result.value_or("-"));
  for (const jobs::Attempt& attempt : job.history) {
    line(
        fmt::format("attempt {}", attempt.number),
        fmt::format("{} to {} by {}: {}{}", format_time(attempt.started_at), or_dash(attempt.ended_at), attempt.worker,
                    attempt.outcome.empty() ? "running" : attempt.outcome, attempt.error ? ", " + *attempt.error : ""));
  }
}

Task<int> run_show(JobDesk& desk, const JobsFlags& flags) {
  const auto id = id_or_complain(flags);
  if (!id) co_return asked_wrongly;
  const std::optional<Job> job = co_await desk.store.find(*id);
  if (!job) co_return no_such_job(flags);
  print_job(*job);
  co_return 0;
}

Task<int> run_retry(JobDesk& desk, const JobsFlags& flags) {
  const auto id = id_or_complain(flags);
  if (!id) co_return asked_wrongly;
  const std::optional<bool> done = co_await desk.store.retry(*id);
  if (!done) co_return no_such_job(flags);
  if (!*done) fmt::print(stderr, "sluice: the job is not dead, or another job has its unique key\n");
  if (*done) fmt::print("queued again\n");
  co_return *done ? 0 : failed;
}

Task<int> run_cancel(JobDesk& desk, const JobsFlags& flags) {
  const auto id = id_or_complain(flags);
  if (!id) co_return asked_wrongly;
  const std::optional<bool> done = co_await desk.store.cancel(*id);
  if (!done) co_return no_such_job(flags);
  if (!*done) fmt::print(stderr, "sluice: only a waiting job can be canceled; this one is running or has ended\n");
  if (*done) fmt::print("canceled\n");
  co_return *done ? 0 : failed;
}

Task<int> run_stats(JobDesk& desk, const JobsFlags&) {
  const jobs::JobStats stats = co_await desk.store.stats();
  fmt::print("{:<24}", "KIND");
  for (const auto& status : enum_names(jobs::JobStatus{})) fmt::print(" {:>10}", status.name);
  fmt::print(" {:>12} {:>12}  {}\n", "added/s", "finished/s", "oldest waiting");
  for (const jobs::KindStats& kind : stats.kinds) {
    fmt::print("{:<24}", printable(kind.kind));
    for (const auto& status : enum_names(jobs::JobStatus{})) {
      const auto found = kind.counts.find(status.value);
      fmt::print(" {:>10}", found == kind.counts.end() ? 0 : found->second);
    }
    fmt::print(" {:>12.1f} {:>12.1f}  {}\n", kind.rates.added, kind.rates.finished(), or_dash(kind.oldest_waiting));
  }
  for (const jobs::FailingKey& key : stats.top_failing) {
    fmt::print("failing: {} of {}, {} times in the last hour\n", printable(key.throttle_key), printable(key.kind),
               key.failures);
  }
  co_return 0;
}

Task<int> run_purge(JobDesk& desk, const JobsFlags& flags) {
  constexpr size_t at_once = 10'000;
  const auto age = parse_duration(flags.older_than);
  if (!age) {
    fmt::print(stderr, "sluice: --older-than {} is not a duration; write 7d or 12h\n", flags.older_than);
    co_return asked_wrongly;
  }
  size_t total = 0;
  Instant next = desk.clock.now() + 1s;
  for (size_t purged = at_once; purged == at_once;) {
    purged = co_await desk.store.purge(*age, at_once);
    total += purged;
    if (desk.clock.now() < next) continue;
    next = desk.clock.now() + 1s;
    fmt::print(stderr, "{} purged so far\n", total);
  }
  fmt::print("{} purged\n", total);
  co_return 0;
}

// "captcha 3, robots 1"
std::string reasons_of(const links::BlockedDomain& domain) {
  std::string text;
  for (const auto& [reason, count] : domain.reasons) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", enum_name(reason), count);
  }
  return text;
}

Task<int> run_blocked(JobDesk& desk, const JobsFlags& flags) {
  sql::SqlBlockedDomains domains(desk.engines.of(Service::jobs));
  const std::vector<links::BlockedDomain> candidates = co_await domains.candidates(static_cast<size_t>(flags.count));
  fmt::print("{:<40} {:>8}  {:<24}  {:<24}  {}\n", "DOMAIN", "FAILURES", "FIRST", "LAST", "REASONS");
  for (const links::BlockedDomain& one : candidates) {
    fmt::print("{:<40} {:>8}  {:<24}  {:<24}  {}\n", one.domain, one.count, format_time(one.first_at),
               format_time(one.last_at), reasons_of(one));
  }
  co_return 0;
}

}  // namespace

Command jobs_command() {
  const auto flags = std::make_shared<JobsFlags>();
  const auto command = [&](const char* name, const char* help, const char* example, Work work,
                           std::vector<CommandOption> options = {}) {
    return Command{.name = name,
                   .help = help,
                   .footer = std::string("Example: ") + example,
                   .options = with_common(flags->common, std::move(options)),
                   .run = [flags, work] { return at_job_desk(*flags, work); }};
  };
  const CommandOption id{.name = "id", .value = &flags->id, .help = "The job's id", .required = true};
  const auto count = [&](const char* help) {
    return CommandOption{.name = "--count", .value = &flags->count, .help = help, .check = integer_in(1, 1'000'000)};
  };
  return {.name = "jobs",
          .help = "Manage the job queue, also beside a running server",
          .footer = "Example: sluice jobs list --status dead",
          .commands = {
              command("list", "List jobs, newest first", "sluice jobs list --kind enrich_link --status dead", run_list,
                      {{.name = "--kind", .value = &flags->kind, .help = "Only jobs of this kind"},
                       {.name = "--status",
                        .value = &flags->status,
                        .help = "Only jobs with this status: queued, running, succeeded, failed, dead or canceled"},
                       count("Number of jobs (default: 50)")}),
              command("show", "Show a job and all its tries", "sluice jobs show 018f4e1c-6d2a-7c3e-9f10-0242ac120002",
                      run_show, {id}),
              command("retry", "Queue a dead job again", "sluice jobs retry 018f4e1c-6d2a-7c3e-9f10-0242ac120002",
                      run_retry, {id}),
              command("cancel", "Cancel a waiting job", "sluice jobs cancel 018f4e1c-6d2a-7c3e-9f10-0242ac120002",
                      run_cancel, {id}),
              command("stats", "Count jobs by kind and status", "sluice jobs stats", run_stats),
              command("blocked", "List domains that refuse visits", "sluice jobs blocked", run_blocked,
                      {count("Number of domains, most failures first (default: 50)")}),
              command("purge", "Delete finished jobs", "sluice jobs purge --older-than 7d", run_purge,
                      {{.name = "--older-than",
                        .value = &flags->older_than,
                        .help = "Only jobs that finished longer ago than this (default: 7d)"}})}};
}

}  // namespace sluice::server
