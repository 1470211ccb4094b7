#include "runtime/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/breaker.h"
#include "runtime/log.h"
#include "runtime/retry.h"

namespace sluice::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

enum class Mode { fast, safe };
constexpr auto enum_names(Mode) {
  return std::to_array<EnumName<Mode>>({{Mode::fast, "fast"}, {Mode::safe, "safe"}});
}

struct Limits {
  double ratio = 0.5;
  unsigned calls = 10;

  static void describe(Section<Limits>& section) {
    section.key("ratio", &Limits::ratio, "How many may fail.").between(0, 1);
    section.key("calls", &Limits::calls, "How many are looked at.");
  }
};

struct Origin {
  std::string url;
  Limits limits;

  static void describe(Section<Origin>& section) {
    section.key("url", &Origin::url, "Where it is.").not_empty();
    section.table("limits", &Origin::limits, "What it bears.");
  }
};

struct Http {
  std::string listen = "127.0.0.1:8080";
  Duration head_timeout = 10s;
  Duration idle_timeout = 75s;
  size_t max_body = 1 << 20;
  Size cache = mib(64);
  bool compress = true;
  int64_t workers = 0;
  Mode mode = Mode::safe;
  std::vector<std::string> proxies;
  Secret token;
  Limits limits;
  std::vector<Origin> origins;
  std::map<std::string, Limits> kinds;

  static void describe(Section<Http>& section) {
    section.key("listen", &Http::listen, "Where to listen.").not_empty();
    section.key("head_timeout", &Http::head_timeout, "For a head | in all.").at_least(1ms);
    section.key("idle_timeout", &Http::idle_timeout, "Between requests.");
    section.bytes("max_body", &Http::max_body, "Above is refused.").at_most(gib(1));
    section.key("cache", &Http::cache, "Memory.");
    section.key("compress", &Http::compress, "Whether to.");
    section.key("workers", &Http::workers, "0 is one per core.").between(0, 64);
    section.key("mode", &Http::mode, "How.");
    section.key("proxies", &Http::proxies, "Who is believed.");
    section.key("token", &Http::token, "What clients show.");
    section.table("limits", &Http::limits, "When to stop.");
    section.list("origin", &Http::origins, "Where documents come from.");
    section.map("kinds", &Http::kinds, "By kind.");
  }
  void validate(Problems& problems) const {
    if (idle_timeout < head_timeout) problems.add("idle_timeout", "must not be shorter than head_timeout; raise it");
  }
};

struct ConfigTest : testing::Test {
  ConfigTest() { loader.section("http", http, "The server."); }

  std::vector<std::string> load(Sources sources) {
    std::vector<std::string> texts;
    for (const auto& problem : loader.load(sources)) texts.push_back(problem.text());
    return texts;
  }
  std::vector<std::string> load(std::string text) { return load(Sources{.file = "s.toml", .text = std::move(text)}); }

  Http http;
  Loader loader;
};

TEST_F(ConfigTest, nothing_given_leaves_the_defaults) {
  EXPECT_THAT(load(Sources{}), IsEmpty());
  EXPECT_EQ(http.listen, "127.0.0.1:8080");
  EXPECT_EQ(http.head_timeout, 10s);
}

TEST_F(ConfigTest, every_kind_is_read_from_the_file) {
  EXPECT_THAT(load(R"(
[http]
listen = "0.0.0.0:80"
head_timeout = "250ms"
max_body = "2MiB"
cache = "512KiB"
compress = false
workers = 4
mode = "fast"
proxies = ["10.0.0.0/8", "::1"]
[http.limits]
ratio = 1
[[http.origin]]
url = "a"
limits = {calls = 3}
[[http.origin]]
url = "b"
[http.kinds.mail]
calls = 7
)"),
              IsEmpty());
  EXPECT_EQ(http.listen, "0.0.0.0:80");
  EXPECT_EQ(http.head_timeout, 250ms);
  EXPECT_EQ(http.max_body, 2U << 20);
  EXPECT_EQ(http.cache, kib(512));
  EXPECT_FALSE(http.compress);
  EXPECT_EQ(http.workers, 4);
  EXPECT_EQ(http.mode, Mode::fast);
  EXPECT_THAT(http.proxies, ElementsAre("10.0.0.0/8", "::1"));
  EXPECT_EQ(http.limits.ratio, 1);
  ASSERT_EQ(http.origins.size(), 2);
  EXPECT_EQ(http.origins[0].limits.calls, 3);
  EXPECT_EQ(http.origins[1].url, "b");
  EXPECT_EQ(http.kinds.at("mail").calls, 7);
}

