// Requests and answers, in an open or a closed loop.
#pragma once

#include <boost/asio/steady_timer.hpp>

#include "lab/load_share.h"

namespace sluice::lab {

class RequestShare : public LoadShare {
 public:
  // The plan's start is told by `start`.
  RequestShare(ShareSetup setup, Arrivals::Plan plan);
  ~RequestShare() override;

  void connect() override;
  void start(SteadyTime start) override;
  bool tick(SteadyTime now) override;

 private:
  class Connection;

  // Starts due requests on free connections, and runs again when the next is due.
  void pump();
  Connection* free_connection();
  void begin(Connection& connection, SteadyTime intended, SteadyTime now);
  void ended(Connection& connection);
  void give_up(SteadyTime now, bool all);
  void count_unsent(SteadyTime now);
  void note_backlog(SteadyTime now);

  ShareSetup setup_;
  Arrivals::Plan plan_;
  Arrivals arrivals_;
  boost::asio::steady_timer timer_;
  bool timer_armed_ = false;
  bool blocked_ = false;  // requests are due that found no free connection
  bool closed_ = false;   // the end was reached and counted
  size_t rotation_ = 0;
  size_t active_ = 0;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<Connection*> free_;
  std::vector<Connection*> resting_;  // could not connect; tried again at the next tick
};

}  // namespace sluice::lab
