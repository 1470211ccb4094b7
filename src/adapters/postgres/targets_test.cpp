#include "adapters/postgres/targets.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapters/postgres/sql_failure.h"

namespace sluice::postgres {
namespace {

using testing::ElementsAre;

// As "host address port", and the session where it matters.
std::vector<std::string> targets(const std::string& url) {
  asio::io_context io;
  std::vector<Target> found;
  std::exception_ptr failed;
  asio::co_spawn(io, find_targets(url), [&](std::exception_ptr error, std::vector<Target> result) {
    failed = std::move(error);
    found = std::move(result);
  });
  io.run();
  if (failed) std::rethrow_exception(failed);
  std::vector<std::string> texts;
  for (const Target& target : found) {
    texts.push_back(target.host + " " + target.address + " " + target.port);
    if (!target.session.empty()) texts.back() += " " + target.session;
  }
  return texts;
}

TEST(Targets, an_address_is_its_own) {
  EXPECT_THAT(targets("postgresql://192.0.2.1:6000/sluice"), ElementsAre("192.0.2.1 192.0.2.1 6000"));
  EXPECT_THAT(targets("postgresql://[2001:db8::1]:6000/sluice"), ElementsAre("2001:db8::1 2001:db8::1 6000"));
}

TEST(Targets, a_name_keeps_its_place_beside_its_address) {
  EXPECT_THAT(targets("postgresql://localhost:6000/sluice"), testing::Contains("localhost 127.0.0.1 6000"));
}

TEST(Targets, several_hosts_come_in_their_order) {
  EXPECT_THAT(targets("postgresql://192.0.2.1:6000,192.0.2.2:6001/sluice"),
              ElementsAre("192.0.2.1 192.0.2.1 6000", "192.0.2.2 192.0.2.2 6001"));
  EXPECT_THAT(targets("postgresql://192.0.2.1,192.0.2.2/sluice?port=6000"),
              ElementsAre("192.0.2.1 192.0.2.1 6000", "192.0.2.2 192.0.2.2 6000"));
}

TEST(Targets, a_preferred_standby_is_looked_for_at_all_hosts_before_any_other_will_do) {
  EXPECT_THAT(targets("postgresql://192.0.2.1:6000,192.0.2.2:6001/sluice?target_session_attrs=prefer-standby"),
              ElementsAre("192.0.2.1 192.0.2.1 6000 standby", "192.0.2.2 192.0.2.2 6001 standby",
                          "192.0.2.1 192.0.2.1 6000 any", "192.0.2.2 192.0.2.2 6001 any"));
}

TEST(Targets, sockets_of_this_machine_have_no_address) {
  EXPECT_THAT(targets("postgresql:///sluice"), ElementsAre("  "));
  EXPECT_THAT(targets("postgresql://%2Fvar%2Frun:6000/sluice"), ElementsAre("/var/run  6000"));
}

TEST(Targets, addresses_in_the_url_are_left_as_they_are) {
  EXPECT_THAT(targets("postgresql://db.example:6000/sluice?hostaddr=192.0.2.1"), ElementsAre("  "));
}

TEST(Targets, what_is_no_url_is_refused_with_its_reason) {
  EXPECT_THROW(targets("postgresql://host:6000:7000/sluice?nonsense=1"), ConnectionLost);
}

}  // namespace
}  // namespace sluice::postgres
