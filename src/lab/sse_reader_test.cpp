#include <gtest/gtest.h>

#include "lab/sse_share.h"

namespace sluice::lab {
namespace {

TEST(SseReader, counts_events_and_comments_however_they_are_cut) {
  const std::string_view stream =
      ": hello\n\ndata: a\nid: 7\n\nevent: x\r\ndata: b\r\ndata: c\r\n\r\nid: 9\n\ndata\r\rdata: cut off";
  for (const size_t piece : {size_t{1}, size_t{3}, stream.size()}) {
    SseReader reader;
    SseReader::Seen all;
    for (size_t at = 0; at < stream.size(); at += piece) {
      const SseReader::Seen seen = reader.read(stream.substr(at, piece));
      all.events += seen.events;
      all.comments += seen.comments;
    }
    EXPECT_EQ(all.events, 3U) << "in pieces of " << piece;
    EXPECT_EQ(all.comments, 1U);
    EXPECT_EQ(reader.last_id(), "9");
  }
}

}  // namespace
}  // namespace sluice::lab
