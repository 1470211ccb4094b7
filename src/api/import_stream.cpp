#include "api/import_stream.h"

#include <algorithm>

#include "api/import_view.h"
#include "runtime/retry.h"

namespace sluice::api {
namespace {

using links::Import;
using links::ImportId;

// Links end by the hundred; their news are told together.
constexpr Duration pace = 50ms;
constexpr Duration idle_wait = 1min;
constexpr size_t id_length = 36;

// Holds both ids, so that a stream needs no record before it is open.
std::string topic_of(const Import& import) {
  return import.owner.text() + import.id.text();
}

}  // namespace

ImportStream::ImportStream(links::ImportStore& store, http::SseHub& hub, Clock& clock, Random& random,
                           const Executor& executor, Duration look_every)
    : store_(store),
      hub_(hub),
      clock_(clock),
      random_(random),
      look_every_(look_every),
      listener_(bell_.listen(executor)) {}

http::Response ImportStream::open(const http::Request& request, const Import& import) {
  const uint64_t number = opened_.fetch_add(1);
  return hub_.subscribe(request, topic_of(import), std::to_string(number), this);
}

void ImportStream::changed(const std::vector<Import>& imports) {
  bool watched = false;
  {
    const std::lock_guard lock(mutex_);
    if (watched_.empty()) return;
    for (const Import& import : imports) {
      const auto found = watched_.find(topic_of(import));
      if (found == watched_.end()) continue;
      found->second.has_news = watched = true;
    }
  }
  if (watched) bell_.ring();
}

void ImportStream::on_open(std::string_view topic, std::string_view subscriber, std::string_view) {
  {
    const std::lock_guard lock(mutex_);
    Watched& watched = watched_[std::string(topic)];
    ++watched.streams;
    watched.newcomers.emplace_back(subscriber);
    watched.has_news = true;
  }
  bell_.ring();
}

void ImportStream::on_close(std::string_view topic, std::string_view subscriber) {
  const std::lock_guard lock(mutex_);
  const auto found = watched_.find(topic);
  if (--found->second.streams == 0) {
    watched_.erase(found);
  } else {
    std::erase(found->second.newcomers, subscriber);
  }
}

void ImportStream::start(TaskScope& scope) {
  scope.spawn("import streams", run_forever("import streams", clock_, random_, [this] { return round(); }));
}

Task<> ImportStream::round() {
  const Instant when = next_look();
  co_await listener_.wait_until(clock_, when);
  std::vector<std::string> due = due_topics();
  if (!due.empty()) co_await look(std::move(due));
  co_await clock_.sleep_for(pace);
}

Instant ImportStream::next_look() {
  Instant next = clock_.now() + idle_wait;
  const std::lock_guard lock(mutex_);
  for (const auto& [topic, watched] : watched_) {
    if (!watched.ended) next = std::min(next, watched.look_at);
  }
  return next;
}

std::vector<std::string> ImportStream::due_topics() {
  const Instant now = clock_.now();
  std::vector<std::string> due;
  const std::lock_guard lock(mutex_);
  for (auto& [topic, watched] : watched_) {
    if (!watched.has_news && (watched.ended || now < watched.look_at)) continue;
    watched.has_news = false;
    watched.look_at = now + look_every_;
    due.push_back(topic);
  }
  return due;
}

Task<> ImportStream::look(std::vector<std::string> topics) {
  std::vector<ImportId> ids;
  for (const std::string& topic : topics) ids.push_back(*ImportId::parse(std::string_view(topic).substr(id_length)));
  const std::vector<Import> imports = co_await store_.find_all(std::move(ids));
  for (const Import& import : imports) tell(topic_of(import), import);
}

void ImportStream::tell(const std::string& topic, const Import& import) {
  std::string state = json::encode(import);
  const std::lock_guard lock(mutex_);
  const auto found = watched_.find(topic);
  if (found == watched_.end()) return;
  Watched& watched = found->second;
  const std::vector<std::string> newcomers = std::exchange(watched.newcomers, {});
  watched.ended = import.ended();
  if (watched.ended) return hub_.end(topic, {.type = "DONE", .data = std::move(state)});
  const http::SseEvent event{.type = "PROGRESS", .data = state};
  if (state != watched.told) {
    hub_.publish(topic, event);
    watched.told = std::move(state);
  } else {
    for (const std::string& newcomer : newcomers) hub_.publish_to(topic, newcomer, event);
  }
}

}  // namespace sluice::api
