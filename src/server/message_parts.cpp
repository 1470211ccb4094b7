#include "server/message_parts.h"

#include <algorithm>

#include "adapters/kafka/kafka_log.h"
#include "adapters/redis/log/redis_log_retention.h"
#include "adapters/redis/log/redis_log_view.h"
#include "adapters/sqlite/log/embedded_log_view.h"
#include "adapters/sqlite/log/log_retention.h"
#include "base/check.h"
#include "runtime/log.h"
#include "runtime/metrics.h"
#include "runtime/retry.h"

namespace sluice::server {
namespace {

const metrics::Gauge consumer_lag{
    "kafka_consumer_lag", "Messages that a group has not read yet, on any engine.", {"topic", "group"}};
const metrics::Gauge letters_open{"dlq_message_count", "Open dead letters.", {"topic"}};
constexpr Duration lag_every = 2s;
constexpr Duration letters_every = 1min;

}  // namespace

std::optional<LogEngine> chosen_log_engine(const Settings& settings) {
  const LogEngine chosen = settings.messaging.engine;
  if (chosen != LogEngine::automatic) return chosen;
  if (settings.kafka.used()) return LogEngine::kafka;
  if (settings.redis.used()) return LogEngine::redis;
  if (!settings.postgres.used()) return LogEngine::embedded;
  return std::nullopt;
}

// One engine's log and the objects that it needs.
class MessageParts::LogParts {
 public:
  virtual ~LogParts() = default;
  virtual messaging::MessageLog& log() = 0;
  virtual messaging::LogView& view() = 0;
  // A log for one relay, which keeps its own view of the engine's state.
  virtual messaging::MessageLog& log_of_own() { return log(); }
  virtual Task<> declare(std::vector<messaging::Topic> topics) { return log().declare(std::move(topics)); }
  // How stores append messages; rings `bell` if relays publish them.
  virtual sql::Outbox outbox(messaging::Bell& bell) { return sql::Outbox(bell); }
  virtual bool needs_relays() const { return true; }
  // Whether a server creates missing topics; otherwise only `sluice migrate` does.
  virtual bool declares_at_start() const { return true; }
  // Checks the engine cheaply. Throws EngineUnavailable.
  virtual Task<> reach() { co_return; }
  // Keeps messages for their retention, where the engine does not do so itself.
  virtual void start(TaskScope&) {}
  virtual Task<> close() { co_return; }
};

class MessageParts::Embedded final : public LogParts {
 public:
  Embedded(sqlite::SqliteDatabase& database, Clock& clock, Random& random)
      : log_(database, clock), view_(database, log_), retention_(database, log_.topics(), clock, random) {}

  messaging::MessageLog& log() override { return log_; }
  messaging::LogView& view() override { return view_; }
  sql::Outbox outbox(messaging::Bell&) override { return sql::Outbox::into_embedded_log(log_.bell()); }
  bool needs_relays() const override { return false; }
  void start(TaskScope& scope) override { scope.spawn("log retention", retention_.run()); }

 private:
  sqlite::EmbeddedLog log_;
  sqlite::EmbeddedLogView view_;
  sqlite::LogRetention retention_;
};

class MessageParts::InRedis final : public LogParts {
 public:
  InRedis(const redis::RedisConfig& config, redis::Redis& redis, Clock& clock, Random& random, const Executor& executor)
      : redis_(redis),
        clock_(clock),
        random_(random),
        log_(redis, clock, random, "sluice"),
        view_(log_),
        retention_(log_, random),
        news_(config, executor, clock, {redis::LogNews::channel}, log_.news()) {}

  messaging::MessageLog& log() override { return log_; }
  messaging::LogView& view() override { return view_; }
  messaging::MessageLog& log_of_own() override {
    return *others_.emplace_back(std::make_unique<redis::RedisLog>(redis_, clock_, random_, "sluice"));
  }
  // After a wipe each log creates its topics again.
  Task<> declare(std::vector<messaging::Topic> topics) override {
    co_await log_.declare(topics);
    for (const auto& other : others_) co_await other->declare(topics);
  }
  void start(TaskScope& scope) override { retention_.start(scope); }
  Task<> close() override { return news_.close(); }

 private:
  redis::Redis& redis_;
  Clock& clock_;
  Random& random_;
  std::vector<std::unique_ptr<redis::RedisLog>> others_;
  redis::RedisLog log_;
  redis::RedisLogView view_;
  redis::RedisLogRetention retention_;
  redis::Subscriber news_;
};

class MessageParts::InKafka final : public LogParts {
 public:
  InKafka(const kafka::KafkaConfig& config, const Executor& executor, Clock& clock) : log_(config, executor, clock) {}

  messaging::MessageLog& log() override { return log_; }
  messaging::LogView& view() override { return log_; }
  bool declares_at_start() const override { return false; }
  Task<> reach() override { return log_.reach(); }
  Task<> close() override { return log_.close(); }

