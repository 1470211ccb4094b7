#include "jobs/write_back.h"

#include <boost/asio/post.hpp>

#include "jobs/error_text.h"
#include "jobs/job_metrics.h"
#include "runtime/log.h"

namespace sluice::jobs {
namespace {

constexpr Duration longest_wait = 1min;
// Others may wait for the room that a job leaves under its throttle key: they begin while the rest is written.
constexpr size_t throttled_at_once = 500;

// So many jobs are being written as long as this exists.
class Writing {
 public:
  Writing(JobsInHand& in_hand, size_t jobs, Wakeup& changed) : in_hand_(in_hand) {
    in_hand_.being_written = jobs;
    changed.notify_all();
  }
  ~Writing() { in_hand_.being_written = 0; }
  Writing(const Writing&) = delete;
  Writing& operator=(const Writing&) = delete;

 private:
  JobsInHand& in_hand_;
};

}  // namespace

Task<> WriteBack::round() {
  if (parts_.in_hand.ended.empty()) {
    const Instant when = parts_.clock.now() + longest_wait;
    co_await ended_.wait_until(parts_.clock, when);
    co_return;
  }
  Batch done;
  Batch failed;
  Batch lost;
  for (Ended job = parts_.in_hand.ended.begin(); job != parts_.in_hand.ended.end(); ++job) {
    // It has nothing left to do but to return.
    while (job->scope.running() > 0) co_await asio::post(executor_, asio::use_awaitable);
    Batch& batch = job->lost ? lost : job->outcome.kind == JobOutcome::Kind::done ? done : failed;
    batch.push_back(job);
  }
  for (const Ended job : lost) settle(job, JobEnd::lost);
  for (Batch& piece : pieces_of(std::move(done))) {
    co_await complete(std::move(piece));
    written();
  }
  if (!failed.empty()) co_await fail(std::move(failed));
  written();
}

// Jobs of one throttle key stay together, so that the key is looked at once.
std::vector<WriteBack::Batch> WriteBack::pieces_of(Batch done) {
  const auto key_of = [](const Ended& job) { return std::tie(job->job.throttle_key, job->job.kind); };
  std::ranges::sort(done, {}, key_of);
  std::vector<Batch> pieces;
  for (auto begin = done.begin(); begin != done.end();) {
    auto end =
        std::ranges::find_if(begin, done.end(), [](const Ended& job) { return job->job.throttle_key.has_value(); });
    if (end == begin) {
      end += std::min<std::ptrdiff_t>(throttled_at_once, done.end() - begin);
      while (end != done.end() && key_of(*end) == key_of(*(end - 1))) ++end;
    }
    pieces.emplace_back(begin, end);
    begin = end;
  }
  return pieces;
}

void WriteBack::written() {
  parts_.changed.notify_all();
  parts_.bell.ring();  // their throttle keys may have room now
}

template <typename Verdicts>
Task<Verdicts> WriteBack::write(Task<Verdicts> call, size_t jobs) {
  const Writing writing(parts_.in_hand, jobs, parts_.changed);
  Verdicts verdicts = co_await std::move(call);
  co_return verdicts;
}

Task<> WriteBack::complete(Batch batch) {
  std::vector<Completion> completions;
  for (const Ended job : batch) {
    completions.push_back({job->lock(), job->outcome.result, job->job.kind, job->job.throttle_key});
  }
  const std::vector<Verdict> verdicts = co_await write(parts_.store.complete(std::move(completions)), batch.size());
  for (size_t i = 0; i < batch.size(); ++i) {
    const bool accepted = verdicts[i] == Verdict::accepted;
    if (!accepted) refused(*batch[i], verdicts[i]);
    settle(batch[i], accepted ? JobEnd::succeeded : JobEnd::lost);
  }
}

Task<> WriteBack::fail(Batch batch) {
  std::vector<Failure> failures;
  for (const Ended job : batch) {
    failures.push_back({.job = job->lock(),
                        .error = keepable_error(job->outcome.error),
                        .permanent = job->outcome.kind == JobOutcome::Kind::dead,
                        .released = job->outcome.kind == JobOutcome::Kind::released,
                        .onward = job->outcome.onward});
  }
  const std::vector<FailVerdict> verdicts = co_await write(parts_.store.fail(std::move(failures)), batch.size());
  for (size_t i = 0; i < batch.size(); ++i) fail(batch[i], verdicts[i]);
}

void WriteBack::fail(Ended job, const FailVerdict& verdict) {
  if (verdict.verdict != Verdict::accepted) {
    refused(*job, verdict.verdict);
    settle(job, JobEnd::lost);
  } else if (job->outcome.kind == JobOutcome::Kind::released) {
    settle(job, JobEnd::released);
  } else {
    if (parts_.failures != nullptr) parts_.failures->add(job->job.id, job->outcome.error, verdict.dead);
    settle(job, verdict.dead ? JobEnd::dead : JobEnd::failed);
  }
}

void WriteBack::settle(Ended job, JobEnd end) {
  observe_duration(job->job.kind, enum_name(end), job->took);
  job->batch->ended(job->job.throttle_key, end, job->took);
  parts_.in_hand.ended.erase(job);
}

// Also after a call whose answer was lost: then it counts, and this one is the repetition.
void WriteBack::refused(const RunningJob& job, Verdict verdict) const {
  log::warning("the result of a job was refused",
               {{"job", job.job.id.text()}, {"kind", job.job.kind}, {"reason", enum_name(verdict)}});
}

}  // namespace sluice::jobs
