#include "adapters/postgres/batch.h"

namespace sluice::postgres {
namespace {

constexpr unsigned conflict_attempts = 5;

// How the connection under a batch ended.
struct Broken {
  bool late = false;
  std::string reason;
};

// Reads may be repeated; a write's outcome is unknown once it was sent.
CallError error_of(const Broken& broken, RequestKind kind) {
  using enum EngineUnavailable::Retryable;
  if (broken.late) return CallError(std::make_exception_ptr(DeadlineExceeded(engine_name)));
  const auto retryable = kind == RequestKind::read ? yes : no;
  return CallError(std::make_exception_ptr(EngineUnavailable(engine_name, broken.reason, retryable)));
}

// The rest of a batch: the requests from `next_` on, of which `take_` go into the next pipeline.
class Batch {
 public:
  explicit Batch(Requests requests) : requests_(std::move(requests)), take_(requests_.size()) {}

  bool done() const { return next_ == requests_.size(); }
  std::vector<Step> steps() const {
    std::vector<Step> steps;
    for (const auto& request : group()) steps.push_back({request->text, request->params});
    return steps;
  }

  void ended(PipelineOutcome outcome) {
    if (outcome.failure) {
      failed(*outcome.failure, outcome.failed_at);
    } else {
      committed(std::move(outcome.results));
    }
  }

  void fail_rest(const Broken& broken) {
    for (size_t i = next_; i < requests_.size(); ++i) requests_[i]->fail(error_of(broken, requests_[i]->kind));
    settle(requests_.size() - next_);
  }

 private:
  std::span<const std::shared_ptr<Request>> group() const { return std::span(requests_).subspan(next_, take_); }

  void committed(std::vector<StepResult> results) {
    for (size_t i = 0; i < take_; ++i) {
      Request& request = *requests_[next_ + i];
      if (results[i].error) {
        request.fail(CallError(std::move(results[i].error)));
      } else {
        request.finish(std::move(results[i].rows));
      }
    }
    settle(take_);
  }

  void failed(const SqlFailure& failure, size_t at) {
    if (take_ > 1) {
      const bool commit_failed = at == take_;  // names no culprit: all of them alone
      singly_ = commit_failed ? take_ - 1 : at > 0 ? 1 : 0;
      take_ = commit_failed ? 1 : std::max<size_t>(at, 1);
      return;
    }
    if (failure.conflict() && ++conflicts_ < conflict_attempts) return;
    requests_[next_]->fail(CallError(to_exception(failure, requests_[next_]->text)));
    settle(1);
  }

  // Answers the next `count` requests, then decides how many are sent together next.
  void settle(size_t count) {
    answer(std::span(requests_).subspan(next_, count));
    next_ += count;
    conflicts_ = 0;
    take_ = requests_.size() - next_;
    if (singly_ > 0 && take_ > 0) {
      --singly_;
      take_ = 1;
    }
  }

  Requests requests_;
  size_t next_ = 0;
  size_t take_;
  size_t singly_ = 0;  // how many of the next go alone
  unsigned conflicts_ = 0;
};

}  // namespace

Task<> run_batch(Connection& connection, const PostgresConfig& config, Requests requests) {
  const Duration silence = config.statement_timeout + config.silence_grace;
  Batch batch(std::move(requests));
  std::optional<Broken> broken;
  try {
    while (!batch.done()) {
      std::vector<Step> steps = batch.steps();
      PipelineOutcome outcome = co_await connection.run(std::move(steps), silence);
      batch.ended(std::move(outcome));
    }
  } catch (const DeadlineExceeded&) {
    broken = {.late = true, .reason = {}};
  } catch (const std::exception& error) {
    broken = {.late = false, .reason = error.what()};
  }
  if (broken) batch.fail_rest(*broken);
}

}  // namespace sluice::postgres
