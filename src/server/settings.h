// All settings of an installation: each room's own structs, collected.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "accounts/passwords.h"
#include "adapters/kafka/kafka_config.h"
#include "adapters/postgres/postgres_config.h"
#include "adapters/redis/client/redis_config.h"
#include "adapters/sentry/sentry_config.h"
#include "adapters/sqlite/sqlite_config.h"
#include "documents/origin_config.h"
#include "http/server/server_config.h"
#include "http/sse/sse.h"
#include "links/links_config.h"
#include "runtime/config.h"
#include "runtime/log.h"
#include "server/coordination_settings.h"
#include "server/job_kinds.h"
#include "server/messaging_settings.h"
#include "server/services.h"

namespace sluice::server {

struct StorageSettings {
  std::string data = "./data";

  static void describe(config::Section<StorageSettings>& section);
};

// Settings of one service that differ from [postgres].
struct ServiceDatabase {
  std::string url;
  std::string direct_url;
  std::string password;

  static void describe(config::Section<ServiceDatabase>& section);
};

struct PostgresSettings {
  postgres::PostgresConfig common;
  std::string admin_user = "postgres";
  std::string admin_password;
  std::map<std::string, ServiceDatabase> services;

  static void describe(config::Section<PostgresSettings>& section);
  void validate(config::Problems& problems) const;

  // Without a URL records are kept in the embedded database.
  bool used() const { return !common.url.empty(); }
  // How a service reaches its database, under its own login.
  postgres::PostgresConfig of(Service service) const;
  // How `sluice migrate` makes schemas and logins in the service's database.
  postgres::PostgresConfig admin_of(Service service) const;
  // How relays reach the outbox of each database; services of one database share it.
  std::vector<postgres::PostgresConfig> outboxes() const;
};

struct AccountsSettings {
  accounts::PasswordConfig passwords;
  std::string person_keys;

  static void describe(config::Section<AccountsSettings>& section);
};

struct ProcessSettings {
  int64_t threads = 0;
  Duration drain_delay = 5s;
  Duration drain = 20s;

  static void describe(config::Section<ProcessSettings>& section);
};

struct Settings {
  ProcessSettings process;
  http::ServerConfig http;
  http::SseConfig sse;
  log::Options log;
  sentry::SentryConfig errors;
  StorageSettings storage;
  sqlite::SqliteOptions sqlite;
  PostgresSettings postgres;
  redis::RedisConfig redis;
  kafka::KafkaConfig kafka;
  CoordinationSettings coordination;  // not registered: no feature of the program uses SharedState yet
  MessagingSettings messaging;
  AccountsSettings accounts;
  documents::DocumentsConfig documents;
  jobs::JobsConfig jobs = jobs_with_own_kinds();
  links::LinksConfig links;

  // Registers every section with `loader`, which fills them; they must not move afterwards.
  void register_with(config::Loader& loader);

  // Rules over several sections.
  void validate(config::Problems& problems) const;
};

// Where settings come from besides the environment.
struct SettingsFlags {
  std::string config_file;  // empty: ./sluice.toml where there is one
  std::vector<config::Override> overrides;
};

struct LoadedSettings {
  Settings settings;
  config::Loader loader;
  std::vector<config::Problem> problems;
};

// Reads file, environment and flags. Problems are all there is to say about them; an unreadable file is one.
std::unique_ptr<LoadedSettings> load_settings(const SettingsFlags& flags);

}  // namespace sluice::server
