// A real server on one database, its command line and its routes, for most scenarios.
#pragma once

#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/scenario/raw_client.h"
#include "tests/support/pgbouncer_server.h"
#include "tests/support/postgres_server.h"
#include "tests/support/sluice_server.h"
#include "tests/support/temporary_folder.h"

namespace sluice::test {

// Base of a fixture.
class OneServer {
 protected:
  enum class Records { sqlite, postgres, pgbouncer };

  // Migrates, and starts it. `more` is configuration besides that of the records.
  void start_server(Records records, const std::string& more) {
    std::string config = fmt::format("[accounts]\nperson_keys_file = \"{}\"\n", write("person.keys", person_keys));
    if (records == Records::sqlite) {
      config += fmt::format("[storage]\ndata = \"{}\"\n", (folder_ / "data").string());
    } else {
      postgres_.emplace();
      const std::string password = write("password", postgres_->password());
      if (records == Records::pgbouncer) pgbouncer_.emplace(*postgres_);
      const std::string url = pgbouncer_ ? pgbouncer_->url() : postgres_->url();
      config += fmt::format("[postgres]\nurl = \"{}\"\nadmin_user = \"{}\"\n", url, postgres_->user());
      if (pgbouncer_) config += fmt::format("direct_url = \"{}\"\n", postgres_->url());
      config += fmt::format("password_file = \"{0}\"\nadmin_password_file = \"{0}\"\n", password);
    }
    config_ = write("sluice.toml", config + more);
    const CommandResult migrated = sluice({"migrate"});
    if (migrated.code != 0) throw std::runtime_error(migrated.output);
    migrated_ = migrated.output;
    server_.emplace(SluiceOptions{.config = config_});
  }
  // In order, as it must.
  void stop_server() {
    if (server_) EXPECT_EQ(server_->stop(), 0) << server_->process().output();
    server_.reset();
  }

  std::string write(const std::string& name, const std::string& text) const {
    const std::string file = (folder_ / name).string();
    std::ofstream(file) << text;
    return file;
  }
  CommandResult sluice(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--config", config_});
    return run_sluice(std::move(arguments));
  }
  std::string make_key(const std::string& role) const {
    const std::string made = sluice({"admin", "create-key", "--role", role, "--name", "test-" + role}).output;
    std::string key = made.substr(made.rfind("sk_"));
    return key.erase(key.find_last_not_of('\n') + 1);
  }
  // With the key in `key_`.
  RawResponse ask(const std::string& method, const std::string& target, const std::string& body = "") const {
    RawClient client(server_->port());
    client.send(request(method, target, body));
    return client.read_response();
  }
  // The bytes of that.
  std::string request(const std::string& method, const std::string& target, const std::string& body = "",
                      const std::string& more_headers = "") const {
    return fmt::format(
        "{} {} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n"
        "Content-Length: {}\r\n{}\r\n{}",
        method, target, key_, body.size(), more_headers, body);
  }

  const std::string person_keys = "lookup " + std::string(64, 'a') + "\n1 " + std::string(64, 'b') + "\n";
  TemporaryFolder folder_;
  std::optional<PostgresServer> postgres_;
  std::optional<PgBouncerServer> pgbouncer_;
  std::string config_;
  std::string migrated_;  // the output of `sluice migrate`
  std::optional<SluiceServer> server_;
  std::string key_;
};

}  // namespace sluice::test
