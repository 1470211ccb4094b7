// API keys over their life, as an operator manages them beside the real program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scenario/raw_client.h"
#include "tests/support/sluice_server.h"
#include "tests/support/temporary_folder.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::Not;

struct KeysScenario : testing::Test {
  std::string data() const { return (folder / "data").string(); }
  CommandResult admin(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "admin");
    arguments.insert(arguments.end(), {"--data", data()});
    return run_sluice(std::move(arguments));
  }
  // The secret that a command has printed in its last line.
  static std::string secret_in(const CommandResult& result) {
    EXPECT_EQ(result.code, 0) << result.output;
    const size_t at = result.output.find("sk_");
    return at == std::string::npos ? "" : result.output.substr(at, result.output.find('\n', at) - at);
  }
  static std::string id_in(const CommandResult& result) {
    return result.output.substr(result.output.find("key ") + 4, 36);
  }
  static int status_with(const SluiceServer& sluice, const std::string& secret, const std::string& path) {
    return RawClient(sluice.port()).get(path, "Authorization: Bearer " + secret + "\r\n").status;
  }
  static constexpr const char* for_services = "/api/v1/jobs/stats";
  static constexpr const char* for_administrators = "/api/v1/dead-letters";

  TemporaryFolder folder;
};

TEST_F(KeysScenario, a_changed_service_key_of_the_environment_retires_the_one_before_it) {
  const std::string first = "sk_the_first_of_the_environment";
  const std::string second = "sk_the_second_of_the_environment";
  {
    SluiceServer sluice({.data = data(), .environment = {{"SLUICE_SERVICE_KEY", first}}});
    EXPECT_EQ(status_with(sluice, first, for_services), 200);
  }
  {
    SluiceServer sluice({.data = data(), .environment = {{"SLUICE_SERVICE_KEY", second}}});
    EXPECT_EQ(status_with(sluice, first, for_services), 401);
    EXPECT_EQ(status_with(sluice, second, for_services), 200);
  }
  SluiceServer outdated({.data = data(), .environment = {{"SLUICE_SERVICE_KEY", first}}});
  EXPECT_EQ(status_with(outdated, first, for_services), 401);
  EXPECT_EQ(status_with(outdated, second, for_services), 200);
  EXPECT_EQ(outdated.stop(), 0);
  EXPECT_THAT(outdated.process().output(), HasSubstr("SLUICE_SERVICE_KEY was replaced or revoked"));
}

TEST_F(KeysScenario, a_rotated_key_gives_way_to_the_new_one_when_its_grace_is_over) {
  SluiceServer sluice({.data = data()});
  const CommandResult made = admin({"create-key", "--role", "SERVICE", "--name", "importer"});
  const std::string old = secret_in(made);
  const CommandResult kept = admin({"rotate-key", id_in(made), "--grace", "1h"});
  EXPECT_EQ(status_with(sluice, old, for_services), 200);
  EXPECT_EQ(status_with(sluice, secret_in(kept), for_services), 200);
  const CommandResult at_once = admin({"rotate-key", id_in(kept), "--grace", "0s"});
  EXPECT_EQ(status_with(sluice, secret_in(at_once), for_services), 200);
  const CommandResult unused = admin({"rotate-key", id_in(at_once), "--grace", "1h"});
  admin({"rotate-key", id_in(unused), "--grace", "0s"});
  EXPECT_EQ(status_with(sluice, secret_in(unused), for_services), 401);
  EXPECT_THAT(admin({"list-keys"}).output, HasSubstr("expired "));
  EXPECT_EQ(admin({"rotate-key", id_in(kept)}).code, 1) << "it has ended";
  EXPECT_EQ(admin({"rotate-key", "nonsense"}).code, 1);
  EXPECT_EQ(admin({"rotate-key", id_in(made), "--grace", "soon"}).code, 2);
}

TEST_F(KeysScenario, the_last_use_and_the_end_of_a_key_are_listed) {
  SluiceServer sluice({.data = data()});
  const std::string secret =
      secret_in(admin({"create-key", "--role", "SERVICE", "--name", "importer", "--expires", "90d"}));
  const std::string before = admin({"list-keys"}).output;
  EXPECT_THAT(before, HasSubstr("until "));
  EXPECT_THAT(before, HasSubstr("never used"));
  EXPECT_EQ(status_with(sluice, secret, for_services), 200);
  EXPECT_THAT(admin({"list-keys"}).output, Not(HasSubstr("never used")));
  EXPECT_EQ(admin({"create-key", "--role", "SERVICE", "--name", "x", "--expires", "soon"}).code, 2);
  EXPECT_EQ(admin({"create-key", "--role", "SERVICE", "--name", "SLUICE_SERVICE_KEY"}).code, 2);
}

TEST_F(KeysScenario, a_key_has_a_name_that_fits_a_line) {
  for (const std::string& name :
       {std::string(), std::string(201, 'n'), std::string("two\nlines"), std::string("\x1b[2J")}) {
    EXPECT_EQ(admin({"create-key", "--role", "SERVICE", "--name", name}).code, 2) << name;
  }
  secret_in(admin({"create-key", "--role", "SERVICE", "--name", std::string(200, 'n')}));
}

TEST_F(KeysScenario, every_use_of_an_administrators_right_is_in_the_audit_log) {
  SluiceServer sluice({.data = data(), .environment = {{"SLUICE_SERVICE_KEY", "sk_from_the_environment"}}});
  const CommandResult made = admin({"create-key", "--role", "ADMIN", "--name", "ops"});
  EXPECT_EQ(status_with(sluice, secret_in(made), for_administrators), 200);
  EXPECT_EQ(status_with(sluice, "sk_from_the_environment", for_administrators), 403);
  EXPECT_EQ(status_with(sluice, secret_in(made), for_services), 200);
  admin({"revoke-key", id_in(made)});
  const std::string log = admin({"audit"}).output;
  const auto place = [&log](const std::string& text) {
    EXPECT_THAT(log, HasSubstr(text));
    EXPECT_EQ(log.find(text), log.rfind(text)) << text << " is there more than once:\n" << log;
    return log.find(text);
  };
  EXPECT_LT(place("(command line)  revoke-key  " + id_in(made)), place("GET /api/v1/dead-letters"));
  EXPECT_LT(place("GET /api/v1/dead-letters"), place("create-key  ops (ADMIN)"));
  EXPECT_LT(place("create-key  ops (ADMIN)"), place("environment  adopt-key  SLUICE_SERVICE_KEY"));
  EXPECT_THAT(log, HasSubstr("ops (key " + id_in(made) + ")"));
  EXPECT_THAT(log, Not(HasSubstr("sk_")));
  EXPECT_THAT(admin({"audit", "--limit", "1"}).output, Not(HasSubstr("create-key")));
}

}  // namespace
}  // namespace sluice::test
