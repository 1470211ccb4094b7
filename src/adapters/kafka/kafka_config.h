// How to reach Kafka, and how hard to lean on it.
#pragma once

#include <cstddef>
#include <string>

#include "base/enum_names.h"
#include "base/time.h"
#include "runtime/config_fwd.h"

namespace sluice::kafka {

// How a user proves its password.
enum class Mechanism { plain, scram_sha_256, scram_sha_512 };

constexpr auto enum_names(Mechanism) {
  return std::to_array<EnumName<Mechanism>>({{Mechanism::plain, "plain"},
                                             {Mechanism::scram_sha_256, "scram-sha-256"},
                                             {Mechanism::scram_sha_512, "scram-sha-512"}});
}

struct KafkaConfig {
  // Some of the brokers, "host:9092,other:9092".
  std::string brokers = {};

  bool tls = false;
  // PEM; empty: the system's authorities.
  std::string ca_file = {};
  // Our own certificate and its key, where the brokers ask for one.
  std::string certificate_file = {};
  std::string key_file = {};
  // Empty: no SASL.
  std::string user = {};
  std::string password = {};
  Mechanism mechanism = Mechanism::scram_sha_512;

  // Shown in the brokers' logs and by `kafka-consumer-groups`.
  std::string client_name = "sluice";

  Duration send_timeout = 5s;      // of a publish
  Duration request_timeout = 10s;  // of anything else
  // Unacknowledged messages; more are refused with Overloaded.
  size_t max_pending = 100'000;
  size_t max_pending_bytes = 128 << 20;
  Duration linger = 5ms;
  size_t batch = 1 << 20;
  // Fetched ahead, for each partition a consumer owns.
  size_t prefetch = 8 << 20;

  static void describe(config::Section<KafkaConfig>& section);
  void validate(config::Problems& problems) const;

  // Without brokers there is no Kafka.
  bool used() const { return !brokers.empty(); }
};

}  // namespace sluice::kafka
