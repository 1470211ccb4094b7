// `sluice serve` as an operator uses it: the real program, from its start to its end.
#include <csignal>
#include <fstream>
#include <list>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "tests/scenario/raw_client.h"
#include "tests/scenario/server_folder.h"
#include "tests/support/certificates.h"
#include "tests/support/needs.h"
#include "tests/support/pgbouncer_server.h"
#include "tests/support/postgres_server.h"
#include "tests/support/redis_server.h"
#include "tests/support/sluice_server.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

struct ServerScenario : ServerFolder {
  // Asks until the body of /readyz has `part` in it: an engine that pauses for 2 s counts as down.
  static RawResponse ready_with(const SluiceServer& sluice, const std::string& part) {
    const auto give_up = std::chrono::steady_clock::now() + 60s;
    RawResponse answer = RawClient(sluice.port()).get("/readyz");
    while (!answer.body.contains(part) && std::chrono::steady_clock::now() < give_up) {
      answer = RawClient(sluice.port()).get("/readyz");
    }
    EXPECT_THAT(answer.body, HasSubstr(part));
    return answer;
  }

  // The value of `name` in one of the process's files in /proc.
  static std::string line_of(SluiceServer& sluice, const std::string& file, const std::string& name) {
    std::ifstream lines("/proc/" + std::to_string(sluice.process().pid()) + "/" + file);
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with(name)) return line.substr(name.size());
    }
    return "";
  }
};

TEST_F(ServerScenario, starts_on_an_empty_folder_and_answers) {
  SluiceServer sluice({.data = data()});
  EXPECT_EQ(RawClient(sluice.port()).get("/healthz").body, R"({"status":"alive"})");
  const RawResponse ready = ready_with(sluice, R"("status":"ready")");
  EXPECT_EQ(ready.status, 200);
  EXPECT_EQ(ready.body, R"({"status":"ready","engines":{"sqlite":"up"}})");
  EXPECT_THAT(RawClient(sluice.port()).get("/metrics").body, HasSubstr("http_requests_total{"));
  EXPECT_THAT(RawClient(sluice.port()).get("/openapi.json").body, HasSubstr("\"/readyz\":{"));
  const RawResponse docs = RawClient(sluice.port()).get("/docs");
  EXPECT_THAT(docs.body, HasSubstr("/openapi.json"));
  EXPECT_THAT(docs.header("Content-Security-Policy"), HasSubstr("default-src 'none'"));
  EXPECT_EQ(RawClient(sluice.port()).get("/").status, 200);
  EXPECT_EQ(sluice.stop(), 0);
}

