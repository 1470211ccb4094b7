#include "adapters/sql/driver/postgres_format.h"

#include <gtest/gtest.h>

namespace sluice::sql::postgres_format {
namespace {

struct Read {
  uint32_t type;
  std::string bytes;

  bool operator==(const Read&) const = default;
};

Read encoded(const Value& value) {
  uint64_t number = 0;
  const Encoded found = encode(value, number);
  EXPECT_NE(found.data, nullptr);
  return {found.type, std::string(found.data, found.size)};
}

TEST(PostgresFormat, values_have_their_type_and_numbers_are_big_endian) {
  using namespace std::string_literals;
  EXPECT_EQ(encoded(true), (Read{boolean, "\1"}));
  EXPECT_EQ(encoded(int64_t{258}), (Read{int8, "\0\0\0\0\0\0\1\2"s}));
  EXPECT_EQ(encoded(1.0), (Read{float8, "\x3f\xf0\0\0\0\0\0\0"s}));
  EXPECT_EQ(encoded("a"s), (Read{text, "a"}));
  EXPECT_EQ(encoded(Bytes{0, 255}), (Read{bytea, "\0\xff"s}));
  EXPECT_EQ(encoded(epoch + Duration{1}), (Read{timestamptz, "\0\0\0\0\0\0\0\1"s}));
}

TEST(PostgresFormat, only_null_has_no_bytes) {
  uint64_t number = 0;
  EXPECT_EQ(encode(Null{}, number).data, nullptr);
  EXPECT_EQ(encoded(std::string()).bytes, "");
  EXPECT_EQ(encoded(Bytes{}).bytes, "");
}

TEST(PostgresFormat, an_array_has_the_length_of_each_element_and_none_of_null) {
  using namespace std::string_literals;
  const std::array elements{Encoded{text, "ab", 2}, Encoded{}};
  EXPECT_EQ(encode_array(text, elements),
            "\0\0\0\1\0\0\0\1\0\0\0\x19\0\0\0\2\0\0\0\1"s
            "\0\0\0\2ab\xff\xff\xff\xff"s);
}

}  // namespace
}  // namespace sluice::sql::postgres_format
