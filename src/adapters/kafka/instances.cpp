#include "adapters/kafka/instances.h"

#include <mutex>
#include <stdexcept>

#include <fmt/format.h>

#include "runtime/log.h"

namespace sluice::kafka {
namespace {

constexpr unsigned threads = 2;
constexpr size_t most_waiting = 256;

void set(const Conf& conf, const char* name, const std::string& value) {
  char problem[512];
  if (rd_kafka_conf_set(conf.get(), name, value.c_str(), problem, sizeof problem) == RD_KAFKA_CONF_OK) return;
  throw std::runtime_error(fmt::format("kafka: {}", problem));
}

void set_ms(const Conf& conf, const char* name, Duration duration) {
  set(conf, name, fmt::format("{}", std::chrono::ceil<std::chrono::milliseconds>(duration).count()));
}

void set_kb(const Conf& conf, const char* name, size_t bytes) {
  set(conf, name, fmt::format("{}", std::max<size_t>(1, bytes / 1024)));
}

// Called on librdkafka's threads. Levels are those of syslog.
void write_log(const rd_kafka_t* instance, int level, const char* facility, const char* text) {
  // A failing connection fails again and again; its user reports it once.
  const bool repeated = std::string_view(facility) == "FAIL" || std::string_view(facility) == "ERROR";
  const log::Level ours = level <= 3 && !repeated ? log::Level::warning : log::Level::debug;
  if (!log::enabled(ours)) return;
  log::write(ours, "kafka client", {{"client", rd_kafka_name(instance)}, {"about", facility}, {"text", text}});
}

const char* protocol_of(const KafkaConfig& config) {
  if (config.user.empty()) return config.tls ? "ssl" : "plaintext";
  return config.tls ? "sasl_ssl" : "sasl_plaintext";
}

const char* sasl_name(Mechanism mechanism) {
  switch (mechanism) {
    case Mechanism::plain: return "PLAIN";
    case Mechanism::scram_sha_256: return "SCRAM-SHA-256";
    case Mechanism::scram_sha_512: return "SCRAM-SHA-512";
  }
  return "";
}

void set_security(const Conf& conf, const KafkaConfig& config) {
  set(conf, "security.protocol", protocol_of(config));
  if (!config.ca_file.empty()) set(conf, "ssl.ca.location", config.ca_file);
  if (!config.certificate_file.empty()) {
    set(conf, "ssl.certificate.location", config.certificate_file);
    set(conf, "ssl.key.location", config.key_file);
  }
  if (config.user.empty()) return;
  set(conf, "sasl.mechanisms", sasl_name(config.mechanism));
  set(conf, "sasl.username", config.user);
  set(conf, "sasl.password", config.password);
}

}  // namespace

size_t largest_batch(const KafkaConfig& config) {
  return std::max(config.batch, messaging::max_message_bytes) + (64 << 10);
}

// Destroys instances, on the thread for blocking calls while it exists.
class Instances::Disposal {
 public:
  explicit Disposal(Offload& offload) : offload_(&offload) {}

