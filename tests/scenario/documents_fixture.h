// Three real servers on one PostgreSQL behind a transaction pooler, in front of a simulated origin.
#pragma once

#include <fstream>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scenario/raw_client.h"
#include "tests/support/lab_origin.h"
#include "tests/support/pgbouncer_server.h"
#include "tests/support/postgres_server.h"
#include "tests/support/sluice_server.h"
#include "tests/support/temporary_folder.h"

namespace sluice::test {

// A simulated origin that is told how to behave while it runs.
class ToldOrigin : public LabOrigin {
 public:
  void set(const std::string& json) const {
    RawClient client(port());
    client.send("PUT /settings HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: " +
                std::to_string(json.size()) + "\r\n\r\n" + json);
    ASSERT_EQ(client.read_response().status, 200);
  }
  // A number of GET /stats: "maxConcurrency", or a path for how often it was asked for.
  int64_t stat(const std::string& name) const {
    const std::string stats = RawClient(port()).get("/stats").body;
    std::smatch found;
    const std::regex pattern("\"" + std::regex_replace(name, std::regex("[.]"), "[.]") +
                             "\"\\s*:\\s*(?:\\{\\s*\"requests\"\\s*:\\s*)?(\\d+)");
    return std::regex_search(stats, found, pattern) ? std::stoll(found[1]) : 0;
  }
};

class Installation {
 public:
  explicit Installation(const std::string& origin_settings) : pooler_(postgres_) {
    std::ofstream(folder_ / "person.keys")
        << "lookup " << std::string(64, 'a') << "\n1 " << std::string(64, 'b') << "\n";
    secrets_ = {{"SLUICE_POSTGRES_PASSWORD", postgres_.password()},
                {"SLUICE_POSTGRES_ADMIN_PASSWORD", postgres_.password()},
                {"SLUICE_SERVICE_KEY", "sk_the_service_of_the_test"}};
    const CommandResult migrated =
        run_sluice({"migrate", "--config", write("direct.toml", postgres_.url(), "")}, secrets_);
    if (migrated.code != 0) throw std::runtime_error(migrated.output);
    const std::string config = write("sluice.toml", pooler_.url(), origin_settings);
    for (int i = 0; i < 3; ++i) {
      servers_.push_back(std::make_unique<SluiceServer>(SluiceOptions{.config = config, .environment = secrets_}));
    }
  }

  CommandResult sluice(std::vector<std::string> arguments, const std::string& input) {
    arguments.insert(arguments.end(), {"--config", (folder_ / "sluice.toml").string()});
    return run_sluice(std::move(arguments), secrets_, input);
  }
  // The result of one SQL statement, as text.
  std::string query(const std::string& text) {
    Process psql({.arguments = {"psql", "-h", "127.0.0.1", "-p", std::to_string(postgres_.port()), "-U",
                                postgres_.user(), "-d", "sluice", "-Atc", text},
                  .environment = {{"PGPASSWORD", postgres_.password()}}});
    EXPECT_EQ(psql.wait(), 0) << psql.output();
    return psql.output();
  }

  SluiceServer& server(size_t i) { return *servers_.at(i); }
  void restart(size_t i) {
    servers_.at(i) = std::make_unique<SluiceServer>(
        SluiceOptions{.config = (folder_ / "sluice.toml").string(), .environment = secrets_});
  }

 private:
  std::string write(const std::string& name, const std::string& url, const std::string& more) {
    const std::string file = (folder_ / name).string();
    std::ofstream(file) << "[postgres]\nurl = \"" << url << "\"\nadmin_user = \"" << postgres_.user()
                        << "\"\n[accounts]\nperson_keys_file = \"" << (folder_ / "person.keys").string() << "\"\n"
                        << more;
    return file;
  }

  TemporaryFolder folder_;
  PostgresServer postgres_;
  PgBouncerServer pooler_;
  std::map<std::string, std::string> secrets_;
  std::vector<std::unique_ptr<SluiceServer>> servers_;
};

inline std::string document_target(const std::string& origin, const std::string& path) {
  return "/api/v1/documents/" + origin + "/" + path;
}

inline void ask(RawClient& client, const std::string& target) {
  client.send("GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n");
}

inline void ask_to_download(RawClient& client, const std::string& origin, const std::string& body,
                            const std::string& token = "sk_the_service_of_the_test") {
  client.send("POST /api/v1/documents/" + origin + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token +
              "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
              body);
}

inline RawResponse download(uint16_t port, const std::string& origin, const std::string& body,
                            const std::string& token = "sk_the_service_of_the_test") {
  RawClient client(port);
  ask_to_download(client, origin, body, token);
  return client.read_response();
}

}  // namespace sluice::test