TEST_F(ConfigTest, the_environment_beats_the_file_and_a_flag_beats_both) {
  EXPECT_THAT(load(Sources{.file = "s.toml",
                           .text = "[http]\nlisten = 'file'\nworkers = 1\ncompress = true\n[[http.origin]]\nurl = 'u'",
                           .environment = {{"SLUICE_HTTP_LISTEN", "environment"},
                                           {"SLUICE_HTTP_WORKERS", "2"},
                                           {"SLUICE_HTTP_COMPRESS", "false"},
                                           {"SLUICE_HTTP_PROXIES", "a,b"},
                                           {"SLUICE_HTTP_LIMITS_RATIO", "0.25"},
                                           {"SLUICE_HTTP_ORIGIN_0_LIMITS_CALLS", "5"},
                                           {"PATH", "/bin"}},
                           .flags = {{"http.listen", "flag", "--listen"}}}),
              IsEmpty());
  EXPECT_EQ(http.listen, "flag");
  EXPECT_EQ(http.workers, 2);
  EXPECT_FALSE(http.compress);
  EXPECT_THAT(http.proxies, ElementsAre("a", "b"));
  EXPECT_EQ(http.limits.ratio, 0.25);
  EXPECT_EQ(http.origins.at(0).limits.calls, 5);
}

TEST_F(ConfigTest, all_problems_are_reported_each_with_place_key_and_remedy) {
  EXPECT_THAT(load(R"([http]
lisen = "x"
head_timeout = 10
idle_timeout = "0.5s"
workers = 65
mode = "slow"
listen = ""
max_body = "2GiB"
[[http.origin]]
url = 1
[http.limits]
calls = -1
ratio = 1979-05-27
[htp]
a = 1
)"),
              ElementsAre("s.toml:2: http.lisen is not a known key; did you mean listen?",
                          "s.toml:3: http.head_timeout must be a duration such as \"250ms\", \"10s\" or \"5m\", not 10",
                          "s.toml:4: http.idle_timeout must be a duration such as \"250ms\", \"10s\" or \"5m\", not "
                          "\"0.5s\"",
                          "s.toml:5: http.workers must be at most 64, not 65",
                          "s.toml:6: http.mode must be one of fast, safe, not \"slow\"",
                          "s.toml:7: http.listen must be non-empty, not \"\"",
                          "s.toml:8: http.max_body must be at most \"1GiB\", not \"2GiB\"",
                          "s.toml:10: http.origin[0].url must be a string in quotes, not 1",
                          "s.toml:12: http.limits.calls must be a whole number from 0 to 4294967295, not -1",
                          "s.toml:13: http.limits.ratio must be a number, not a date or time",
                          "s.toml:14: htp is not a known section; did you mean http?"));
}

TEST_F(ConfigTest, what_is_no_toml_is_one_problem_with_its_line) {
  const auto problems = load("[http]\nlisten = \n");
  ASSERT_EQ(problems.size(), 1);
  EXPECT_THAT(problems[0], HasSubstr("s.toml:2: invalid TOML: "));
}

TEST_F(ConfigTest, a_key_given_twice_is_a_problem) {
  EXPECT_THAT(load("[http]\nworkers = 1\nworkers = 2\n"), ElementsAre(HasSubstr("s.toml:3")));
}

TEST_F(ConfigTest, tables_and_values_are_not_mixed_up) {
  EXPECT_THAT(load("http = 1"), ElementsAre("s.toml:1: http must be a table; write [http]"));
}

