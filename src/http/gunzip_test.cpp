#include "http/gunzip.h"

#include <gtest/gtest.h>
#include <zlib.h>

namespace sluice::http {
namespace {

std::string gzip(std::string_view text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

TEST(Gunzip, decodes_whatever_the_pieces) {
  const std::string text = std::string(100'000, 'a') + "end";
  const std::string compressed = gzip(text);
  for (const size_t piece : {size_t{1}, size_t{7}, compressed.size()}) {
    Gunzip gunzip;
    std::string out;
    auto state = Gunzip::State::more;
    for (size_t at = 0; at < compressed.size(); at += piece) {
      state = gunzip.write(std::string_view(compressed).substr(at, piece), out, 1 << 20);
    }
    EXPECT_EQ(state, Gunzip::State::end);
    EXPECT_EQ(out, text);
  }
}

TEST(Gunzip, takes_members_in_a_row_for_one_body) {
  Gunzip gunzip;
  std::string out;
  EXPECT_EQ(gunzip.write(gzip("one ") + gzip("two"), out, 100), Gunzip::State::end);
  EXPECT_EQ(out, "one two");
}

TEST(Gunzip, stops_soon_after_the_limit) {
  Gunzip gunzip;
  std::string out;
  const auto state = gunzip.write(gzip(std::string(50'000'000, 'x')), out, 1000);
  EXPECT_EQ(state, Gunzip::State::more);
  EXPECT_GT(out.size(), 1000U);
  EXPECT_LT(out.size(), 100'000U);
}

TEST(Gunzip, refuses_what_is_no_gzip) {
  Gunzip plain;
  std::string out;
  EXPECT_EQ(plain.write("<html>", out, 100), Gunzip::State::bad);
  Gunzip trailing;
  EXPECT_EQ(trailing.write(gzip("one") + "junk", out, 100), Gunzip::State::bad);
}

TEST(Gunzip, a_body_cut_off_is_not_at_its_end) {
  Gunzip gunzip;
  std::string out;
  const std::string compressed = gzip("hello hello hello");
  EXPECT_EQ(gunzip.write(std::string_view(compressed).substr(0, compressed.size() - 3), out, 100), Gunzip::State::more);
}

}  // namespace
}  // namespace sluice::http
