// The server that bench/sse measures: one thread with an SSE hub, driven by lines on standard input.
//
//   wait N     answers when N subscribers are there
//   memory     bytes on the heap, and resident bytes
//   hub        microseconds to send one event to all by the hub
//   bare       microseconds to send the same bytes over the same sockets by a loop of send()
#include <condition_variable>
#include <cstdio>
#include <fstream>
#include <future>
#include <iostream>
#include <mutex>

#include <malloc.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"
#include "http/server/server.h"
#include "http/sse/sse.h"
#include "runtime/log.h"
#include "runtime/system_clock.h"

namespace {

using namespace sluice;
using namespace std::chrono_literals;

const http::SseEvent event{
    .id = "12345", .type = "POSITION", .data = R"({"position":1234,"ahead":1233,"wait":"PT2M"})"};

// How many subscribers there are; safe from any thread.
class Attendance : public http::SseOwner {
 public:
  void on_open(std::string_view, std::string_view, std::string_view) override { change(1); }
  void on_close(std::string_view, std::string_view) override { change(-1); }

  void wait_for(long wanted) {
    std::unique_lock lock(mutex_);
    const bool there = changed_.wait_for(lock, 5min, [&] { return present_ == wanted; });
    check_that(there, "waited for {} subscribers, there are {}", wanted, present_);
  }

 private:
  void change(long by) {
    const std::lock_guard lock(mutex_);
    present_ += by;
    changed_.notify_one();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  long present_ = 0;
};

Task<http::Response> stream(http::SseHub& hub, Attendance& attendance, http::Request& request) {
  co_return hub.subscribe(request, "line", std::string(request.query), &attendance);
}

long resident() {
  std::ifstream file("/proc/self/statm");
  long pages = 0;
  file >> pages >> pages;
  return pages * ::sysconf(_SC_PAGESIZE);
}

std::vector<int> connected_sockets() {
  std::vector<int> found;
  for (int descriptor = 0; descriptor < 65'536; ++descriptor) {
    sockaddr_storage peer;
    socklen_t size = sizeof peer;
    if (::getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &size) == 0) found.push_back(descriptor);
  }
  return found;
}

// Runs `work` on the I/O thread and waits for it and its posts.
template <class Work>
double microseconds(IoThreads& threads, Work work) {
  std::promise<double> done;
  asio::post(threads.context(0), [&] {
    const auto began = std::chrono::steady_clock::now();
    work();
    asio::post(threads.context(0), [&done, began] {
      done.set_value(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - began).count());
    });
  });
  return done.get_future().get();
}

}  // namespace

int main() {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);

  SystemClock clock;
  log::start({.level = log::Level::error, .clock = &clock});
  IoThreads threads(1);
  Attendance attendance;
  http::SseHub hub({.heartbeat = 1h}, threads, clock);
  http::Router router;
  router.add(http::Method::get, "/stream", [&](http::Request& request) { return stream(hub, attendance, request); });
  http::ServerConfig config;
  config.port = 0;
  config.max_connections = 100'000;
  http::Server server(config, std::move(router), threads, clock);
  threads.start();
  server.start();
  std::cout << server.port() << std::endl;

  const http::SharedBytes frame = http::format_event(event);
  std::vector<int> sockets;
  std::string command;
  while (std::cin >> command) {
    if (command == "wait") {
      long wanted = 0;
      std::cin >> wanted;
      attendance.wait_for(wanted);
      microseconds(threads, [] {});  // subscribers that left are gone completely
      sockets = connected_sockets();
      std::cout << sockets.size() << std::endl;
    } else if (command == "memory") {
      std::cout << mallinfo2().uordblks << " " << resident() << std::endl;
    } else if (command == "hub") {
      std::cout << microseconds(threads, [&] { hub.publish("line", event); }) << std::endl;
    } else {
      const auto loop = [&] {
        for (const int socket : sockets) ::send(socket, frame->data(), frame->size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      };
      std::cout << microseconds(threads, loop) << std::endl;
    }
  }
  hub.drain();
  server.drain(1s);
  threads.stop();
  log::stop();
}
