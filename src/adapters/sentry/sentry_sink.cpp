#include "adapters/sentry/sentry_sink.h"

#include <charconv>

#include "runtime/log.h"
#include "runtime/metrics.h"

namespace sluice::sentry {
namespace {

constexpr Duration longest_wait = 1min;
constexpr Duration last_words = 2s;
constexpr Duration usual_pause = 1min;
constexpr Duration longest_pause = 10min;

const metrics::Counter reports{
    "error_reports_total",
    "Failures reported to Sentry (sent) or dropped: the queue was full, Sentry was unreachable, refused "
    "the report or asked for a pause (limited).",
    {"outcome"}};

Duration pause_of(const http::ClientAnswer& answer) {
  const std::string_view text = answer.headers.get("Retry-After");
  int64_t seconds = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (parsed.ec != std::errc{} || seconds < 0) return usual_pause;
  return std::min<Duration>(std::chrono::seconds(std::min<int64_t>(seconds, 86'400)), longest_pause);
}

}  // namespace

SentrySink::SentrySink(const SentryConfig& config, Sender sender, Clock& clock, Random& random,
                       const Executor& executor)
    : dsn_(Dsn::parse(config.dsn).value()),
      sender_(std::move(sender)),
      max_waiting_(config.max_waiting),
      clock_(clock),
      random_(random),
      client_(executor, clock,
              {.reach = http::Reach::anywhere,
               .ca_file = config.ca_file,
               .max_per_origin = 1,
               .max_waiting = 1,
               .resolver = {.threads = 1}}),
      news_(bell_.listen(executor)),
      idle_(executor),
      scope_(executor) {}

void SentrySink::start() {
  scope_.spawn("error reports", run_forever("error reports", clock_, random_, [this] { return round(); }));
}

void SentrySink::report(ErrorReport report) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= max_waiting_) return reports.with({"full"}).add();
    waiting_.push_back(std::move(report));
  }
  bell_.ring();
}

std::optional<ErrorReport> SentrySink::take() {
  const std::lock_guard lock(mutex_);
  if (waiting_.empty()) return std::nullopt;
  ErrorReport report = std::move(waiting_.front());
  waiting_.pop_front();
  return report;
}

Task<> SentrySink::round() {
  if (clock_.now() < not_before_) {
    co_await clock_.sleep_until(not_before_);
    co_return;
  }
  std::optional<ErrorReport> report = take();
  sending_ = report.has_value();
  if (report) {
    co_await send(*std::move(report));
    co_return;
  }
  idle_.notify_all();
  const Instant when = clock_.now() + longest_wait;
  co_await news_.wait_until(clock_, when);
}

Task<> SentrySink::send(ErrorReport report) {
  http::ClientRequest request = request_for(report);
  const Result<http::ClientAnswer, http::ClientError> answer = co_await client_.send(std::move(request));
  sending_ = false;
  if (answer) {
    look_at(*answer);
    co_return;
  }
  reports.with({"unreachable"}).add();
  idle_.notify_all();
  throw EngineUnavailable("sentry", answer.error().text);
}

http::ClientRequest SentrySink::request_for(const ErrorReport& report) {
  const Uuid event = Uuid::v7(clock_.wall(), random_);
  http::ClientRequest request{.method = http::Method::post, .url = dsn_.envelopes};
  request.headers.add("Content-Type", "application/x-sentry-envelope");
  request.headers.add("X-Sentry-Auth",
                      fmt::format("Sentry sentry_version=7, sentry_client=sluice/1, sentry_key={}", dsn_.key));
  request.body = envelope(report, sender_, event, clock_.wall());
  request.max_bytes = size_t{64} << 10;
  return request;
}

void SentrySink::look_at(const http::ClientAnswer& answer) {
  if (answer.status >= 200 && answer.status <= 299) return reports.with({"sent"}).add();
  if (answer.status == 429) {
    not_before_ = clock_.now() + pause_of(answer);
    return reports.with({"limited"}).add();
  }
  log::warning("an error report was refused", {{"status", answer.status}});
  reports.with({"refused"}).add();
}

Task<> SentrySink::close() {
  const Instant end = clock_.now() + last_words;
  const auto busy = [this] {
    const std::lock_guard lock(mutex_);
    return sending_ || !waiting_.empty();
  };
  while (scope_.running() > 0 && busy() && clock_.now() < end) co_await idle_.wait_until(clock_, end);
  co_await scope_.close();
  co_await client_.close();
}

}  // namespace sluice::sentry
