#include "jobs/failure_reports.h"

#include <fmt/format.h>

#include "runtime/metrics.h"

namespace sluice::jobs {
namespace {

constexpr Duration longest_wait = 1min;

const metrics::Counter unreported{"job_failures_unreported_total",
                                  "Failed jobs not reported to the error sink because too many failed at once."};

std::string text_of(const Attempt& attempt) {
  return fmt::format("{} at {} on {}: {}", attempt.outcome, format_time(attempt.started_at), attempt.worker,
                     attempt.error.value_or(""));
}

}  // namespace

void FailureReports::start(TaskScope& scope, const Executor& executor) {
  const auto news = std::make_shared<messaging::Bell::Listener>(bell_.listen(executor));
  scope.spawn("failed jobs", run_forever("failed jobs", clock_, random_, [this, news] { return round(*news); }));
}

void FailureReports::add(JobId id, std::string error, bool dead) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= max_waiting) return unreported.add();
    waiting_.push_back({id, std::move(error), dead, clock_.wall()});
  }
  bell_.ring();
}

std::optional<FailureReports::Failed> FailureReports::first() {
  const std::lock_guard lock(mutex_);
  return waiting_.empty() ? std::nullopt : std::optional(waiting_.front());
}

Task<> FailureReports::round(messaging::Bell::Listener& news) {
  const std::optional<Failed> failed = first();
  if (!failed) {
    const Instant when = clock_.now() + longest_wait;
    co_await news.wait_until(clock_, when);
    co_return;
  }
  const std::optional<Job> job = co_await store_.find(failed->id);
  if (job) sink_.report(report_of(*failed, *job));
  const std::lock_guard lock(mutex_);
  waiting_.pop_front();
}

ErrorReport FailureReports::report_of(const Failed& failed, const Job& job) {
  ErrorReport report{.severity = failed.dead ? ErrorReport::Severity::error : ErrorReport::Severity::warning,
                     .at = failed.at,
                     .type = job.kind + (failed.dead ? " is dead" : " failed"),
                     .message = failed.error};
  report.tags = {{"job", job.id.text()}, {"kind", job.kind}};
  if (job.throttle_key) report.tags.emplace_back("domain", *job.throttle_key);
  report.details = {{"attempts", fmt::format("{} of {}", job.attempts, job.max_attempts)}};
  if (!failed.dead) return report;
  for (const Attempt& attempt : job.history) {
    report.details.emplace_back(fmt::format("attempt {}", attempt.number), text_of(attempt));
  }
  return report;
}

}  // namespace sluice::jobs
