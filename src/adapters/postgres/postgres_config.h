// How to reach a PostgreSQL, and how hard to lean on it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/time.h"
#include "runtime/config_fwd.h"

namespace sluice::postgres {

struct PostgresConfig {
  // "postgresql://host:port/database". User and password stand beside it, so that it can be logged.
  std::string url = {};
  std::string user = {};
  std::string password = {};
  // A streaming replica for read_relaxed; empty: none. The configuration does not offer it until a store reads so.
  std::string replica_url = {};
  // PostgreSQL itself, if `url` leads to a pooler; for features that a pooler does not support. Empty: use `url`.
  std::string direct_url = {};
  // The user of the database ("user_service"): a label in metrics and log, and the application_name in PostgreSQL.
  std::string service = "sluice";

  unsigned pool_max = 5;
  unsigned pool_kept = 2;
  Duration pool_timeout = 30s;  // how long a call may wait for a connection
  Duration pool_idle = 10min;
  Duration pool_life = 30min;
  Duration pool_held_warning = 1min;
  // Calls waiting for a connection; more are refused with Overloaded.
  size_t max_waiting = 4096;

  // How many connections small reads, and small writes, may each use at once, and how many statements share a commit.
  // Two of each leave one connection for transactions even when both are busy.
  unsigned batch_connections = 2;
  size_t batch_max = 64;

  Duration connect_timeout = 5s;
  // Enforced by the server (SET LOCAL in transactions, a setting of the role elsewhere); a connection that is silent
  // for a while longer is given up.
  Duration statement_timeout = 10s;
  Duration lock_timeout = 5s;
  Duration silence_grace = 5s;

  static void describe(config::Section<PostgresConfig>& section);
  void validate(config::Problems& problems) const;
};

// Whether a password stands in a URL, which is printed and logged.
bool has_password(std::string_view url);

}  // namespace sluice::postgres
