#include "adapters/redis/client/redis.h"

#include <boost/asio/post.hpp>

#include "adapters/redis/client/exchange.h"
#include "runtime/metrics.h"

namespace sluice::redis {
namespace {

const metrics::Histogram durations{
    "redis_command_duration_seconds",
    "Time from a command to its reply, including waiting and redirects.",
    {},
    {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5}};
metrics::HistogramCell& duration = durations.with({});
const metrics::Counter redirects{
    "redis_redirects_total", "Commands redirected to another node of a cluster.", {"kind"}};

// A cluster that redirects a command back and forth is being changed: try again a little later.
constexpr unsigned redirects_at_once = 5;

// Measures the duration of a call, also if it fails.
class Measured {
 public:
  explicit Measured(const Clock& clock) : clock_(clock), begin_(clock.now()) {}
  ~Measured() { duration.observe(std::chrono::duration<double>(clock_.now() - begin_).count()); }
  Measured(const Measured&) = delete;
  Measured& operator=(const Measured&) = delete;

  Instant begin() const { return begin_; }

 private:
  const Clock& clock_;
  Instant begin_;
};

// One call, over as many attempts as its time allows.
class Call {
 public:
  Call(Exchange& exchange, std::shared_ptr<Request> request) : exchange_(exchange), request_(std::move(request)) {}

  Task<Reply> run() {
    while (true) {
      Outcome outcome = co_await exchange_.perform(request_);
      const Next next = std::visit([this](auto& ended) { return judge(ended); }, outcome);
      if (next == Next::done) co_return std::move(std::get<NodeReply>(outcome).reply);
      if (next == Next::at_once) continue;
      const Duration pause = exchange_.jittered(attempt_++);
      if (exchange_.clock().now() + pause >= request_->deadline) give_up(outcome);
      co_await exchange_.clock().sleep_for(pause);
    }
  }

 private:
  enum class Next { done, at_once, later };

  bool cluster() const { return exchange_.config().cluster; }

  Next judge(const NodeReply& answer) {
    if (!answer.reply.is_error()) return Next::done;
    const std::string_view error = answer.reply.error();
    request_->target = {};
    if (error.starts_with("NOSCRIPT") && request_->command.is_script() &&
        request_->script_by == Command::ScriptBy::hash) {
      request_->script_by = Command::ScriptBy::text;
      return Next::at_once;
    }
    if (error.starts_with("MOVED ") || error.starts_with("ASK ")) return follow(answer);
    if (error.starts_with("LOADING") || error.starts_with("TRYAGAIN")) return Next::later;
    if (error.starts_with("CLUSTERDOWN") || error.starts_with("MASTERDOWN") || error.starts_with("READONLY")) {
      request_->target.map_stale = cluster() || error.starts_with("READONLY");
      return Next::later;
    }
    throw Refused(answer.reply.error());
  }

  Next follow(const NodeReply& answer) {
    const std::string& error = answer.reply.error();
    if (!cluster()) throw Refused(error + " (it is part of a cluster: set redis.cluster = true)");
    const auto redirect = Redirect::parse(error, answer.from);
    if (!redirect || !request_->command.slot()) throw Refused(error);
    const bool asking = error.starts_with("ASK");
    redirects.with({asking ? "ask" : "moved"}).add();
    request_->target = {.address = redirect->target, .asking = asking, .moved = !asking};
    return ++redirects_ % redirects_at_once == 0 ? Next::later : Next::at_once;
  }

  Next judge(const Failure& failure) {
    // The absence of a single server is reported at once; a cluster's next master is worth the wait, and so is the end
    // of a command that was sent.
    const bool again = failure.kind == Failure::Kind::not_sent
                           ? cluster() || attempt_ > 0
                           : failure.kind == Failure::Kind::unknown && request_->command.is_repeatable();
    if (!again) give_up(failure);
    request_->target = {};
    request_->target.map_stale = cluster();  // a single server is waited for where it is
    return Next::later;
  }

  [[noreturn]] static void give_up(const Outcome& outcome) {
    if (const auto* failure = std::get_if<Failure>(&outcome)) give_up(*failure);
    throw Refused(std::get<NodeReply>(outcome).reply.error(), EngineUnavailable::Retryable::yes);
  }

  [[noreturn]] static void give_up(const Failure& failure) {
    switch (failure.kind) {
      case Failure::Kind::not_sent:
      case Failure::Kind::closing: throw EngineUnavailable(engine_name, failure.text);
      case Failure::Kind::unknown: throw EngineUnavailable(engine_name, failure.text, EngineUnavailable::Retryable::no);
      case Failure::Kind::late: throw DeadlineExceeded(engine_name);
    }
    std::unreachable();
  }

  Exchange& exchange_;
  std::shared_ptr<Request> request_;
  unsigned attempt_ = 0;
  unsigned redirects_ = 0;
};

}  // namespace

Redis::Redis(RedisConfig config, Executor executor, Clock& clock)
    : exchange_(std::make_unique<Exchange>(std::move(config), executor, clock)) {
  asio::post(executor, [exchange = exchange_.get()] { exchange->start(); });
}

Redis::~Redis() = default;

Task<> Redis::close() {
  return exchange_->close();
}

Task<Reply> Redis::run(Command command, Deadline deadline) {
  const Measured measured(exchange_->clock());
  const Duration timeout = command.timeout().value_or(exchange_->config().command_timeout);
  Call call(*exchange_, exchange_->admit(std::move(command), std::min(deadline.at, measured.begin() + timeout)));
  co_return co_await call.run();
}

}  // namespace sluice::redis
