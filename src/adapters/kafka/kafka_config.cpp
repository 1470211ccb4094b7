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
  section.key("brokers", &C::brokers, "Some of the brokers, with commas between; they name the rest. Empty: no Kafka.")
      .rule("brokers such as \"host:9092\" or \"host:9092,other:9092\"", is_list_of_brokers);
  section.key("tls", &C::tls, "Whether to speak TLS.");
  section.key("ca_file", &C::ca_file, "Whom to believe under TLS, as PEM; empty: the system's authorities.");
  section.key("certificate_file", &C::certificate_file, "Our certificate, as PEM, where the brokers ask for one.");
  section.key("key_file", &C::key_file, "The key of that certificate, as PEM.");
  section.key("user", &C::user, "The SASL user; empty: none.");
  section.secret("password", &C::password, "Of that user.");
  section.key("mechanism", &C::mechanism, "How the user proves the password.");
  section.key("client_name", &C::client_name, "How the brokers' logs and tools name us.").not_empty();
  section.key("send_timeout", &C::send_timeout, "How long a message may take to be acknowledged by all its replicas.")
      .at_least(100ms);
  section.key("request_timeout", &C::request_timeout, "How long anything else may take: topics, groups, commits.")
      .at_least(100ms);
  section.key("max_pending", &C::max_pending, "Messages without an acknowledgement; more get 503.")
      .between(1, 10'000'000);
  section.bytes("max_pending_bytes", &C::max_pending_bytes, "The same in bytes.").between(mib(16), gib(2));
  section.key("linger", &C::linger, "How long a message waits for others to share its batch.").between(0ms, 1s);
  section.bytes("batch", &C::batch, "The largest batch.").between(kib(1), mib(16));
  section.bytes("prefetch", &C::prefetch, "Read ahead for each partition a consumer owns.").between(kib(64), gib(1));
}

void KafkaConfig::validate(config::Problems& problems) const {
  if (!ca_file.empty() && !tls) problems.add("ca_file", "is of use only with tls = true; set it");
  if (certificate_file.empty() != key_file.empty()) {
    problems.add("certificate_file", "and key_file belong together; set both");
  }
  if (!certificate_file.empty() && !tls) problems.add("certificate_file", "is of use only with tls = true; set it");
  if (!user.empty() && password.empty()) {
    problems.add("user", "needs a password; set SLUICE_KAFKA_PASSWORD or password_file");
  }
  if (!user.empty() && !tls && mechanism == Mechanism::plain) {
    problems.add("mechanism", "plain sends the password as it is; set tls = true or another mechanism");
  }
}

}  // namespace sluice::kafka