TEST_F(ConfigTest, groups_say_how_they_are_written) {
  EXPECT_THAT(load("[http]\norigin = 'x'\nkinds = 1\nlisten = {a = 1}"),
              ElementsAre("s.toml:2: http.origin must be tables; write [[http.origin]]",
                          "s.toml:3: http.kinds must be tables; write [http.kinds.NAME]",
                          "s.toml:4: http.listen must be a string in quotes, not a table"));
}

TEST_F(ConfigTest, a_plan_that_cannot_work_is_a_problem_at_the_key_that_was_set) {
  EXPECT_THAT(load("[http]\nidle_timeout = '1s'"),
              ElementsAre("s.toml:2: http.idle_timeout must not be shorter than head_timeout; raise it"));
}

TEST_F(ConfigTest, a_rule_over_sections_names_the_place_of_a_key_inside) {
  loader.rule([this](Problems& problems) {
    if (http.limits.calls > http.workers) problems.add("http.limits.calls", "must not exceed http.workers; lower it");
  });
  EXPECT_THAT(load("[http]\nworkers = 2\n[http.limits]\ncalls = 3"),
              ElementsAre("s.toml:4: http.limits.calls must not exceed http.workers; lower it"));
}

TEST_F(ConfigTest, a_variable_that_nearly_is_a_setting_is_a_problem) {
  loader.allow_variable("SLUICE_HTTP_SPECIAL");
  EXPECT_THAT(load(Sources{.environment = {{"SLUICE_HTP_LISTEN", "x"},
                                           {"SLUICE_HTTP_SOMETHING", "x"},
                                           {"SLUICE_HTTP_SPECIAL", "x"},
                                           {"SLUICE_BIN", "x"}}}),
              ElementsAre("SLUICE_HTP_LISTEN: this variable is not a setting; did you mean SLUICE_HTTP_LISTEN?",
                          HasSubstr("SLUICE_HTTP_SOMETHING: this variable is not a setting; unset it")));
}

TEST_F(ConfigTest, a_secret_in_the_file_is_refused_without_showing_it) {
  EXPECT_THAT(load("[http]\ntoken = 'hush'"),
              ElementsAre("s.toml:2: http.token is a secret and must not be in the file; set SLUICE_HTTP_TOKEN or "
                          "token_file = \"PATH\""));
}

TEST_F(ConfigTest, a_secret_comes_from_the_environment_and_is_never_printed) {
  EXPECT_THAT(load(Sources{.environment = {{"SLUICE_HTTP_TOKEN", "hush"}}}), IsEmpty());
  EXPECT_EQ(http.token.reveal(), "hush");
  EXPECT_THAT(loader.print(), Not(HasSubstr("hush")));
  EXPECT_THAT(loader.print(), HasSubstr("# token is set by SLUICE_HTTP_TOKEN and not shown"));
}

TEST_F(ConfigTest, a_secret_comes_from_a_file_that_the_file_or_a_variable_names) {
  const auto read = [](const std::string& path) { return std::optional<std::string>("in " + path); };
  EXPECT_THAT(load(Sources{.file = "s.toml", .text = "[http]\ntoken_file = '/a'", .read_file = read}), IsEmpty());
  EXPECT_EQ(http.token.reveal(), "in /a");
  Http other;
  Loader second;
  second.section("http", other);
  EXPECT_TRUE(second.load({.environment = {{"SLUICE_HTTP_TOKEN_FILE", "/b"}}, .read_file = read}).empty());
  EXPECT_EQ(other.token.reveal(), "in /b");
}

TEST_F(ConfigTest, a_secret_file_that_cannot_be_read_is_a_problem) {
  EXPECT_THAT(
      load("[http]\ntoken_file = '/nowhere/at/all'"),
      ElementsAre("s.toml:2: http.token_file names \"/nowhere/at/all\", which cannot be read; check the path and "
                  "its permissions"));
}

