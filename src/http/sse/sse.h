// Server-sent events: many clients that listen, each to one topic.
//
//   router.add(Method::get, "/api/v1/queue/{event:uuid}/stream", [&hub](Request& request) { return stream(hub,
//   request); });
//   ... co_return hub.subscribe(request, topic, user_id, &owner);
//   hub.publish(topic, {.id = "42", .type = "POSITION", .data = R"({"position":7})"});
//
// An event is formatted once and the same bytes go to all subscribers. A subscriber costs well under a kilobyte and no
// coroutine. One that does not read is dropped when too much waits for it; a periodic comment keeps proxies from
// closing idle streams. A reconnecting client sends Last-Event-ID, which is passed to its owner.
//
// Publishing only puts an event into the bounded mailboxes of the I/O threads. If one is full, its subscribers that
// would miss the event get RECONNECT and are closed before anything later reaches them: a stream may end early, but it
// never has a gap.
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
  size_t max_pending = 32 << 20;  // bytes waiting in a thread; a subscriber that would miss an event must reconnect
  Duration retry = 2s;            // how long browsers wait before they come back

  static void describe(config::Section<SseConfig>& section);
};

struct SseEvent {
  std::string id{};    // sent back as Last-Event-ID; empty means none
  std::string type{};  // "message" where empty
  std::string data{};
};

// The event as it goes over the wire. Line breaks in id and type are dropped, in data they are kept.
SharedBytes format_event(const SseEvent& event);

// Is told about its subscribers, on their I/O threads.
class SseOwner {
 public:
  virtual ~SseOwner() = default;
  // From here on no published event is missed. `last_event_id` is the last event the client saw; empty at first.
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
  // subscriber, on any thread, gets the event REPLACED and is closed; an empty `subscriber` replaces none. `owner` may
  // be null. On an I/O thread, from a handler.
  Response subscribe(const Request& request, std::string topic, std::string subscriber, SseOwner* owner = nullptr);

  // Never waits and never fails; see above for events that arrive too fast.
  void publish(const std::string& topic, const SseEvent& event);
  // Only to one of the topic's subscribers.
  void publish_to(const std::string& topic, const std::string& subscriber, const SseEvent& event);
  // The last event of the topic: its subscribers get it and are closed.
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