  void destroy(rd_kafka_t* instance, const std::shared_ptr<void>& listener) {
    // A consumer that leaves its group in order was closed before.
    const auto destroy = [instance, listener] {
      rd_kafka_destroy_flags(instance, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
    };
    if (!submit(destroy)) destroy();
  }
  // Before the threads end.
  void close() {
    const std::lock_guard lock(mutex_);
    offload_ = nullptr;
  }

 private:
  bool submit(Offload::Work work) {
    const std::lock_guard lock(mutex_);
    return offload_ != nullptr && offload_->try_submit(std::move(work));
  }

  std::mutex mutex_;
  Offload* offload_;  // guarded by mutex_
};

Instances::Instances(KafkaConfig config)
    : config_(std::move(config)),
      disposal_(std::make_shared<Disposal>(offload_)),
      offload_(engine_name, threads, most_waiting) {}

Instances::~Instances() {
  disposal_->close();
}

Conf Instances::common() const {
  Conf conf(rd_kafka_conf_new());
  set(conf, "bootstrap.servers", config_.brokers);
  set(conf, "client.id", config_.client_name);
  set_security(conf, config_);
  // A broker that comes back is found again within two seconds, a new topic within five.
  set(conf, "reconnect.backoff.ms", "50");
  set(conf, "reconnect.backoff.max.ms", "2000");
  set(conf, "topic.metadata.refresh.interval.ms", "5000");
  set(conf, "topic.metadata.refresh.fast.interval.ms", "100");
  set_ms(conf, "socket.connection.setup.timeout.ms", std::max<Duration>(1s, config_.request_timeout));
  set(conf, "socket.keepalive.enable", "true");
  set(conf, "log.connection.close", "false");
  set(conf, "statistics.interval.ms", "5000");
  rd_kafka_conf_set_log_cb(conf.get(), write_log);
  return conf;
}

Instance Instances::producer() {
  Conf conf = common();
  set(conf, "acks", "all");
  set(conf, "enable.idempotence", "true");
  set(conf, "max.in.flight.requests.per.connection", "5");
  set(conf, "compression.type", "zstd");
  set(conf, "partitioner", "murmur2");
  set_ms(conf, "message.timeout.ms", config_.send_timeout);
  set_ms(conf, "request.timeout.ms", config_.send_timeout);
  set_ms(conf, "linger.ms", config_.linger);
  set(conf, "batch.size", fmt::format("{}", config_.batch));
  set(conf, "batch.num.messages", "100000");
  set(conf, "message.max.bytes", fmt::format("{}", largest_batch(config_)));
  // Bounded by ourselves before a call begins (producer.h), so that no call is refused half done.
  set(conf, "queue.buffering.max.messages", fmt::format("{}", config_.max_pending));
  set_kb(conf, "queue.buffering.max.kbytes", config_.max_pending_bytes);
  // An unknown topic is refused in time; a topic that was just created is waited for.
  set_ms(conf, "topic.metadata.propagation.max.ms", config_.send_timeout / 2);
  set(conf, "retry.backoff.ms", "50");
  rd_kafka_conf_set_events(conf.get(), RD_KAFKA_EVENT_DR | RD_KAFKA_EVENT_ERROR | RD_KAFKA_EVENT_STATS);
  return make(RD_KAFKA_PRODUCER, std::move(conf));
}

Instance Instances::consumer(const messaging::SubscriptionConfig& subscription,
                             const std::shared_ptr<Joining>& joining) {
  Conf conf = common();
  if (joining) joining->follow(conf);
  set(conf, "group.id", subscription.group);
  set(conf, "partition.assignment.strategy", "cooperative-sticky");
  set(conf, "enable.auto.commit", "false");
  set(conf, "enable.auto.offset.store", "false");
  set(conf, "auto.offset.reset", "earliest");
  set_ms(conf, "session.timeout.ms", subscription.session);
  set_ms(conf, "heartbeat.interval.ms", subscription.session / 5);
  // Also how long the group waits for a member that is still handing over.
  set_ms(conf, "max.poll.interval.ms", std::max(subscription.session, subscription.handover + 2s));
  set_kb(conf, "queued.max.messages.kbytes", config_.prefetch);
  set(conf, "queued.min.messages", "1000000");
  set(conf, "fetch.wait.max.ms", "500");
  set(conf, "fetch.error.backoff.ms", "100");
  rd_kafka_conf_set_events(conf.get(), RD_KAFKA_EVENT_REBALANCE | RD_KAFKA_EVENT_OFFSET_COMMIT | RD_KAFKA_EVENT_ERROR |
                                           RD_KAFKA_EVENT_STATS);
  Instance instance = make(RD_KAFKA_CONSUMER, std::move(conf), joining);
  rd_kafka_poll_set_consumer(instance.get());
  return instance;
}

Instance Instances::reader() {
  Conf conf = common();
  set(conf, "statistics.interval.ms", "0");
  set(conf, "enable.partition.eof", "true");
  set(conf, "enable.auto.commit", "false");
  set(conf, "enable.auto.offset.store", "false");
  // If retention has removed the requested offset, reading starts at the oldest message: never at the end, which would
  // skip all.
  set(conf, "auto.offset.reset", "earliest");
  set(conf, "fetch.wait.max.ms", "10");
  return make(RD_KAFKA_CONSUMER, std::move(conf));
}

Instance Instances::make(rd_kafka_type_t type, Conf conf, std::shared_ptr<void> listener) {
  char problem[512];
  rd_kafka_t* made = rd_kafka_new(type, conf.get(), problem, sizeof problem);
  if (made == nullptr) throw EngineUnavailable(engine_name, problem);
  [[maybe_unused]] const rd_kafka_conf_t* taken = conf.release();
  return {made, [disposal = disposal_, kept = std::move(listener)](rd_kafka_t* instance) {
            disposal->destroy(instance, kept);
          }};
}

}  // namespace sluice::kafka