TEST_F(ConfigTest, what_is_printed_says_where_it_comes_from_and_loads_again) {
  EXPECT_THAT(load(Sources{.file = "s.toml",
                           .text = "[http]\nworkers = 3\n[[http.origin]]\nurl = 'a\"b'\n[http.kinds.'a b']\ncalls = 1",
                           .environment = {{"SLUICE_HTTP_MODE", "fast"}},
                           .flags = {{"http.listen", "x:1", "--listen"}}}),
              IsEmpty());
  const std::string printed = loader.print();
  EXPECT_THAT(printed, HasSubstr("workers = 3  # s.toml:2\n"));
  EXPECT_THAT(printed, HasSubstr("mode = \"fast\"  # SLUICE_HTTP_MODE\n"));
  EXPECT_THAT(printed, HasSubstr("listen = \"x:1\"  # --listen\n"));
  EXPECT_THAT(printed, HasSubstr("cache = \"64MiB\"  # default\n"));
  EXPECT_THAT(printed, HasSubstr("# token is not set\n"));

  Http again;
  Loader second;
  second.section("http", again);
  EXPECT_TRUE(second.load({.file = "printed", .text = printed}).empty()) << printed;
  EXPECT_EQ(again.workers, 3);
  EXPECT_EQ(again.origins.at(0).url, "a\"b");
  EXPECT_EQ(again.kinds.at("a b").calls, 1);
}

TEST_F(ConfigTest, docs_have_a_row_for_every_key) {
  const std::string docs = loader.docs();
  EXPECT_THAT(docs, HasSubstr("## `[http]`\n\nThe server.\n\n| key | type | default | environment | meaning |\n"));
  EXPECT_THAT(docs, HasSubstr("| `head_timeout` | duration, at least \"1ms\" | `\"10s\"` | "
                              "`SLUICE_HTTP_HEAD_TIMEOUT` | For a head \\| in all. |\n"));
  EXPECT_THAT(docs, HasSubstr("| `token_file` | secret |  | `SLUICE_HTTP_TOKEN`, `SLUICE_HTTP_TOKEN_FILE` |"));
  EXPECT_THAT(docs, HasSubstr("## `[[http.origin]]`"));
  EXPECT_THAT(docs, HasSubstr("## `[http.origin.limits]`"));
  EXPECT_THAT(docs, HasSubstr("## `[http.kinds.NAME]`"));
}

TEST_F(ConfigTest, a_missing_value_in_an_override_names_the_flag) {
  EXPECT_THAT(load(Sources{.flags = {{"http.workers", "many", "--workers"}, {"http.x", "1", "--set"}}}),
              ElementsAre("--workers: http.workers must be a whole number, not \"many\"",
                          "--set: http.x is not a known key; see `sluice config docs`"));
}

TEST(RuntimeConfig, log_breaker_and_backoff_are_described) {
  log::Options log_options;
  BreakerConfig breaker;
  Backoff backoff;
  Loader loader;
  loader.section("log", log_options);
  loader.section("breaker", breaker);
  loader.section("backoff", backoff);
  const auto problems = loader.load({.file = "s.toml",
                                     .text = "[breaker]\nopen_max = '1s'\n[backoff]\nfirst = '1m'",
                                     .environment = {{"SLUICE_LOG_LEVEL", "debug"}, {"SLUICE_LOG_FORMAT", "text"}}});
  ASSERT_EQ(problems.size(), 2);
  EXPECT_EQ(problems[0].text(),
            "s.toml:2: breaker.open_max must not be shorter than open_for; raise it or lower open_for");
  EXPECT_EQ(problems[1].text(), "s.toml: backoff.max must not be shorter than first; raise it or lower first");
  EXPECT_EQ(log_options.level, log::Level::debug);
  EXPECT_EQ(log_options.format, log::Format::text);
}

TEST(Size, round_trips_with_its_unit) {
  for (const std::string_view text : {"512B", "16KiB", "64MiB", "2GiB", "0B"}) {
    EXPECT_EQ(format_size(parse_size(text).value()), text);
  }
  for (const std::string_view bad : {"", "1", "1KB", "-1B", "1.5MiB", "99999999999GiB"}) EXPECT_FALSE(parse_size(bad));
}

}  // namespace
}  // namespace sluice::config
