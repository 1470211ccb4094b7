// Event streams of imports: PROGRESS while one goes on, DONE at its end.
//
// A new stream gets the current state at once, then every change, and ends after DONE. Changes by this process are sent
// at once; changes by others are found by polling the row. So any instance can serve the stream, and a failed poll
// costs time, never an event: each event has the whole state.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "http/sse/sse.h"
#include "links/import_news.h"
#include "links/import_store.h"
#include "messaging/bell.h"
#include "runtime/task_scope.h"

namespace sluice::api {

// Safe to share between threads. Outlives the streams it opened.
class ImportStream : public links::ImportNews, private http::SseOwner {
 public:
  // `hub`, which all outlive, is where its streams are; it looks from `executor`.
  ImportStream(links::ImportStore& store, http::SseHub& hub, Clock& clock, Random& random, const Executor& executor,
               Duration look_every);

  // The answer that makes the connection of `request` a stream of the import.
  http::Response open(const http::Request& request, const links::Import& import);
  void changed(const std::vector<links::Import>& imports) override;

  // On the executor, until the scope is closed.
  void start(TaskScope& scope);

 private:
  struct Watched {
    size_t streams = 0;
    std::vector<std::string> newcomers{};  // have been told nothing yet
    bool has_news = true;
    bool ended = false;
    Instant look_at{};
    std::string told{};  // the state that all but new subscribers have received
  };

  void on_open(std::string_view topic, std::string_view subscriber, std::string_view last_event_id) override;
  void on_close(std::string_view topic, std::string_view subscriber) override;

  Task<> round();
  Instant next_look();
  // Topics that are due; sets their next time.
  std::vector<std::string> due_topics();
  Task<> look(std::vector<std::string> topics);
  void tell(const std::string& topic, const links::Import& import);

  links::ImportStore& store_;
  http::SseHub& hub_;
  Clock& clock_;
  Random& random_;
  const Duration look_every_;
  std::atomic<uint64_t> opened_ = 0;
  messaging::Bell bell_;
  messaging::Bell::Listener listener_;
  std::mutex mutex_;
  std::map<std::string, Watched, std::less<>> watched_;  // by topic
};

}  // namespace sluice::api
