#include "server/job_parts.h"

#include <cstdlib>

#include <boost/asio/ip/host_name.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "jobs/enqueue_messages.h"
#include "jobs/job_metrics.h"
#include "runtime/log.h"

namespace sluice::server {
namespace {

// Jobs that still run would use objects that are about to be destroyed.
[[noreturn]] void leave() {
  log::error("exiting with jobs still running");
  log::stop();
  std::_Exit(1);
}

}  // namespace

JobParts::JobParts(const jobs::JobsConfig& config, const sql::InboxConfig& inbox, sql::Database& database, Clock& clock,
                   Random& random, ErrorSink* errors, Executor executor)
    : config_(config),
      clock_(clock),
      random_(random),
      executor_(std::move(executor)),
      worker_(fmt::format("{}:{}", asio::ip::host_name(), getpid())),
      kinds_(config.kinds),
      store_(database, kinds_, clock, random),
      jobs_(store_, bell_, clock, {.failures = reports_to(errors), .other_processes = [this] { tell_others(); }}),
      upkeep_(store_, bell_, clock, random, config.retention, failures_ ? &*failures_ : nullptr),
      inbox_(database, clock, inbox),
      recurring_(config.recurring, jobs_, clock, random) {
  for (const auto& [kind, settings] : config.kinds) jobs::keep_kind(kind);
}

jobs::FailureReports* JobParts::reports_to(ErrorSink* errors) {
  return errors == nullptr ? nullptr : &failures_.emplace(store_, *errors, clock_, random_);
}

void JobParts::hear_others(Engines& engines) {
  const auto heard = [this] { bell_.ring(); };
  news_ = engines.news(Service::jobs, "job_service", heard, random_);
}

void JobParts::tell_others() {
  if (news_) news_->tell();
}

void JobParts::start(TaskScope& scope, messaging::MessageLog* log, const messaging::ConsumerConfig& consumers) {
  upkeep_.start(scope);
  recurring_.start(scope);
  scope.spawn("inbox retention", run_forever("inbox retention", clock_, random_, [this] { return inbox_.round(); }));
  if (failures_) failures_->start(scope, executor_);
  if (!handlers_.empty()) {
    const jobs::Workers::Parts parts{store_, kinds_, bell_, clock_, random_, failures_ ? &*failures_ : nullptr};
    workers_ = std::make_unique<jobs::Workers>(parts, config_.workers, worker_, handlers_, executor_);
    workers_->start();
  }
  if (log != nullptr) {
    messaging::ConsumerRole role{.group = "jobs", .topics = {messaging::wanted_jobs_topic}, .worker = worker_};
    const messaging::ConsumerParts parts{*log, clock_, random_};
    enqueue_ = std::make_unique<messaging::Consumer>(parts, consumers, std::move(role), jobs::enqueue_handler(jobs_),
                                                     executor_);
    enqueue_->start();
  }
}

Task<> JobParts::stop() {
  if (enqueue_) co_await enqueue_->stop();
  if (workers_) {
    const bool ended = co_await workers_->stop();
    if (!ended) leave();
  }
}

}  // namespace sluice::server
