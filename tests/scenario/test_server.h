// A server with a few routes on a free port, with time limits short enough for tests.
#pragma once

#include "http/server/server.h"
#include "http/sse/sse.h"
#include "runtime/system_clock.h"
#include "tests/scenario/raw_client.h"
#include "tests/support/manual_clock.h"

namespace sluice::test {

// Limits that no test means to reach are long: any thread may pause for seconds.
http::ServerConfig quick_config();
// Without heartbeats.
http::SseConfig quiet_sse();

// GET /hello, /alive (always served), /large, /wait (until cancelled), /pause (for a moment), /fail, /down, /pieces,
// /broken_pieces (whose second one fails), /whoami, /items/{id:int}, /tagged, /events/{topic}, /connections; POST
// /echo, /guarded (likewise, 401 on the head unless it has "Token: good"), /count (streamed body), /count_slowly
// (likewise, with a pause behind the first piece), /count_and_wait and /count_late (likewise, and until cancelled),
// /pause; PUT /items/{id:int}.
class TestServer : private http::SseOwner {
 public:
  // `clock` outlives the server; the machine's where there is none.
  explicit TestServer(http::ServerConfig config = quick_config(), unsigned threads = 1,
                      http::SseConfig sse = quiet_sse(), Clock* clock = nullptr);
  ~TestServer() override;

  uint16_t port() const { return server_.port(); }
  http::Server& server() { return server_; }
  http::SseHub& hub() { return hub_; }
  // How many requests for /count_slowly have had their pause.
  int pauses() const { return pauses_; }
  // Runs `work` on the first I/O thread and waits for its end.
  void on_thread(const std::function<void()>& work);
  // Moves the clock of the server, and returns when its only thread has done all due work.
  void advance(ManualClock& clock, Duration duration);
  // A client whose first bytes are there before the server's only thread accepts it: a limit that runs from then on
  // cannot pass before they come.
  std::unique_ptr<RawClient> connect_with(std::string_view bytes);

 private:
  http::Router make_router();
  // Subscribers of the topic "resumed" get the last id they saw.
  void on_open(std::string_view topic, std::string_view subscriber, std::string_view last_event_id) override;
  void on_close(std::string_view, std::string_view) override {}

  std::atomic<int> pauses_ = 0;
  SystemClock real_;
  Clock& clock_;
  IoThreads threads_;
  http::SseHub hub_;
  http::Server server_;
};

}  // namespace sluice::test
