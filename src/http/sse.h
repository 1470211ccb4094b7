// Server-sent events: many clients that listen, each to one topic.
//
//   router.add(Method::get, "/api/v1/queue/{event:uuid}/stream", [&hub](Request& request) { return stream(hub,
//   request); });
//   ... co_return hub.subscribe(request, topic, user_id, &owner);
//   hub.publish(topic, {.id = "42", .type = "POSITION", .data = R"({"position":7})"});
//
// An event is formatted once and the same bytes go to everyone. A subscriber costs well under a kilobyte and no
// coroutine. One that does not read is dropped when too much waits for it; a comment now and then keeps proxies from
// closing what is idle. A client that comes back sends Last-Event-ID, which its owner gets to see.
//
// Publishing only puts an event into the mailboxes of the I/O threads, which are bounded. Where one is full, those of
// its subscribers who would miss the event get RECONNECT and are closed instead, before anything later reaches them: a
// stream may end early, but it never has a gap.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "http/message.h"
#include "runtime/clock.h"
#include "runtime/config_fwd.h"
#include "runtime/io_threads.h"

namespace sluice::http {

struct SseConfig {
  Duration heartbeat = 15s;
  size_t max_unsent = 64 << 10;   // bytes; a subscriber with more is dropped
  size_t max_pending = 32 << 20;  // bytes a thread has yet to look at; who would miss an event must reconnect
  Duration retry = 2s;            // how long browsers wait before they come back

  static void describe(config::Section<SseConfig>& section);
};

struct SseEvent {
  std::string id{};    // what comes back as Last-Event-ID; none where empty
  std::string type{};  // "message" where empty
  std::string data{};
};

// The event as it goes over the wire. Line breaks in id and type are dropped, in data they are kept.
SharedBytes format_event(const SseEvent& event);

// Is told about its subscribers, on their I/O threads.
class SseOwner {
 public:
  virtual ~SseOwner() = default;
  // From here on nothing that is published is missed. `last_event_id` is what the client saw last; empty at first.
  virtual void on_open(std::string_view topic, std::string_view subscriber, std::string_view last_event_id) = 0;
  virtual void on_close(std::string_view topic, std::string_view subscriber) = 0;
};

// Any thread may publish; order is kept per publishing thread. Made before the server, drained before it.
class SseHub {
 public:
  SseHub(SseConfig config, IoThreads& threads, Clock& clock);
  // Must have been drained, or never had a subscriber.
  ~SseHub();

  // The answer to `request` that makes its connection a subscriber of `topic`. An earlier one of the same topic and
  // subscriber, on any thread, gets the event REPLACED and is closed; an empty `subscriber` replaces nobody. `owner`
  // may be null. On an I/O thread, from a handler.
  Response subscribe(const Request& request, std::string topic, std::string subscriber, SseOwner* owner = nullptr);

  // Never waits and never fails; see above for what happens where events come too fast.
  void publish(const std::string& topic, const SseEvent& event);
  // Only to one of the topic's subscribers.
  void publish_to(const std::string& topic, const std::string& subscriber, const SseEvent& event);
  // The last event of the topic: whoever listens now gets it and is closed.
  void end(const std::string& topic, const SseEvent& event);

  size_t connections() const;

  // Sends everyone the event RECONNECT and closes; later subscribers are refused. From outside the I/O threads.
  void drain();

 private:
  class Branch;  // a thread's part
  Branch& here();
  void send(const std::string& topic, const std::string& subscriber, const SseEvent& event, bool last);

  SseConfig config_;
  IoThreads& threads_;
  std::atomic<uint64_t> generation_{0};
  std::atomic<bool> draining_{false};
  std::vector<std::unique_ptr<Branch>> branches_;
};

}  // namespace sluice::http
