#include "runtime/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct CommandLineTest : testing::Test {
  // Exit code of `tool ARGUMENTS`; its output is in `complaint` and `printed`.
  int run(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "tool");
    testing::internal::CaptureStderr();
    testing::internal::CaptureStdout();
    const int code = run_command_line(program, static_cast<int>(arguments.size()), arguments.data());
    printed = testing::internal::GetCapturedStdout();
    complaint = testing::internal::GetCapturedStderr();
    return code;
  }

  std::string name;
  bool loud = false;
  int64_t count = 5;
  double share = 0;
  std::vector<std::string> tags;
  std::vector<int> codes;
  std::string printed;
  std::string complaint;
  Command program{
      .name = "tool",
      .help = "A tool for this test.",
      .commands = {{.name = "make",
                    .help = "Makes things",
                    .footer = "Example: tool make it",
                    .options = {{.name = "name", .value = &name, .help = "What to make", .required = true},
                                {.name = "--loud", .value = &loud, .help = "Say so"},
                                {.name = "-n,--count",
                                 .value = &count,
                                 .help = "How many",
                                 .show_default = true,
                                 .check = integer_in(1, 9)},
                                {.name = "--share", .value = &share, .help = "Of all", .check = number_in(0, 1)},
                                {.name = "--all", .value = &loud, .help = "Every one", .excludes = "--share"},
                                {.name = "--tag", .value = &tags, .help = "Any number of times"},
                                {.name = "--codes", .value = &codes, .help = "As 1,2", .separator = ','}},
                    .run = [] { return 7; }},
                   {.name = "break", .help = "Breaks", .run = []() -> int { throw std::runtime_error("it broke"); }},
                   {.name = "misuse", .help = "Refuses", .run = []() -> int { throw UsageError("give more"); }}}};
};

TEST_F(CommandLineTest, values_go_to_their_places_and_the_exit_code_is_the_commands) {
  EXPECT_EQ(run({"make", "it", "--loud", "-n", "3", "--share", "0.5", "--tag", "a", "--tag", "b", "--codes", "1,2"}),
            7);
  EXPECT_EQ(name, "it");
  EXPECT_TRUE(loud);
  EXPECT_EQ(count, 3);
  EXPECT_EQ(share, 0.5);
  EXPECT_THAT(tags, ElementsAre("a", "b"));
  EXPECT_THAT(codes, ElementsAre(1, 2));
}

TEST_F(CommandLineTest, wrong_arguments_are_explained_and_end_with_2) {
  EXPECT_EQ(run({"make"}), 2);
  EXPECT_EQ(complaint, "tool: name is required\nRun tool make --help for more information.\n");
  EXPECT_EQ(run({"make", "it", "-n", "10"}), 2);
  EXPECT_THAT(complaint, HasSubstr("tool: --count: Value 10 not in range 1 to 9\n"));
  EXPECT_EQ(run({"make", "it", "--share", "2x"}), 2);
  EXPECT_THAT(complaint, HasSubstr("--share: Value 2x not in range 0 to 1\n"));
  EXPECT_EQ(run({"make", "it", "--share", "1", "--all"}), 2);
  EXPECT_THAT(complaint, HasSubstr("excludes"));
  EXPECT_EQ(run({"misuse"}), 2);
  EXPECT_EQ(complaint, "tool: give more\nRun tool misuse --help for more information.\n");
}

TEST_F(CommandLineTest, an_unknown_command_is_named_with_the_nearest) {
  EXPECT_EQ(run({"mke"}), 2);
  EXPECT_EQ(complaint, "tool: there is no command mke in tool; did you mean make?\n");
  EXPECT_EQ(run({"--bogus"}), 2);
  EXPECT_EQ(complaint, "tool: there is no flag --bogus of tool\n");
}

TEST_F(CommandLineTest, a_command_that_throws_ends_with_1) {
  EXPECT_EQ(run({"break"}), 1);
  EXPECT_EQ(complaint, "tool: it broke\n");
}

TEST_F(CommandLineTest, help_and_documentation_come_from_the_description) {
  EXPECT_EQ(run({"make", "--help"}), 0);
  EXPECT_THAT(printed, HasSubstr("-n,--count INT:INT in [1 - 9]=5"));
  EXPECT_THAT(printed, HasSubstr("Example: tool make it"));
  const std::string docs = command_docs(program);
  EXPECT_THAT(docs, HasSubstr("## tool make\nMakes things.\n"));
  EXPECT_THAT(docs, HasSubstr("| `name` | What to make; required |\n"));
  EXPECT_THAT(docs, HasSubstr("| `-n,--count` | How many (INT in [1 - 9]) |\n"));
}

TEST(ValueCheck, says_what_is_wrong_with_a_value) {
  EXPECT_EQ(positive_number().problem("0.1"), "");
  EXPECT_NE(positive_number().problem("0"), "");
  EXPECT_EQ(not_negative().problem("0"), "");
  EXPECT_NE(not_negative().problem("-1"), "");
  EXPECT_EQ(one_of({"a", "b"}).problem("b"), "");
  EXPECT_EQ(one_of({"a", "b"}).problem("c"), "c not in {a,b}");
}

}  // namespace
}  // namespace sluice
