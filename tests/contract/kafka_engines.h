// Kafka for contract suites and tests of its own.
#pragma once

#include "adapters/kafka/kafka_log.h"
#include "runtime/system_clock.h"
#include "tests/contract/log_fixture.h"
#include "tests/support/certificates.h"
#include "tests/support/kafka_broker.h"

namespace sluice::test {

// A broker that also takes clients over TLS with a password, on a port of their own.
class SharedKafka {
 public:
  SharedKafka();

  KafkaBroker& broker() { return *broker_; }
  // Its time limits outlast any pause of the broker on this machine.
  kafka::KafkaConfig config() const {
    return {.brokers = broker_->address(), .send_timeout = 30s, .request_timeout = 30s};
  }
  // Only "secret" is let in.
  kafka::KafkaConfig secure_config(const std::string& password) const;
  const Certificates& certificates() const { return certificates_; }

 private:
  std::vector<std::string> settings(const KafkaNode& node) const;

  Certificates certificates_;
  uint16_t secure_port_;
  std::optional<KafkaBroker> broker_;
};

// Starts with the first test that needs it and serves the whole program. A test that stops it starts it again.
SharedKafka& shared_kafka();

// A client for one test, on the test's thread.
class OpenKafkaLog {
 public:
  OpenKafkaLog(kafka::KafkaConfig config, asio::io_context& io) : log_(std::move(config), io.get_executor(), clock_) {}

  kafka::KafkaLog& log() { return log_; }
  Task<> close() { return log_.close(); }

 private:
  SystemClock clock_;
  kafka::KafkaLog log_;
};

}  // namespace sluice::test
