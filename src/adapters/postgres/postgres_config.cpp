#include "adapters/postgres/postgres_config.h"

#include "runtime/config_section.h"

namespace sluice::postgres {
namespace {

using C = PostgresConfig;

bool is_url(const std::string& text) {
  return text.empty() || text.starts_with("postgresql://") || text.starts_with("postgres://");
}

void describe_pool(config::Section<C>& section) {
  section.key("pool_max", &C::pool_max, "Limit on connections.").between(1, 1000);
  section.key("pool_kept", &C::pool_kept, "Connections that stay open when idle.");
  section.key("pool_timeout", &C::pool_timeout, "Time a call waits for a connection.").at_least(1ms);
  section.key("pool_idle", &C::pool_idle, "Time after which an idle connection beyond pool_kept is closed.")
      .at_least(1s);
  section.key("pool_life", &C::pool_life, "Time after which a connection is replaced.").at_least(1s);
  section.key("pool_held_warning", &C::pool_held_warning,
              "Time after which a connection in use is reported in the log.");
  section.key("max_waiting", &C::max_waiting, "Limit on calls waiting for a connection; more get 503.").at_least(1);
  section
      .key("batch_connections", &C::batch_connections,
           "Connections for batches of small reads, and as many for small writes.")
      .at_least(1);
  section.key("batch_max", &C::batch_max, "Maximum number of small writes per commit.").at_least(1);
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
  section.key("url", &C::url, "URL of PostgreSQL, without user and password; empty selects the embedded database.")
      .rule(url_form, is_url);
  section.secret("password", &C::password, "Password of the services' logins.");
  section
      .key("direct_url", &C::direct_url,
           "URL of PostgreSQL itself if url leads to a pooler, for notifications of new jobs. Without it, "
           "instances behind a pooler find new jobs by polling.")
      .rule(url_form, is_url);
  describe_pool(section);
  section.key("connect_timeout", &C::connect_timeout, "Time limit for connecting.").at_least(1ms);
  section.key("statement_timeout", &C::statement_timeout, "Time limit for a statement.").at_least(1ms);
  section.key("lock_timeout", &C::lock_timeout, "Time a statement may wait for a lock.").at_least(1ms);
  section
      .key("silence_grace", &C::silence_grace,
           "Time beyond statement_timeout after which a silent connection is closed.")
      .at_least(1ms);
}

void PostgresConfig::validate(config::Problems& problems) const {
  if (pool_kept > pool_max) problems.add("pool_kept", "must not be more than pool_max; lower it or raise pool_max");
  if (lock_timeout > statement_timeout) {
    problems.add("lock_timeout", "must not be longer than statement_timeout, which would end the wait first; lower it");
  }
  // It is logged and printed, and every service logs in with its own name.
  constexpr const char* put_it_elsewhere = "must not contain a password; set SLUICE_POSTGRES_PASSWORD or password_file";
  if (has_password(url)) problems.add("url", put_it_elsewhere);
  if (has_password(direct_url)) problems.add("direct_url", put_it_elsewhere);
}

}  // namespace sluice::postgres
