#include "runtime/resolver.h"

#include <mutex>
#include <semaphore>

#include <boost/asio/co_spawn.hpp>
#include <gtest/gtest.h>

#include "runtime/errors.h"
#include "runtime/task_scope.h"
#include "runtime/virtual_clock.h"

namespace sluice {
namespace {

// A name server that answers when it is allowed to, and remembers its questions. Names that begin with "no" do not
// exist.
class NameServer {
 public:
  explicit NameServer(int answers) : may_answer_(answers) {}

  Addresses ask(const std::string& host) {
    {
      const std::lock_guard lock(mutex_);
      asked_.push_back(host);
    }
    may_answer_.acquire();
    if (host.starts_with("no")) return std::unexpected("not found");
    return std::vector{asio::ip::make_address("192.0.2.1")};
  }
  void answer(int times) { may_answer_.release(times); }
  std::vector<std::string> asked() {
    const std::lock_guard lock(mutex_);
    return asked_;
  }

 private:
  std::counting_semaphore<> may_answer_;
  std::mutex mutex_;
  std::vector<std::string> asked_;
};

constexpr int always = 1'000'000;

struct ResolverTest : testing::Test {
  ResolverOptions options(NameServer& server, unsigned threads = 2) {
    return {.threads = threads, .ask = [&server](const std::string& host) { return server.ask(host); }};
  }
  static Task<> look(Resolver& resolver, std::string host, std::vector<std::string>& outcomes) {
    try {
      const std::vector<asio::ip::address> found = co_await resolver.look_up(std::move(host));
      outcomes.push_back(found.at(0).to_string());
    } catch (const HostNotFound& error) {
      outcomes.emplace_back(error.what());
    } catch (const Overloaded&) {
      outcomes.emplace_back("overloaded");
    }
  }
  void run_until(const auto& holds) {
    while (!holds()) {
      context.restart();
      context.poll();
    }
  }
  std::string look_up(Resolver& resolver, const std::string& host) {
    std::vector<std::string> outcomes;
    TaskScope asking(context.get_executor());
    asking.spawn("caller", look(resolver, host, outcomes));
    run_until([&asking] { return asking.running() == 0; });
    return outcomes.at(0);
  }

  asio::io_context context;
  VirtualClock clock;
};

TEST_F(ResolverTest, name_servers_that_hang_stall_nobody_who_has_another_resolver) {
  NameServer hanging(0);
  NameServer quick(always);
  Resolver of_strangers(context.get_executor(), clock, options(hanging));
  Resolver of_origins(context.get_executor(), clock, options(quick));
  std::vector<std::string> outcomes;
  TaskScope strangers(context.get_executor());
  for (int i = 0; i < 50; ++i) strangers.spawn("stranger", look(of_strangers, fmt::format("slow{}", i), outcomes));
  EXPECT_EQ(look_up(of_origins, "origin.example"), "192.0.2.1");
  EXPECT_TRUE(outcomes.empty());
  hanging.answer(always);
  run_until([&strangers] { return strangers.running() == 0; });
  EXPECT_EQ(outcomes.size(), 50U);
}

TEST_F(ResolverTest, a_name_is_looked_up_once_for_all_who_ask_and_remembered_for_a_while) {
  NameServer server(0);
  Resolver resolver(context.get_executor(), clock, options(server));
  std::vector<std::string> outcomes;
  TaskScope crowd(context.get_executor());
  for (int i = 0; i < 20; ++i) crowd.spawn("caller", look(resolver, "a.example", outcomes));
  server.answer(always);
  run_until([&crowd] { return crowd.running() == 0; });
  EXPECT_EQ(outcomes, std::vector<std::string>(20, "192.0.2.1"));
  clock.advance(29s);
  EXPECT_EQ(look_up(resolver, "a.example"), "192.0.2.1");
  EXPECT_EQ(server.asked().size(), 1U);
  clock.advance(1s);
  EXPECT_EQ(look_up(resolver, "a.example"), "192.0.2.1");
  EXPECT_EQ(server.asked().size(), 2U);
}

TEST_F(ResolverTest, a_name_that_does_not_exist_is_remembered_for_less) {
  NameServer server(always);
  Resolver resolver(context.get_executor(), clock, options(server));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(look_up(resolver, "no.example"), "no.example: not found");
  EXPECT_EQ(server.asked().size(), 1U);
  clock.advance(5s);
  EXPECT_EQ(look_up(resolver, "no.example"), "no.example: not found");
  EXPECT_EQ(server.asked().size(), 2U);
}

TEST_F(ResolverTest, names_beyond_the_bound_are_refused_at_once) {
  NameServer server(0);
  ResolverOptions few = options(server, 1);
  few.max_waiting = 2;
  Resolver resolver(context.get_executor(), clock, few);
  std::vector<std::string> outcomes;
  TaskScope crowd(context.get_executor());
  crowd.spawn("first", look(resolver, "first", outcomes));
  run_until([&server] { return server.asked().size() == 1; });
  for (int i = 0; i < 5; ++i) crowd.spawn("caller", look(resolver, fmt::format("other{}", i), outcomes));
  run_until([&outcomes] { return outcomes.size() == 3; });
  EXPECT_EQ(outcomes, std::vector<std::string>(3, "overloaded"));
  server.answer(always);
  run_until([&crowd] { return crowd.running() == 0; });
  EXPECT_EQ(outcomes.size(), 6U);
}

TEST_F(ResolverTest, a_name_that_nobody_waits_for_any_more_is_not_looked_up) {
  NameServer server(0);
  Resolver resolver(context.get_executor(), clock, options(server, 1));
  std::vector<std::string> outcomes;
  TaskScope patient(context.get_executor());
  TaskScope impatient(context.get_executor());
  patient.spawn("first", look(resolver, "first", outcomes));
  run_until([&server] { return server.asked().size() == 1; });
  impatient.spawn("second", look(resolver, "second", outcomes));
  patient.spawn("third", look(resolver, "third", outcomes));
  impatient.cancel();
  run_until([&impatient] { return impatient.running() == 0; });
  server.answer(always);
  run_until([&patient] { return patient.running() == 0; });
  EXPECT_EQ(server.asked(), (std::vector<std::string>{"first", "third"}));
  EXPECT_EQ(look_up(resolver, "second"), "192.0.2.1") << "it can be asked for again";
}

TEST_F(ResolverTest, its_memory_is_bounded) {
  NameServer server(always);
  ResolverOptions little = options(server);
  little.max_remembered = 2;
  Resolver resolver(context.get_executor(), clock, little);
  for (const char* host : {"a", "b", "c", "a"}) look_up(resolver, host);
  EXPECT_EQ(server.asked(), (std::vector<std::string>{"a", "b", "c", "a"}));
  look_up(resolver, "c");
  EXPECT_EQ(server.asked().size(), 4U);
}

TEST_F(ResolverTest, an_address_needs_no_lookup_and_the_system_knows_localhost) {
  Resolver resolver(context.get_executor(), clock, {});
  EXPECT_EQ(look_up(resolver, "192.0.2.7"), "192.0.2.7");
  const std::string found = look_up(resolver, "localhost");
  EXPECT_TRUE(found == "127.0.0.1" || found == "::1") << found;
}

}  // namespace
}  // namespace sluice
