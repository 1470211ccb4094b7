// Engines that are not available on a machine: reported loudly, and a failure under CI=true.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace sluice::test {

inline bool in_ci() {
  const char* ci = std::getenv("CI");
  return ci != nullptr && std::string_view(ci) == "true";
}

}  // namespace sluice::test

// In a test's body or SetUp: SLUICE_NEEDS(PostgresServer::why_missing(18));
#define SLUICE_NEEDS(why_missing)                                        \
  if (const std::optional<std::string> missing = (why_missing)) {        \
    if (::sluice::test::in_ci()) FAIL() << *missing;                     \
    GTEST_SKIP() << "\n*** NOT TESTED ***\n" << *missing << "\n*** ***"; \
  }                                                                      \
  static_assert(true)
