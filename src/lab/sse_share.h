// Event streams, held open and listened to.
#pragma once

#include <boost/asio/steady_timer.hpp>

#include "lab/load_share.h"

namespace sluice::lab {

// Counts the events of a stream, whose pieces may end anywhere (HTML standard, section 9.2).
class SseReader {
 public:
  struct Seen {
    unsigned events = 0;
    unsigned comments = 0;
  };
  Seen read(std::string_view piece);
  // The id of the last event that had one; a reconnecting client sends it.
  const std::string& last_id() const { return last_id_; }

 private:
  void end_line(Seen& seen);

  std::string line_;
  bool has_data_ = false;
  bool after_return_ = false;  // a line feed right behind a carriage return belongs to it
  std::string id_;
  std::string last_id_;
};

class SseShare : public LoadShare {
 public:
  SseShare(ShareSetup setup, Duration reconnect);
  ~SseShare() override;

  void start(SteadyTime start) override { end_ = start + setup_.duration; }
  bool tick(SteadyTime now) override;

 private:
  class Stream;

  ShareSetup setup_;
  Duration reconnect_;
  SteadyTime end_;
  std::vector<std::unique_ptr<Stream>> streams_;
};

}  // namespace sluice::lab