TEST_F(ServerScenario, who_has_no_token_is_refused_before_a_byte_of_the_body_is_read) {
  SluiceServer sluice({.data = data()});
  RawClient client(sluice.port());
  client.send(
      "POST /api/v1/jobs HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n"
      "Expect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.read_response().status, 401);
}

TEST_F(ServerScenario, an_open_route_that_takes_no_body_reads_none) {
  SluiceServer sluice({.data = data()});
  for (const std::string target : {"/healthz", "/openapi.json", "/"}) {
    RawClient client(sluice.port());
    client.send("GET " + target +
                " HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n"
                "Expect: 100-continue\r\n\r\n");
    EXPECT_EQ(client.read_response().status, 200) << target;
  }
}

TEST_F(ServerScenario, health_is_answered_while_no_other_request_is) {
  const std::string key = "sk_of_a_worker_that_waits";
  SluiceServer sluice(
      {.data = data(), .environment = {{"SLUICE_HTTP_MAX_IN_FLIGHT", "1"}, {"SLUICE_SERVICE_KEY", key}}});
  RawClient waits(sluice.port());
  const std::string claim = R"({"worker":"w","kinds":["none"],"limit":1,"waitMs":30000})";
  waits.send("POST /api/v1/jobs/claim HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nAuthorization: Bearer " +
             key + "\r\nContent-Length: " + std::to_string(claim.size()) + "\r\n\r\n" + claim);
  // Metrics are read without a place; another request might have the only one when the worker asks for it.
  RawClient others(sluice.port());
  const auto give_up = std::chrono::steady_clock::now() + 20s;
  while (!others.get("/metrics").body.contains("\nhttp_requests_in_flight 1\n")) {
    ASSERT_LT(std::chrono::steady_clock::now(), give_up);
  }
  EXPECT_EQ(others.get("/openapi.json").status, 503);
  for (const std::string health : {"/healthz", "/metrics"}) EXPECT_EQ(others.get(health).status, 200);
  EXPECT_EQ(ready_with(sluice, R"("status":"ready")").status, 200);
}

TEST_F(ServerScenario, a_second_server_on_the_same_data_is_refused_with_the_owner) {
  SluiceServer first({.data = data()});
  const CommandResult second = run_sluice({"serve", "--data", data(), "--listen", "127.0.0.1:0"});
  EXPECT_EQ(second.code, 1);
  EXPECT_THAT(second.output, HasSubstr("in use by another Sluice (process " + std::to_string(first.process().pid())));
  EXPECT_EQ(ready_with(first, R"("status":"ready")").status, 200);
}

TEST_F(ServerScenario, a_port_that_another_server_has_is_refused_and_nothing_is_left_running) {
  SluiceServer first({.data = data()});
  const std::string config = write_config("[[documents.origin]]\nname = \"a\"\nbase_url = \"http://127.0.0.1:9/\"\n");
  const CommandResult second = run_sluice({"serve", "--config", config, "--data", (folder / "other").string(),
                                           "--listen", "127.0.0.1:" + std::to_string(first.port())});
  EXPECT_EQ(second.code, 1);
  EXPECT_THAT(second.output, HasSubstr("cannot listen on 127.0.0.1:"));
}

TEST_F(ServerScenario, who_is_told_where_it_listens_may_stop_it_at_once) {
  for (int i = 0; i < 5; ++i) {
    SluiceServer sluice({.data = data()});
    EXPECT_EQ(sluice.stop(), 0);
    EXPECT_THAT(sluice.process().output(), HasSubstr("stopped"));
  }
}

TEST_F(ServerScenario, it_says_that_it_is_draining_before_it_stops_to_listen) {
  SluiceServer sluice({.data = data(), .environment = {{"SLUICE_PROCESS_DRAIN_DELAY", "1m"}}});
  EXPECT_EQ(ready_with(sluice, R"("status":"ready")").status, 200);
  sluice.process().signal(SIGTERM);
  sluice.process().wait_for_line("stopping");
  const RawResponse ready = RawClient(sluice.port()).get("/readyz");
  EXPECT_EQ(ready.status, 503);
  EXPECT_THAT(ready.body, HasSubstr(R"("status":"draining")"));
  EXPECT_EQ(RawClient(sluice.port()).get("/healthz").status, 200);
  sluice.process().signal(SIGTERM);
  EXPECT_EQ(sluice.process().wait(), 128 + SIGTERM);
}

TEST_F(ServerScenario, sighup_reloads_the_certificate_and_the_log_says_so) {
  const Certificates certificates;
  std::filesystem::copy_file(certificates.file("here.pem"), folder / "server.pem");
  const std::string config = write_config("[http]\ntls_certificate = \"" + (folder / "server.pem").string() +
                                          "\"\ntls_key = \"" + certificates.file("here.key") + "\"\n");
  SluiceServer sluice({.data = data(), .config = config});
  sluice.process().signal(SIGHUP);
  sluice.process().wait_for_line("certificate reloaded");
  std::ofstream(folder / "server.pem") << "no certificate";
  sluice.process().signal(SIGHUP);
  EXPECT_THAT(sluice.process().wait_for_line("the old one stays"), HasSubstr("server.pem"));
  EXPECT_EQ(sluice.stop(), 0);
}

TEST_F(ServerScenario, it_stops_in_order_when_the_terminal_it_was_started_on_is_closed) {
  SluiceServer sluice({.data = data(), .terminal = true});
  sluice.process().signal(SIGHUP);
  sluice.process().wait_for_line("no certificate to reload");
  sluice.process().close_terminal();
  EXPECT_EQ(sluice.process().wait(), 0);
  EXPECT_THAT(sluice.process().output(), HasSubstr("stopped"));
}

TEST_F(ServerScenario, on_a_terminal_it_stops_without_the_delay_of_draining) {
  SluiceServer sluice({.data = data(), .environment = {{"SLUICE_PROCESS_DRAIN_DELAY", "1h"}}, .terminal = true});
  EXPECT_EQ(sluice.stop(), 0);
}

TEST_F(ServerScenario, a_certificate_that_cannot_be_read_is_named_at_the_start) {
  const std::string config =
      write_config("[http]\ntls_certificate = \"/nowhere/a.pem\"\ntls_key = \"/nowhere/a.key\"\n");
  const CommandResult started =
      run_sluice({"serve", "--demo", "--config", config, "--data", data(), "--listen", "127.0.0.1:0"});
  EXPECT_EQ(started.code, 1);
  EXPECT_THAT(started.output, HasSubstr("sluice: http.tls_certificate: /nowhere/a.pem: "));
}

TEST_F(ServerScenario, a_reader_of_its_log_that_goes_does_not_end_it) {
  SluiceServer sluice({.data = data()});
  // Of signal 13, SIGPIPE.
  EXPECT_NE(std::stoull(line_of(sluice, "status", "SigIgn:"), nullptr, 16) & (1ULL << (SIGPIPE - 1)), 0U);
}

TEST_F(ServerScenario, it_asks_for_as_many_open_files_as_it_may_have) {
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const rlimit few{.rlim_cur = 256, .rlim_max = before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &few);
  SluiceServer sluice({.data = data()});
  ::setrlimit(RLIMIT_NOFILE, &before);
  std::istringstream limits(line_of(sluice, "limits", "Max open files"));
  std::string soft;
  std::string hard;
  limits >> soft >> hard;
  EXPECT_EQ(soft, hard);
}

TEST_F(ServerScenario, idle_connections_make_room_also_where_open_files_run_out_before_connections) {
  Process sluice({.arguments = {"bash", "-c", "ulimit -n 400 && exec \"$0\" \"$@\"", binary("sluice"), "serve",
                                "--data", data(), "--listen", "127.0.0.1:0"},
                  .environment = {{"SLUICE_PROCESS_DRAIN_DELAY", "0s"}}});
  const std::string line = sluice.wait_for_line("listening on http");
  const auto port = static_cast<uint16_t>(std::stoi(line.substr(line.rfind(':') + 1)));
  std::list<RawClient> clients;
  for (int i = 0; i < 450; ++i) {
    clients.emplace_back(port);
    ASSERT_EQ(clients.back().get("/healthz").status, 200) << i;
  }
  EXPECT_EQ(clients.front().read_to_end(), "");
  sluice.signal(SIGTERM);
  EXPECT_EQ(sluice.wait(), 0);
}

TEST_F(ServerScenario, the_folder_is_free_again_after_kill_minus_nine) {
  std::string key;
  {
    SluiceServer first({.data = data()});
    key = run_sluice({"admin", "create-key", "--data", data(), "--role", "SERVICE", "--name", "a"}).output;
    first.kill();
  }
  SluiceServer second({.data = data()});
  EXPECT_THAT(run_sluice({"admin", "list-keys", "--data", data()}).output, HasSubstr("SERVICE"));
}

TEST_F(ServerScenario, keys_can_be_made_and_revoked_beside_the_running_server) {
  SluiceServer sluice({.data = data()});
  const CommandResult made = run_sluice({"admin", "create-key", "--data", data(), "--role", "ADMIN", "--name", "ops"});
  EXPECT_EQ(made.code, 0);
  EXPECT_THAT(made.output, HasSubstr("sk_"));
  const std::string id = made.output.substr(made.output.find("key ") + 4, 36);
  EXPECT_EQ(run_sluice({"admin", "revoke-key", "--data", data(), id}).code, 0);
  EXPECT_THAT(run_sluice({"admin", "list-keys", "--data", data()}).output, HasSubstr("revoked"));
  EXPECT_EQ(run_sluice({"admin", "revoke-key", "--data", data(), "nonsense"}).code, 1);
  EXPECT_EQ(run_sluice({"admin", "create-key", "--data", data(), "--role", "BOSS", "--name", "x"}).code, 2);
}

TEST_F(ServerScenario, administrators_are_made_from_the_command_line_or_at_the_first_start) {
  EXPECT_EQ(
      run_sluice({"admin", "create", "--data", data(), "--email", "kim@example.org"}, {}, "a long password\n").code, 0);
  const CommandResult again =
      run_sluice({"admin", "create", "--data", data(), "--email", "KIM@example.org"}, {}, "a long password\n");
  EXPECT_EQ(again.code, 1);
  EXPECT_THAT(again.output, HasSubstr("exists already"));
  EXPECT_EQ(run_sluice({"admin", "create", "--data", data(), "--email", "x"}, {}, "a long password\n").code, 1);
  EXPECT_EQ(run_sluice({"admin", "create", "--data", data(), "--email", "a@b.c"}, {}, "short\n").code, 1);

  const std::string other = (folder / "other").string();
  const std::map<std::string, std::string> first_start{{"SLUICE_ADMIN_EMAIL", "lee@example.org"},
                                                       {"SLUICE_ADMIN_PASSWORD", "a long password"}};
  SluiceServer sluice({.data = other, .environment = first_start});
  EXPECT_EQ(sluice.stop(), 0);  // the log is written behind the scenes; afterwards it is complete
  EXPECT_THAT(sluice.process().output(), HasSubstr("the first administrator was created"));
  EXPECT_THAT(sluice.process().output(), testing::Not(HasSubstr("lee@example.org")));
}

TEST_F(ServerScenario, the_service_key_of_the_environment_works_from_the_first_start_on) {
  SluiceServer sluice({.data = data(), .environment = {{"SLUICE_SERVICE_KEY", "sk_from_the_environment"}}});
  EXPECT_THAT(run_sluice({"admin", "list-keys", "--data", data()}).output, HasSubstr("SLUICE_SERVICE_KEY"));
  const CommandResult weak = run_sluice({"serve", "--data", (folder / "b").string(), "--listen", "127.0.0.1:0"},
                                        {{"SLUICE_SERVICE_KEY", "short"}});
  EXPECT_EQ(weak.code, 1);
  EXPECT_THAT(weak.output, HasSubstr("SLUICE_SERVICE_KEY must have at least"));
}

// Three services' worth of a real installation: migrated by the administrator, served through a transaction pooler.
TEST_F(ServerScenario, runs_on_postgresql_behind_a_pooler_and_survives_its_restart) {
  PostgresServer postgres;
  PgBouncerServer pooler(postgres);
  std::ofstream(folder / "person.keys") << "lookup " << std::string(64, 'a') << "\n1 " << std::string(64, 'b') << "\n";
  const auto settings = [&](const std::string& url) {
    return "[postgres]\nurl = \"" + url + "\"\nadmin_user = \"" + postgres.user() +
           "\"\n[accounts]\nperson_keys_file = \"" + (folder / "person.keys").string() + "\"\n";
  };
  const std::map<std::string, std::string> secrets{{"SLUICE_POSTGRES_PASSWORD", postgres.password()},
                                                   {"SLUICE_POSTGRES_ADMIN_PASSWORD", postgres.password()}};
  const CommandResult migrated = run_sluice({"migrate", "--config", write_config(settings(postgres.url()))}, secrets);
  ASSERT_EQ(migrated.code, 0) << migrated.output;
  EXPECT_THAT(migrated.output, HasSubstr("user_service: applied 1"));
  EXPECT_THAT(run_sluice({"migrate", "--config", (folder / "sluice.toml").string()}, secrets).output,
              HasSubstr("user_service: up to date"));

  const std::string config = write_config(settings(pooler.url()));
  SluiceServer one({.config = config, .environment = secrets});
  SluiceServer two({.config = config, .environment = secrets});
  ready_with(one, R"("postgres/user_service":"up")");
  EXPECT_EQ(run_sluice({"admin", "create-key", "--config", config, "--role", "SERVICE", "--name", "x"}, secrets).code,
            0);
  EXPECT_EQ(run_sluice({"admin", "create", "--config", config, "--email", "a@b.c"}, secrets, "a long password\n").code,
            0);

  postgres.kill();
  const RawResponse down = RawClient(two.port()).get("/readyz");
  EXPECT_EQ(down.status, 503);
  EXPECT_EQ(down.header("Retry-After"), "1");
  EXPECT_EQ(RawClient(two.port()).get("/healthz").status, 200);
  postgres.start();
  EXPECT_EQ(ready_with(two, R"("status":"ready")").status, 200) << two.process().output();
  EXPECT_EQ(one.stop(), 0);
  EXPECT_EQ(two.stop(), 0);
}

TEST_F(ServerScenario, without_redis_it_goes_on_and_says_so) {
  SLUICE_NEEDS(RedisServer::why_missing());
  RedisServer redis;
  SluiceServer sluice({.data = data(), .config = write_config("[redis]\nurl = \"" + redis.url() + "\"\n")});
  ready_with(sluice, R"("redis":"up")");
  redis.kill();
  const auto give_up = std::chrono::steady_clock::now() + 60s;
  RawResponse without = RawClient(sluice.port()).get("/readyz");
  while (without.body.find(R"("redis":"up")") != std::string::npos) {  // for the second in which it is not asked again
    ASSERT_LT(std::chrono::steady_clock::now(), give_up) << sluice.process().output();
    without = RawClient(sluice.port()).get("/readyz");
  }
  EXPECT_EQ(without.status, 200);
  EXPECT_THAT(without.body, HasSubstr(R"("redis":"down")"));
  redis.start();
  while (RawClient(sluice.port()).get("/readyz").body.find(R"("redis":"up")") == std::string::npos) {
    ASSERT_LT(std::chrono::steady_clock::now(), give_up) << sluice.process().output();
  }
  EXPECT_EQ(sluice.stop(), 0);
}

}  // namespace
}  // namespace sluice::test
