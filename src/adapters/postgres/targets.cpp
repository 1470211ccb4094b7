#include "adapters/postgres/targets.h"

#include <libpq-fe.h>

#include "adapters/postgres/sql_failure.h"
#include "runtime/look_up.h"

namespace sluice::postgres {
namespace {

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t end; (end = list.find(',', begin)) != std::string::npos; begin = end + 1) {
    parts.push_back(list.substr(begin, end - begin));
  }
  parts.push_back(list.substr(begin));
  return parts;
}

struct Written {
  std::string host;
  std::string hostaddr;
  std::string port;
  std::string session;
};

// The content of the URL, as libpq reads it.
Written parse(const std::string& url) {
  char* problem = nullptr;
  const std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> options(PQconninfoParse(url.c_str(), &problem),
                                                                             &PQconninfoFree);
  const std::unique_ptr<char, decltype(&PQfreemem)> freed(problem, &PQfreemem);
  if (!options) throw ConnectionLost(problem != nullptr ? problem : "out of memory");
  Written written;
  for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
    if (option->val == nullptr) continue;
    const std::string_view key = option->keyword;
    if (key == "host") written.host = option->val;
    if (key == "hostaddr") written.hostaddr = option->val;
    if (key == "port") written.port = option->val;
    if (key == "target_session_attrs") written.session = option->val;
  }
  return written;
}

bool is_socket_folder(const std::string& host) {
  return host.empty() || host.starts_with('/') || host.starts_with('@');
}

// libpq gets one address at a time, so its own two rounds would both end at the first.
std::vector<Target> standbys_first(const std::vector<Target>& targets) {
  std::vector<Target> rounds;
  for (const std::string session : {"standby", "any"}) {
    for (Target target : targets) {
      target.session = session;
      rounds.push_back(std::move(target));
    }
  }
  return rounds;
}

}  // namespace

Task<std::vector<Target>> find_targets(std::string url) {
  const Written written = parse(url);
  std::vector<Target> targets;
  // A URL with addresses of its own needs no lookup.
  if (!written.hostaddr.empty()) {
    targets.emplace_back();
    co_return targets;
  }
  const std::vector<std::string> hosts = split(written.host);
  const std::vector<std::string> ports = split(written.port);
  std::string not_found;
  for (size_t i = 0; i < hosts.size(); ++i) {
    const std::string& port = ports.size() == hosts.size() ? ports[i] : ports[0];
    if (is_socket_folder(hosts[i])) {
      targets.push_back({.host = hosts[i], .address = {}, .port = port});
      continue;
    }
    try {
      const auto addresses = co_await look_up(hosts[i]);
      for (const auto& address : addresses) {
        targets.push_back({.host = hosts[i], .address = address.to_string(), .port = port});
      }
    } catch (const HostNotFound& error) {
      not_found = error.what();
    }
  }
  if (targets.empty()) throw ConnectionLost(not_found);
  if (written.session == "prefer-standby") co_return standbys_first(targets);
  co_return targets;
}

}  // namespace sluice::postgres