 private:
  kafka::KafkaLog log_;
};

std::unique_ptr<MessageParts::LogParts> MessageParts::open(const Settings& settings, LogEngine engine, Engines& engines,
                                                           const Executor& executor) {
  switch (engine) {
    case LogEngine::automatic: break;
    case LogEngine::embedded: return std::make_unique<Embedded>(*engines.embedded(), clock_, random_);
    case LogEngine::redis:
      return std::make_unique<InRedis>(settings.redis, *engines.redis(), clock_, random_, executor);
    case LogEngine::kafka: return std::make_unique<InKafka>(settings.kafka, executor, clock_);
  }
  check_that(false, "no engine was selected for the log");
  return nullptr;
}

MessageParts::MessageParts(const Settings& settings, LogEngine engine, Engines& engines, Clock& clock, Random& random,
                           Executor executor)
    : clock_(clock),
      random_(random),
      topics_(settings.messaging.declared()),
      log_parts_(open(settings, engine, engines, executor)),
      outboxes_(patient(engines)),
      dead_letters_(log_parts_->log(), log_parts_->view(), clock, dead_letter_topics(),
                    make_dead(outboxes_, dead_rows_)) {
  if (!log_parts_->needs_relays()) return;
  const auto log_of_own = [this]() -> messaging::MessageLog& { return log_parts_->log_of_own(); };
  const OutboxRelays::Parts parts{log_of_own, outbox_bell_, clock, random};
  relays_ = std::make_unique<OutboxRelays>(settings.messaging.outbox, outboxes_, parts, executor);
}

MessageParts::~MessageParts() = default;

messaging::MessageLog& MessageParts::log() {
  return log_parts_->log();
}

messaging::LogView& MessageParts::view() {
  return log_parts_->view();
}

sql::Outbox MessageParts::outbox() {
  return log_parts_->outbox(outbox_bell_);
}

OutboxRelays::Databases MessageParts::patient(const Engines& engines) {
  OutboxRelays::Databases databases;
  for (const auto& database : engines.outboxes()) {
    databases.push_back(std::make_unique<sql::PatientDatabase>(*database));
  }
  return databases;
}

std::vector<messaging::OutboxDead*> MessageParts::make_dead(const OutboxRelays::Databases& databases,
                                                            std::vector<std::unique_ptr<sql::SqlOutboxDead>>& made) {
  std::vector<messaging::OutboxDead*> dead;
  for (const auto& database : databases) {
    made.push_back(std::make_unique<sql::SqlOutboxDead>(*database));
    dead.push_back(made.back().get());
  }
  return dead;
}

Task<> MessageParts::declare_topics() {
  return log_parts_->declare(topics_);
}

Task<> MessageParts::prepare() {
  if (log_parts_->declares_at_start()) co_await declare_topics();
  const std::vector<messaging::TopicView> found = co_await view().topics();
  const auto name = [](const messaging::TopicView& view) { return view.topic.name; };
  for (const messaging::Topic& topic : topics_) {
    if (std::ranges::find(found, topic.name, name) != found.end()) continue;
    throw EngineUnavailable("log", fmt::format("the topic {} does not exist yet; run `sluice migrate`", topic.name));
  }
}

Task<> MessageParts::reach() {
  return log_parts_->reach();
}

void MessageParts::start(TaskScope& scope) {
  scope.spawn("log", begin(scope));
}

// A topic that is missing would be a row's own fault, so relays wait until there are topics.
Task<> MessageParts::begin(TaskScope& scope) {
  Backoff backoff;
  bool ready = false;
  for (unsigned tried = 0; !ready; ++tried) {
    try {
      co_await prepare();
      ready = true;
    } catch (const EngineUnavailable& error) {
      log::warning("the message log is not ready", {{"reason", error.what()}});
    }
    const Duration delay = backoff.delay(tried, random_);
    if (!ready) co_await clock_.sleep_for(delay);
  }
  log_parts_->start(scope);
  if (relays_) relays_->start();
  scope.spawn("log lag", run_forever("log lag", clock_, random_, [this] { return count_lag(); }));
  scope.spawn("dead letters", run_forever("dead letters", clock_, random_, [this] { return count_letters(); }));
}

Task<> MessageParts::count_lag() {
  const std::vector<messaging::GroupView> groups = co_await view().groups();
  Lags lags;
  for (const messaging::GroupView& each : groups) lags[{each.topic, each.group}] += each.lag;
  for (const auto& [gone, was] : lags_) lags.try_emplace(gone, 0);
  for (const auto& [of, lag] : lags) consumer_lag.with({of.first, of.second}).set(static_cast<double>(lag));
  lags_ = std::move(lags);
  co_await clock_.sleep_for(lag_every);
}

Task<> MessageParts::count_letters() {
  const std::map<std::string, size_t> open = co_await dead_letters_.open();
  for (const auto& [topic, count] : open) letters_open.with({topic}).set(static_cast<double>(count));
  co_await clock_.sleep_for(letters_every);
}

Task<> MessageParts::close() {
  if (relays_) co_await relays_->stop();
  co_await log_parts_->close();
}

}  // namespace sluice::server
