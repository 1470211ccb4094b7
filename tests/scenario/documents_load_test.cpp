// `sluice-lab load documents` against a real server in front of a real, simulated origin.
#include <fstream>

#include <gtest/gtest.h>
#include <simdjson.h>

#include "tests/support/lab_origin.h"
#include "tests/support/sluice_server.h"
#include "tests/support/temporary_folder.h"

namespace sluice::test {
namespace {

constexpr const char* key = "sk_of_the_load_test_1";

TEST(DocumentsLoad, every_document_is_downloaded_once_and_nothing_fails) {
  TemporaryFolder folder;
  LabOrigin origin({"--latency", "20ms"});
  const std::string config = (folder / "sluice.toml").string();
  std::ofstream(config) << origin.toml("max_per_second = 1000\nstrangers_per_second = 1000\nwait_limit = \"20s\"")
                        << "[log]\nlevel = \"warning\"\n";
  SluiceServer sluice({.data = folder / "data", .config = config, .environment = {{"SLUICE_SERVICE_KEY", key}}});
  Process load({.arguments = {binary("sluice-lab"), "load", "documents", sluice.url(), "--key", key, "--users", "300",
                              "--scale", "0.004", "--json"}});
  EXPECT_EQ(load.wait(), 0) << load.output();
  simdjson::dom::parser parser;
  const simdjson::dom::element report = parser.parse(load.output());
  const auto count = [&report](std::string_view pointer) {
    uint64_t value = 0;
    return report.at_pointer(pointer).get(value) == simdjson::SUCCESS ? value : 0;
  };
  EXPECT_GT(count("/requests/intended"), 200U);
  EXPECT_EQ(count("/statuses/200"), count("/requests/intended"));
  EXPECT_GE(count("/documents/misses"), 39U);
  EXPECT_GT(count("/documents/sources/memory"), 0U);
  EXPECT_GT(report.at_pointer("/latencyMs/p99").get_double().value(), 0.0);
}

TEST(DocumentsLoad, help_has_an_example) {
  Process help({.arguments = {binary("sluice-lab"), "load", "documents", "--help"}});
  EXPECT_EQ(help.wait(), 0);
  EXPECT_TRUE(help.output().contains("sluice-lab load documents http://"));
}

}  // namespace
}  // namespace sluice::test
