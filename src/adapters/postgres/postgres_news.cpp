#include "adapters/postgres/postgres_news.h"

#include <boost/asio/post.hpp>
#include <fmt/format.h>

#include "runtime/log.h"
#include "runtime/retry.h"

namespace sluice::postgres {
namespace {

// Between two NOTIFYs of a process.
constexpr Duration pause = 20ms;
constexpr Duration longest_wait = 1min;
// Interval between checks whether a pooler still stands in between.
constexpr Duration look_again = 10min;

}  // namespace

PostgresNews::PostgresNews(PostgresConfig config, std::string channel, std::function<void()> heard,
                           EngineThread& thread, Clock& clock, Random& random)
    : config_(std::move(config)),
      channel_(std::move(channel)),
      heard_(std::move(heard)),
      thread_(thread),
      clock_(clock),
      random_(random),
      scope_(thread.executor()) {
  asio::post(thread_.executor(), [this] {
    scope_.spawn("database news", run_forever("database news", clock_, random_, [this] { return round(); }));
  });
}

PostgresNews::~PostgresNews() {
  thread_.run(scope_.close());
}

void PostgresNews::tell() {
  if (to_tell_.exchange(true)) return;
  asio::post(thread_.executor(), [this] {
    if (connection_) connection_->rouse();
  });
}

Task<> PostgresNews::round() {
  std::string lost;
  try {
    if (connection_) {
      co_await listen_or_tell();
    } else if (std::exchange(pooled_, false)) {
      co_await clock_.sleep_for(look_again);
    } else {
      co_await connect();
    }
    co_return;
  } catch (const ConnectionLost& error) {
    lost = error.what();
  } catch (const DeadlineExceeded& error) {
    lost = error.what();
  }
  connection_.reset();
  throw EngineUnavailable(engine_name, lost);
}

Task<> PostgresNews::connect() {
  std::unique_ptr<Connection> connection = co_await Connection::open(thread_.executor(), config_, clock_);
  connection_ = std::move(connection);
  const sql::Rows self = co_await run("SELECT pg_backend_pid()");
  pooled_ = self.one().integer(0) != connection_->backend();
  if (pooled_) {
    connection_.reset();
    log::info(
        "PostgreSQL is behind a pooler, so new jobs of other instances are found by polling; set "
        "postgres.direct_url to be notified",
        {{"channel", channel_}});
    co_return;
  }
  co_await run(fmt::format("LISTEN \"{}\"", channel_));
  heard_();
}

Task<> PostgresNews::listen_or_tell() {
  const Instant now = clock_.now();
  const bool telling = to_tell_.load();
  if (telling && now >= not_before_) {
    not_before_ = now + pause;
    to_tell_ = false;  // later additions are told by the next one
    co_await run(fmt::format("NOTIFY \"{}\"", channel_));
    co_return;
  }
  const Duration wait = telling ? std::chrono::ceil<Duration>(not_before_ - now) : Duration{longest_wait};
  const size_t heard = co_await connection_->hear(wait);
  if (heard > 0) heard_();
}

Task<sql::Rows> PostgresNews::run(std::string text) {
  const sql::Params none;
  std::vector<Step> steps{{text, none}};
  PipelineOutcome outcome = co_await connection_->run(std::move(steps), config_.statement_timeout);
  if (outcome.failure) throw ConnectionLost(outcome.failure->message);
  co_return std::move(outcome.results.front().rows);
}

}  // namespace sluice::postgres
