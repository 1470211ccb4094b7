#include "adapters/kafka/kafka_config.h"

#include <algorithm>

#include "runtime/config_section.h"

namespace sluice::kafka {
namespace {

using C = KafkaConfig;

// "host:port"; nothing that would be a protocol, a path or a user.
bool is_broker(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == 0 || colon == std::string_view::npos || text.find_first_of("/@ ") != std::string_view::npos)
    return false;
  const std::string_view port = text.substr(colon + 1);
  return !port.empty() && port.size() <= 5 && std::ranges::all_of(port, [](char c) { return c >= '0' && c <= '9'; });
}

bool is_list_of_brokers(std::string_view text) {
  if (text.empty()) return true;
  for (size_t comma; (comma = text.find(',')) != std::string_view::npos; text.remove_prefix(comma + 1)) {
    if (!is_broker(text.substr(0, comma))) return false;
  }
  return is_broker(text);
}

}  // namespace

void KafkaConfig::describe(config::Section<KafkaConfig>& section) {
  section
      .key("brokers", &C::brokers,
           "Some of the brokers, separated by commas; they report the rest. Empty disables Kafka.")
      .rule("brokers such as \"host:9092\" or \"host:9092,other:9092\"", is_list_of_brokers);
  section.key("tls", &C::tls, "Use TLS.");
  section.key("ca_file", &C::ca_file,
              "PEM file of the certificate authorities trusted for TLS; empty means the system's.");
  section.key("certificate_file", &C::certificate_file,
              "PEM file of the client certificate, if the brokers require one.");
  section.key("key_file", &C::key_file, "PEM file of the key of the client certificate.");
  section.key("user", &C::user, "SASL user; empty disables SASL.");
  section.secret("password", &C::password, "Password of the user.");
  section.key("mechanism", &C::mechanism, "SASL mechanism.");
  section.key("client_name", &C::client_name, "Client name shown in logs and tools of the brokers.").not_empty();
  section.key("send_timeout", &C::send_timeout, "Time limit for a message to be acknowledged by all in-sync replicas.")
      .at_least(100ms);
  section.key("request_timeout", &C::request_timeout, "Time limit for other requests: topics, groups, commits.")
      .at_least(100ms);
  section.key("max_pending", &C::max_pending, "Limit on unacknowledged messages; more get 503.").between(1, 10'000'000);
  section
      .bytes("max_pending_bytes", &C::max_pending_bytes, "Limit on the bytes of unacknowledged messages; more get 503.")
      .between(mib(16), gib(2));
  section.key("linger", &C::linger, "Time a message waits for others in its batch.").between(0ms, 1s);
  section.bytes("batch", &C::batch, "Limit on the size of a batch.").between(kib(1), mib(16));
  section.bytes("prefetch", &C::prefetch, "Bytes read ahead for each partition of a consumer.")
      .between(kib(64), gib(1));
}

void KafkaConfig::validate(config::Problems& problems) const {
  if (!ca_file.empty() && !tls) problems.add("ca_file", "has no effect without tls = true; set it");
  if (certificate_file.empty() != key_file.empty()) {
    problems.add("certificate_file", "and key_file belong together; set both");
  }
  if (!certificate_file.empty() && !tls) problems.add("certificate_file", "has no effect without tls = true; set it");
  if (!user.empty() && password.empty()) {
    problems.add("user", "needs a password; set SLUICE_KAFKA_PASSWORD or password_file");
  }
  if (!user.empty() && !tls && mechanism == Mechanism::plain) {
    problems.add("mechanism", "plain sends the password unencrypted; set tls = true or another mechanism");
  }
}

}  // namespace sluice::kafka
