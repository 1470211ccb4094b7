// `sluice` on the command line: configurations that it checks and prints, and the help of its commands.
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>

#include "tests/scenario/server_folder.h"
#include "tests/support/sluice_server.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

struct ServerCommands : ServerFolder {};

TEST_F(ServerCommands, messages_may_not_outlive_what_is_known_of_them) {
  const std::string topics = "[messaging.topics.\"jobs.enqueue\"]\nretention = \"30d\"\n";
  const CommandResult forgets = run_sluice({"config", "check", "--config", write_config(topics)});
  EXPECT_EQ(forgets.code, 2);
  EXPECT_THAT(forgets.output, HasSubstr("messaging.inbox.retention must be at least 37d"));
  const std::string knows = write_config(topics + "[messaging.inbox]\nretention = \"37d\"\n");
  EXPECT_EQ(run_sluice({"config", "check", "--config", knows}).code, 0);
}

TEST_F(ServerCommands, a_wrong_configuration_is_refused_with_place_and_remedy) {
  const std::string file = write_config("[http]\nlisten = \"127.0.0.1:0\"\nhead_timout = \"5s\"\nidle_timeout = 5\n");
  const CommandResult checked = run_sluice({"config", "check", "--config", file});
  EXPECT_EQ(checked.code, 2);
  EXPECT_THAT(checked.output, HasSubstr(file + ":3"));
  EXPECT_THAT(checked.output, HasSubstr("head_timeout"));
  EXPECT_THAT(checked.output, HasSubstr(file + ":4"));
  EXPECT_EQ(run_sluice({"serve", "--config", file, "--data", data()}).code, 2);
  EXPECT_EQ(run_sluice({"serve", "--config", "/no/such/file", "--data", data()}).code, 2);
  EXPECT_EQ(run_sluice({"serve", "--roles", "accounts,nobody", "--data", data()}).code, 2);
  EXPECT_EQ(run_sluice({"serve", "--listen", "nonsense", "--data", data()}).code, 2);
}

TEST_F(ServerCommands, an_unknown_command_is_named_with_the_nearest_one_there_is) {
  const auto complaint = [](std::vector<std::string> command) {
    const CommandResult result = run_sluice(std::move(command));
    EXPECT_EQ(result.code, 2);
    return result.output;
  };
  EXPECT_EQ(complaint({"serv"}), "sluice: there is no command serv in sluice; did you mean serve?\n");
  EXPECT_THAT(complaint({"bogus"}), HasSubstr("no command bogus in sluice; known here: serve, migrate, "));
  EXPECT_THAT(complaint({"admin", "crate-key", "--role", "USER"}),
              HasSubstr("in sluice admin; did you mean create-key?"));
  EXPECT_THAT(complaint({"admin", "--bogus"}), HasSubstr("there is no flag --bogus of sluice admin"));
}

TEST_F(ServerCommands, a_password_in_a_services_url_is_refused_and_not_repeated) {
  const std::string url = "postgresql://someone:a-secret@db.example.org/sluice";
  for (const std::string key : {"url", "direct_url"}) {
    const std::string file = write_config("[postgres]\nurl = \"postgresql://db.example.org/sluice\"\n" +
                                          ("[postgres.services.documents]\n" + key) + " = \"" + url + "\"\n");
    const CommandResult checked = run_sluice({"config", "check", "--config", file});
    EXPECT_EQ(checked.code, 2);
    EXPECT_THAT(checked.output, HasSubstr("a URL of documents must not contain a password"));
    EXPECT_THAT(checked.output, testing::Not(HasSubstr("a-secret")));
  }
}

TEST_F(ServerCommands, what_is_printed_loads_again) {
  const CommandResult printed = run_sluice({"config", "print"}, {{"SLUICE_HTTP_LISTEN", "127.0.0.1:4711"}});
  ASSERT_EQ(printed.code, 0);
  EXPECT_THAT(printed.output, HasSubstr("listen = \"127.0.0.1:4711\"  # SLUICE_HTTP_LISTEN"));
  EXPECT_EQ(run_sluice({"config", "check", "--config", write_config(printed.output)}).code, 0);
}

TEST_F(ServerCommands, every_command_explains_itself_with_an_example) {
  const std::vector<std::vector<std::string>> commands{{},
                                                       {"serve"},
                                                       {"migrate"},
                                                       {"version"},
                                                       {"config"},
                                                       {"config", "check"},
                                                       {"config", "print"},
                                                       {"config", "docs"},
                                                       {"metrics"},
                                                       {"metrics", "docs"},
                                                       {"documents"},
                                                       {"admin"},
                                                       {"admin", "create"},
                                                       {"admin", "create-key"},
                                                       {"admin", "rotate-key"},
                                                       {"admin", "list-keys"},
                                                       {"admin", "revoke-key"},
                                                       {"admin", "audit"}};
  for (std::vector<std::string> command : commands) {
    command.push_back("--help");
    const CommandResult help = run_sluice(command);
    EXPECT_EQ(help.code, 0) << command.front();
    EXPECT_THAT(help.output, HasSubstr("Example: ")) << command.front();
  }
}

TEST_F(ServerCommands, a_choice_of_engine_that_cannot_be_kept_is_refused_with_its_place) {
  const CommandResult result =
      run_sluice({"config", "check", "--config", write_config("[messaging]\nengine = \"redis\"\n")});
  EXPECT_NE(result.code, 0);
  EXPECT_THAT(result.output,
              HasSubstr("sluice.toml:2: messaging.engine is redis, but Redis is not configured; set redis.url"));
}

}  // namespace
}  // namespace sluice::test
