#include "server/settings.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <unistd.h>

namespace sluice::server {

void StorageSettings::describe(config::Section<StorageSettings>& section) {
  section.key("data", &StorageSettings::data, "Folder of the embedded engine and of generated keys.").not_empty();
}

void ServiceDatabase::describe(config::Section<ServiceDatabase>& section) {
  section.key("url", &ServiceDatabase::url, "URL of this service's database, if not postgres.url.");
  section.key("direct_url", &ServiceDatabase::direct_url,
              "URL of its database without a pooler; if url is set here, postgres.direct_url is not used.");
  section.secret("password", &ServiceDatabase::password, "Password of its login, if not postgres.password.");
}

void PostgresSettings::describe(config::Section<PostgresSettings>& section) {
  section.include(&PostgresSettings::common);
  section.key("admin_user", &PostgresSettings::admin_user,
              "User with which `sluice migrate` creates schemas and logins.");
  section.secret("admin_password", &PostgresSettings::admin_password,
                 "Password of admin_user; only `sluice migrate` needs it.");
  section.map("services", &PostgresSettings::services, "Settings for one service, by the name of its role.");
}

void PostgresSettings::validate(config::Problems& problems) const {
  common.validate(problems);
  for (const auto& [role, database] : services) {
    if (std::ranges::find(server::services, role, &ServiceNames::role) == server::services.end()) {
      problems.add("services", "unknown service " + role + "; use the names that --roles takes");
    }
    if (postgres::has_password(database.url) || postgres::has_password(database.direct_url)) {
      problems.add("services", "a URL of " + role + " must not contain a password; set password_file");
    }
  }
}

postgres::PostgresConfig PostgresSettings::of(Service service) const {
  const ServiceNames& called = names(service);
  postgres::PostgresConfig config = common;
  config.service = called.schema;
  config.user = called.schema;
  const auto own = services.find(std::string(called.role));
  if (own == services.end()) return config;
  if (!own->second.url.empty()) {
    config.url = own->second.url;
    config.direct_url.clear();
  }
  if (!own->second.direct_url.empty()) config.direct_url = own->second.direct_url;
  if (!own->second.password.empty()) config.password = own->second.password;
  return config;
}

postgres::PostgresConfig PostgresSettings::admin_of(Service service) const {
  postgres::PostgresConfig config = of(service);
  config.service = "sluice-migrate";
  config.user = admin_user;
  config.password = admin_password;
  return config;
}

std::vector<postgres::PostgresConfig> PostgresSettings::outboxes() const {
  std::set<std::string> urls;
  for (const ServiceNames& one : server::services) urls.insert(of(one.service).url);
  std::vector<postgres::PostgresConfig> outboxes;
  for (const std::string& url : urls) {
    outboxes.push_back(of(Service::relay));
    outboxes.back().url = url;
  }
  return outboxes;
}

void AccountsSettings::describe(config::Section<AccountsSettings>& section) {
  section.table("passwords", &AccountsSettings::passwords, "Hashing of passwords.");
  section.secret(
      "person_keys", &AccountsSettings::person_keys,
      "Keys that encrypt personal data. Without them the embedded engine generates its own in the data folder.");
}

void ProcessSettings::describe(config::Section<ProcessSettings>& section) {
  section.key("threads", &ProcessSettings::threads, "I/O threads; 0 means one per core.").between(0, 256);
  section.key("drain_delay", &ProcessSettings::drain_delay,
              "Time a stopping server continues to serve while /readyz reports draining, so that load balancers "
              "notice. Skipped if the server runs on a terminal.");
  section.key("drain", &ProcessSettings::drain, "Time for requests in flight to finish when the server stops.");
}

void Settings::register_with(config::Loader& loader) {
  loader.section("process", process, "The process.");
  loader.section("http", http, "The HTTP server.");
  loader.section("sse", sse, "Streams of server-sent events.");
  loader.section("log", log, "Logging.");
  loader.section("errors", errors, "Reports of failures to Sentry or a compatible service.");
  loader.section("storage", storage, "The embedded engine.");
  loader.section("sqlite", sqlite, "The embedded engine's database.");
  loader.section("postgres", postgres, "PostgreSQL. If url is set, it stores the records.");
  loader.section("redis", redis,
                 "Redis or Valkey, a single server or a cluster. If url is set, it stores the messages, unless "
                 "kafka.brokers is set.");
  loader.section("kafka", kafka, "Apache Kafka. If brokers is set, it stores the messages.");
  loader.section("messaging", messaging, "Messages between services.");
  loader.section("accounts", accounts, "Accounts and keys.");
  loader.section("documents", documents, "Protected caches in front of fragile origins.");
  loader.section("jobs", jobs, "The job queue, its kinds and the workers of this process.");
  loader.section("links", links, "Bookmarks, and visits to the sites they link to.");
  loader.rule([this](config::Problems& problems) { validate(problems); });
  for (const char* name : {"SLUICE_ADMIN_EMAIL", "SLUICE_ADMIN_PASSWORD", "SLUICE_SERVICE_KEY"}) {
    loader.allow_variable(name);
  }
}

void Settings::validate(config::Problems& problems) const {
  if (messaging.engine == LogEngine::redis && !redis.used()) {
    problems.add("messaging.engine", "is redis, but Redis is not configured; set redis.url");
  }
  if (messaging.engine == LogEngine::kafka && !kafka.used()) {
    problems.add("messaging.engine", "is kafka, but Kafka is not configured; set kafka.brokers");
  }
  if (messaging.engine == LogEngine::embedded && postgres.used()) {
    problems.add("messaging.engine", "is embedded, but PostgreSQL stores the records; use redis or kafka");
  }
}

namespace {

std::map<std::string, std::string> sluice_variables() {
  std::map<std::string, std::string> found;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const size_t equals = text.find('=');
    if (text.starts_with("SLUICE_") && equals != std::string_view::npos) {
      found.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
  }
  return found;
}

}  // namespace

std::unique_ptr<LoadedSettings> load_settings(const SettingsFlags& flags) {
  auto loaded = std::make_unique<LoadedSettings>();
  loaded->settings.register_with(loaded->loader);
  config::Sources sources{.environment = sluice_variables(), .flags = flags.overrides};
  const bool by_default = flags.config_file.empty();
  const std::string file = by_default ? "sluice.toml" : flags.config_file;
  if (!by_default || std::filesystem::exists(file)) {
    std::ifstream stream(file);
    std::ostringstream text;
    text << stream.rdbuf();
    if (!stream) {
      loaded->problems.push_back({file, "", "cannot be read; check --config"});
      return loaded;
    }
    sources.file = file;
    sources.text = text.str();
  }
  loaded->problems = loaded->loader.load(sources);
  return loaded;
}

}  // namespace sluice::server
