// `sluice documents` and the demo, as an operator uses them.
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/sample_layouts.h"
#include "tests/scenario/raw_client.h"
#include "tests/support/lab_origin.h"
#include "tests/support/postgres_server.h"
#include "tests/support/sluice_server.h"
#include "tests/support/temporary_folder.h"

namespace sluice::test {
namespace {

using lab::make_layout;
using testing::HasSubstr;
using testing::Not;

constexpr const char* path = "ssgo101/SSGO101F01.xml";
constexpr const char* read_path = "/api/v1/documents/scourt/ssgo101/SSGO101F01.xml";

struct DocumentsCommands : testing::Test {
  std::string write(const std::string& name, const std::string& text) const {
    const std::string file = (folder / name).string();
    std::ofstream(file) << text;
    return file;
  }
  std::string data() const { return (folder / "data").string(); }

  // `sluice documents ...` with the configuration of the test.
  CommandResult documents(std::vector<std::string> arguments, const std::string& input = "") const {
    arguments.insert(arguments.begin(), "documents");
    arguments.insert(arguments.end(), {"--data", data()});
    if (!config.empty()) arguments.insert(arguments.end(), {"--config", config});
    return run_sluice(std::move(arguments), environment, input);
  }

  TemporaryFolder folder;
  std::string config;
  std::map<std::string, std::string> environment;
};

TEST_F(DocumentsCommands, prewarm_downloads_what_is_missing_and_never_twice) {
  LabOrigin origin({"--latency", "10ms"});
  config = write("sluice.toml", origin.toml("max_per_second = 1000"));
  const std::string list = write("list.txt", fmt::format("# layouts\n{} civil first instance\n\nextra/1.xml\n", path));
  const CommandResult first = documents({"prewarm", "scourt", list});
  EXPECT_EQ(first.code, 0) << first.output;
  EXPECT_THAT(first.output, HasSubstr("2 of 2 done"));
  EXPECT_THAT(first.output, HasSubstr("2 documents: 0 there already, 2 downloaded, 0 failed"));

  const CommandResult again = documents({"prewarm", "scourt", "-"}, "extra/1.xml\nextra/2.xml\n");
  EXPECT_THAT(again.output, HasSubstr("2 documents: 1 there already, 1 downloaded, 0 failed"));
  const CommandResult known = documents({"prewarm", "scourt"});
  EXPECT_THAT(known.output, HasSubstr("3 documents: 3 there already, 0 downloaded, 0 failed"));
  const CommandResult forced = documents({"prewarm", "scourt", "--force"});
  EXPECT_THAT(forced.output, HasSubstr("3 documents: 0 there already, 3 downloaded, 0 failed"));
  EXPECT_THAT(RawClient(origin.port()).get("/stats").body, HasSubstr(R"({"requests":6,)"));

  const CommandResult shown = documents({"show", "scourt", path});
  EXPECT_EQ(shown.code, 0) << shown.output;
  EXPECT_THAT(shown.output, HasSubstr("CACHED"));
  EXPECT_THAT(shown.output, HasSubstr("civil first instance"));
  EXPECT_THAT(shown.output, HasSubstr("claim         none"));
}

TEST_F(DocumentsCommands, prewarm_keeps_to_the_slots_of_the_origin) {
  LabOrigin origin({"--latency", "20ms"});
  config = write("sluice.toml", origin.toml("max_concurrent = 2\nmax_per_second = 1000"));
  std::string list;
  for (const auto& layout : lab::sample_layouts()) list += layout.path + " " + layout.case_type + "\n";
  const CommandResult done = documents({"prewarm", "scourt", "-"}, list);
  EXPECT_EQ(done.code, 0) << done.output;
  EXPECT_THAT(done.output, HasSubstr("39 documents: 0 there already, 39 downloaded, 0 failed"));
  EXPECT_THAT(RawClient(origin.port()).get("/stats").body,
              HasSubstr(R"("requests":39,"inFlight":0,"maxConcurrency":2)"));
}

TEST_F(DocumentsCommands, prewarm_says_what_failed_and_show_tells_of_the_hold_down) {
  LabOrigin origin({"--failure-rate", "1"});
  config = write("sluice.toml", origin.toml("allow = \"extra/*\""));
  const CommandResult failed = documents({"prewarm", "scourt", "-"}, "extra/1.xml\nother/2.xml\n");
  EXPECT_EQ(failed.code, 1);
  EXPECT_THAT(failed.output, HasSubstr("extra/1.xml: origin-error"));
  EXPECT_THAT(failed.output, HasSubstr("other/2.xml: not-allowed"));
  EXPECT_THAT(failed.output, HasSubstr("2 documents: 0 there already, 0 downloaded, 2 failed"));
  const CommandResult shown = documents({"show", "scourt", "extra/1.xml"});
  EXPECT_THAT(shown.output, HasSubstr("EMPTY"));
  EXPECT_THAT(shown.output, HasSubstr("after 1 failures"));
}

TEST_F(DocumentsCommands, purge_forgets_also_beside_a_running_server) {
  LabOrigin origin;
  config =
      write("sluice.toml", origin.toml("max_per_second = 1000\nstrangers_per_second = 1000\nwait_limit = \"20s\""));
  SluiceServer sluice({.data = data(), .config = config});
  EXPECT_EQ(RawClient(sluice.port()).get(read_path).header("Sluice-Source"), "origin");
  EXPECT_EQ(RawClient(sluice.port()).get("/api/v1/documents/scourt/extra/1.xml").status, 200);
  EXPECT_EQ(documents({"purge", "scourt", path}).code, 0);
  EXPECT_EQ(documents({"purge", "scourt", path}).code, 1);
  // Known to the server within seconds; then it asks the origin again.
  while (RawClient(sluice.port()).get(read_path).header("Sluice-Source") != "origin") continue;
  EXPECT_THAT(documents({"purge", "scourt", "--all"}).output, HasSubstr("2 purged"));
  EXPECT_THAT(documents({"show", "scourt", path}).output, HasSubstr("no copy"));
}

TEST_F(DocumentsCommands, all_of_them_work_on_postgresql_too) {
  PostgresServer postgres;
  LabOrigin origin;
  environment = {{"SLUICE_POSTGRES_PASSWORD", postgres.password()},
                 {"SLUICE_POSTGRES_ADMIN_PASSWORD", postgres.password()}};
  config = write("sluice.toml", fmt::format("[postgres]\nurl = \"{}\"\nadmin_user = \"{}\"\n{}", postgres.url(),
                                            postgres.user(), origin.toml("hold_down = \"1m\"")));
  const CommandResult migrated = run_sluice({"migrate", "--config", config}, environment);
  ASSERT_EQ(migrated.code, 0) << migrated.output;
  const CommandResult warmed =
      documents({"prewarm", "scourt", "-"}, "extra/1.xml some kind\nextra/2.xml\nmissing.xml\n");
  EXPECT_EQ(warmed.code, 1);
  EXPECT_THAT(warmed.output, HasSubstr("3 documents: 0 there already, 2 downloaded, 1 failed"));
  const CommandResult shown = documents({"show", "scourt", "extra/1.xml"});
  EXPECT_EQ(shown.code, 0) << shown.output;
  EXPECT_THAT(shown.output, HasSubstr("some kind"));
  EXPECT_THAT(documents({"show", "scourt", "missing.xml"}).output, HasSubstr("after 1 failures"));
  EXPECT_THAT(documents({"prewarm", "scourt"}).output, HasSubstr("2 documents: 2 there already"));
  EXPECT_THAT(documents({"purge", "scourt", "--all"}).output, HasSubstr("2 purged"));
}

TEST_F(DocumentsCommands, nonsense_is_refused) {
  config = write("sluice.toml", "[[documents.origin]]\nname = \"scourt\"\nbase_url = \"http://127.0.0.1:9/\"\n");
  const CommandResult unknown = documents({"show", "elsewhere", path});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.output, HasSubstr("there is no origin elsewhere; the configuration has: scourt"));
  EXPECT_EQ(documents({"show", "scourt", "../secret"}).code, 2);
  EXPECT_EQ(documents({"show", "scourt", path}).code, 1);
  EXPECT_EQ(documents({"purge", "scourt"}).code, 2);
  EXPECT_EQ(documents({"purge", "scourt", "a/../b"}).code, 2);
  EXPECT_EQ(documents({"prewarm", "scourt", "-"}, "/absolute.xml\n").code, 2);
  EXPECT_EQ(documents({"prewarm", "scourt", "/no/such/list"}).code, 2);
}

TEST_F(DocumentsCommands, every_one_has_help_with_an_example) {
  for (const char* name : {"prewarm", "show", "purge"}) {
    const CommandResult help = run_sluice({"documents", name, "--help"});
    EXPECT_EQ(help.code, 0);
    EXPECT_THAT(help.output, HasSubstr(fmt::format("Example: sluice documents {} scourt", name)));
  }
}

TEST_F(DocumentsCommands, the_demo_serves_the_39_layouts_and_tells_how_to_ask) {
  {
    SluiceServer sluice({.data = data(), .flags = {"--demo"}});
    const std::string hint = sluice.process().wait_for_line("Try:  curl");
    EXPECT_THAT(hint, HasSubstr(sluice.url() + "/api/v1/documents/scourt/ssgo10j/SSGO10JF01.xml"));
    EXPECT_THAT(sluice.process().wait_for_line("SERVICE key"), HasSubstr("sk_"));
    for (const auto& layout : lab::sample_layouts()) {
      const RawResponse answer = RawClient(sluice.port()).get("/api/v1/documents/scourt/" + layout.path);
      EXPECT_EQ(answer.status, 200) << layout.path;
      EXPECT_EQ(answer.header("Sluice-Source"), "static");
      EXPECT_EQ(answer.body, make_layout(layout.path));
    }
    EXPECT_THAT(documents({"show", "scourt", path}).output, HasSubstr("data/demo/static/ssgo101/SSGO101F01.xml"));
    EXPECT_THAT(documents({"prewarm", "scourt"}).output, HasSubstr("39 documents: 39 there already"));
    EXPECT_EQ(sluice.stop(), 0);
  }
  SluiceServer again({.data = data(), .flags = {"--demo"}});
  again.process().wait_for_line("Try:  curl");
  EXPECT_THAT(again.process().output(), Not(HasSubstr("SERVICE key")));
}

TEST_F(DocumentsCommands, the_demo_leaves_a_configured_origin_alone) {
  config = write("sluice.toml", "[[documents.origin]]\nname = \"mine\"\nbase_url = \"http://127.0.0.1:9/\"\n");
  SluiceServer sluice({.data = data(), .config = config, .flags = {"--demo"}});
  EXPECT_EQ(RawClient(sluice.port()).get(read_path).status, 404);
}

TEST_F(DocumentsCommands, the_example_in_deploy_is_a_valid_configuration) {
  const std::string file = std::string(std::getenv("SLUICE_SOURCE")) + "/deploy/demo.toml";
  const CommandResult checked = run_sluice({"config", "check", "--config", file});
  EXPECT_EQ(checked.code, 0) << checked.output;
  EXPECT_THAT(run_sluice({"config", "print", "--config", file}).output, HasSubstr("inswave"));
}

}  // namespace
}  // namespace sluice::test
