#include "jobs/recurring.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/json_reader.h"
#include "runtime/config_section.h"
#include "runtime/hashed_id.h"
#include "runtime/log.h"

namespace sluice::jobs {
namespace {

// The wall clock may be set at any time, so a sleep is short and the time is read again.
constexpr Duration longest_sleep = 30s;

}  // namespace

void RecurringJob::describe(config::Section<RecurringJob>& section) {
  section
      .key("schedule", &RecurringJob::schedule,
           "Cron expression: minute, hour, day of the month, month, weekday (0 is Sunday).")
      .rule("five fields such as \"30 3 * * 1-5\", with a date that exists", [](const std::string& text) {
        const std::optional<Cron> cron = Cron::parse(text);
        return cron && cron->ever_fires();
      });
  section.key("time_zone", &RecurringJob::time_zone, "Time zone of the schedule.")
      .rule("a time zone such as \"Asia/Seoul\"",
            [](const std::string& name) { return TimeZone::find(name).has_value(); });
  section.key("kind", &RecurringJob::kind, "Kind of the added job; empty uses the name.");
  section.key("payload", &RecurringJob::payload, "Payload of the added job, as JSON.")
      .rule("JSON", [](const std::string& text) { return json::Document::parse(text).has_value(); });
}

Recurring::Recurring(const RecurringJobs& recurring, Jobs& jobs, Clock& clock, Random& random)
    : jobs_(jobs), clock_(clock), random_(random) {
  for (const auto& [name, job] : recurring) {
    entries_.push_back(
        {name, job, Cron::parse(job.schedule).value(), TimeZone::find(job.time_zone).value(), clock.wall()});
    if (entries_.back().job.kind.empty()) entries_.back().job.kind = name;
  }
}

void Recurring::start(TaskScope& scope) {
  for (Entry& entry : entries_) {
    scope.spawn("recurring jobs",
                run_forever("recurring jobs", clock_, random_, [this, &entry] { return round(entry); }));
  }
}

Task<> Recurring::round(Entry& entry) {
  const std::optional<Time> due = entry.cron.next(entry.done_until, entry.zone);
  const Duration until_due = due ? *due - clock_.wall() : longest_sleep;
  if (until_due > Duration{0}) {
    const Duration sleep = std::min(until_due, longest_sleep);
    co_await clock_.sleep_for(sleep);
    co_return;
  }
  const messaging::MessageId firing(hashed_uuid(fmt::format("recurring {} {}", format_time(*due), entry.name)));
  std::vector<NewJob> one;
  one.push_back({.kind = entry.job.kind, .payload = entry.job.payload, .run_after = *due});
  const bool first = co_await jobs_.enqueue_once(firing, std::move(one));
  entry.done_until = *due;
  if (first) log::info("a recurring job was added", {{"name", entry.name}, {"due", format_time(*due)}});
}

}  // namespace sluice::jobs
