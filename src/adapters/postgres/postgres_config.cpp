#include "adapters/postgres/postgres_config.h"

#include "runtime/config_section.h"

namespace sluice::postgres {
namespace {

using C = PostgresConfig;

bool is_url(const std::string& text) {
  return text.empty() || text.starts_with("postgresql://") || text.starts_with("postgres://");
}

void describe_pool(config::Section<C>& section) {
  section.key("pool_max", &C::pool_max, "Connections at most.").between(1, 1000);
  section.key("pool_kept", &C::pool_kept, "Connections that stay open when there is nothing to do.");
  section.key("pool_timeout", &C::pool_timeout, "How long a call waits for a connection.").at_least(1ms);
  section.key("pool_idle", &C::pool_idle, "An unused connection above pool_kept is closed after this.").at_least(1s);
  section.key("pool_life", &C::pool_life, "A connection is replaced after this.").at_least(1s);
  section.key("pool_held_warning", &C::pool_held_warning, "Holding a connection longer is worth a warning.");
  section.key("max_waiting", &C::max_waiting, "Calls that wait for a connection; more get 503.").at_least(1);
  section.key("batch_connections", &C::batch_connections, "Connections that small reads, and small writes, each use.")
      .at_least(1);
  section.key("batch_max", &C::batch_max, "Small writes that share a commit, at most.").at_least(1);
}

}  // namespace

bool has_password(std::string_view url) {
  if (url.contains("password=")) return true;
  const size_t begin = std::min(url.find("://"), url.size());
  const std::string_view server = url.substr(begin).substr(std::min<size_t>(3, url.size() - begin));
  const size_t at = server.substr(0, server.find('/')).rfind('@');
  return at != std::string_view::npos && server.substr(0, at).contains(':');
}

void PostgresConfig::describe(config::Section<PostgresConfig>& section) {
  constexpr const char* url_form = "a URL such as \"postgresql://host:5432/sluice\"";
  section.key("url", &C::url, "Where PostgreSQL is, without user and password; empty is the embedded database.")
      .rule(url_form, is_url);
  section.secret("password", &C::password, "Of the services' logins.");
  section.key("replica_url", &C::replica_url, "A streaming replica for reads that may be some seconds old.")
      .rule(url_form, is_url);
  section
      .key("direct_url", &C::direct_url,
           "PostgreSQL itself, where url leads to a pooler: for news of new jobs between instances. Without it they "
           "are found by polling there.")
      .rule(url_form, is_url);
  describe_pool(section);
  section.key("connect_timeout", &C::connect_timeout, "How long connecting may take.").at_least(1ms);
  section.key("statement_timeout", &C::statement_timeout, "How long a statement may take.").at_least(1ms);
  section.key("lock_timeout", &C::lock_timeout, "How long a statement may wait for a lock.").at_least(1ms);
  section.key("silence_grace", &C::silence_grace, "A connection silent this much longer is given up.").at_least(1ms);
}

void PostgresConfig::validate(config::Problems& problems) const {
  if (pool_kept > pool_max) problems.add("pool_kept", "must not be more than pool_max; lower it or raise pool_max");
  if (lock_timeout > statement_timeout) {
    problems.add("lock_timeout", "must not be longer than statement_timeout, which would end the wait first; lower it");
  }
  // It is logged and printed, and every service logs in with its own name.
  constexpr const char* put_it_elsewhere =
      "holds a password, which does not belong there; set SLUICE_POSTGRES_PASSWORD or password_file";
  if (has_password(url)) problems.add("url", put_it_elsewhere);
  if (has_password(replica_url)) problems.add("replica_url", put_it_elsewhere);
  if (has_password(direct_url)) problems.add("direct_url", put_it_elsewhere);
  if (url.empty() && !replica_url.empty()) problems.add("url", "is missing; a replica needs the database it follows");
}

}  // namespace sluice::postgres
