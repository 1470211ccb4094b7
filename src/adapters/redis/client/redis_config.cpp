#include "adapters/redis/client/redis_config.h"

#include <charconv>

#include "runtime/config_section.h"

namespace sluice::redis {
namespace {

using C = RedisConfig;

template <class Number>
bool read_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

// "host", "host:port", "[::1]:port"
std::optional<Address> read_address(std::string_view text) {
  Address address;
  const size_t bracket = text.starts_with('[') ? text.find(']') : 0;
  if (bracket == std::string_view::npos) return std::nullopt;
  const size_t colon = text.find(':', bracket);
  address.host = text.substr(bracket == 0 ? 0 : 1, bracket == 0 ? colon : bracket - 1);
  const std::string_view rest = text.substr(std::min(bracket == 0 ? colon : bracket + 1, text.size()));
  const bool port_is_good = rest.empty() || (rest[0] == ':' && read_number(rest.substr(1), address.port));
  const bool host_is_good = !address.host.empty() && address.host.find_first_of(" @/?#,") == std::string::npos;
  if (!port_is_good || !host_is_good || address.port == 0) return std::nullopt;
  return address;
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

bool has_user(const std::string& url) {
  return url.contains('@');
}

}  // namespace

std::string Address::to_string() const {
  return fmt::format(fmt::runtime(host.contains(':') ? "[{}]:{}" : "{}:{}"), host, port);
}

std::optional<Place> Place::parse(std::string_view url) {
  Place place;
  place.tls = url.starts_with("rediss:");
  if (!take_prefix(url, place.tls ? "rediss://" : "redis://")) return std::nullopt;
  const size_t slash = url.find('/');
  if (slash != std::string_view::npos) {
    const std::string_view database = url.substr(slash + 1);
    if (!database.empty() && !read_number(database, place.database)) return std::nullopt;
    url = url.substr(0, slash);
  }
  while (true) {
    const size_t comma = url.find(',');
    const auto address = read_address(url.substr(0, comma));
    if (!address) return std::nullopt;
    place.seeds.push_back(*address);
    if (comma == std::string_view::npos) return place;
    url.remove_prefix(comma + 1);
  }
}

void RedisConfig::describe(config::Section<RedisConfig>& section) {
  section
      .key("url", &C::url,
           "URL of Redis, without user and password; rediss:// enables TLS. For a cluster, some of its nodes, "
           "separated by commas. Empty disables Redis.")
      .rule("a URL such as \"redis://host:6379\", \"rediss://host:6379/2\" or \"redis://host:6379,other:6379\"",
            [](const std::string& url) { return url.empty() || has_user(url) || Place::parse(url).has_value(); });
  section.key("user", &C::user, "ACL user; empty means the server's default user.");
  section.secret("password", &C::password, "Password of the user.");
  section.key("cluster", &C::cluster, "Redis is a Redis Cluster.");
  section.key("ca_file", &C::ca_file,
              "PEM file of the certificate authorities trusted for rediss://; empty means the system's.");
  section.key("connections", &C::connections, "Connections to each node.").between(1, 64);
  section.key("connect_timeout", &C::connect_timeout, "Time limit for connecting.").at_least(1ms);
  section.key("command_timeout", &C::command_timeout, "Time limit for a command.").at_least(1ms);
  section.key("max_pending", &C::max_pending, "Limit on commands waiting for a reply; more get 503.").at_least(1);
  section.bytes("max_reply", &C::max_reply, "Limit on the size of a reply; a larger one closes the connection.")
      .at_least(kib(64));
  section.table("reconnect", &C::reconnect, "Delay before reconnecting.");
  section.table("breaker", &C::breaker, "Breaker that stops calls to an unresponsive node.");
}

void RedisConfig::validate(config::Problems& problems) const {
  // It is logged and printed.
  if (has_user(url)) {
    problems.add("url",
                 "holds a user or a password, which do not belong there; set user and SLUICE_REDIS_PASSWORD or "
                 "password_file");
    return;
  }
  const auto place = Place::parse(url);
  if (!place) return;
  if (place->seeds.size() > 1 && !cluster) problems.add("url", "names several nodes; set cluster = true");
  if (place->database != 0 && cluster) problems.add("url", "names a database, but a cluster has only 0; remove it");
  if (!ca_file.empty() && !place->tls) problems.add("ca_file", "has no effect without rediss://; change url");
  if (!user.empty() && password.empty()) {
    problems.add("user", "needs a password; set SLUICE_REDIS_PASSWORD or password_file");
  }
}

}  // namespace sluice::redis
