#include "http/server/path.h"

#include <gtest/gtest.h>

namespace sluice::http {
namespace {

std::string decoded(std::string_view raw) {
  std::string out;
  return decode_path(raw, out) ? out : "refused";
}

TEST(Path, escapes_are_decoded_once) {
  EXPECT_EQ(decoded("/a%20b/%ED%95%9C"), "/a b/한");
  EXPECT_EQ(decoded("/%2541"), "/%41");
  EXPECT_EQ(decoded("/"), "/");
  EXPECT_EQ(decoded("/..."), "/...");
}

TEST(Path, what_could_be_read_differently_is_refused) {
  for (const char* raw :
       {"",      "a",     "//",    "/a//b", "/a/", "/.",   "/..",  "/a/../b", "/%2e%2E/a",  "/a%2Fb", "/a%5Cb",
        "/a\\b", "/a%00", "/a%0a", "/%",    "/%4", "/%4g", "/%ff", "/%c3%28", "/%ed%a0%80", "/%7f"}) {
    EXPECT_EQ(decoded(raw), "refused") << raw;
  }
}

TEST(Path, targets_come_in_two_forms) {
  EXPECT_EQ(split_target("/a?b?c")->query, "b?c");
  EXPECT_EQ(split_target("http://host:80/a?b")->path, "/a");
  EXPECT_EQ(split_target("HTTPS://host")->path, "/");
  EXPECT_EQ(split_target("http://host?x=/y")->query, "x=/y");
  for (const char* target : {"", "*", "a", "host:443", "ftp://host/a", "http:///a", "/a#b"}) {
    EXPECT_FALSE(split_target(target)) << target;
  }
}

}  // namespace
}  // namespace sluice::http
