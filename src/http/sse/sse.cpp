#include "http/sse/sse.h"

#include <future>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>

#include "base/check.h"
#include "http/problem.h"
#include "http/sse/sse_branch.h"

namespace sluice::http {
namespace {

void append_line(std::string& out, std::string_view field, std::string_view value) {
  out.append(field).append(": ");
  for (const char c : value) {
    if (c != '\r' && c != '\n' && c != '\0') out += c;
  }
  out += '\n';
}

}  // namespace

SharedBytes format_event(const SseEvent& event) {
  auto out = std::make_shared<std::string>();
  out->reserve(event.id.size() + event.type.size() + event.data.size() + 32);
  if (!event.id.empty()) append_line(*out, "id", event.id);
  if (!event.type.empty()) append_line(*out, "event", event.type);
  std::string_view rest = event.data;
  while (true) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    append_line(*out, "data", rest.substr(0, end));
    if (end == rest.size()) break;
    rest.remove_prefix(end + 1);
  }
  *out += '\n';
  return out;
}

SseHub::SseHub(SseConfig config, IoThreads& threads, Clock& clock) : config_(config), threads_(threads) {
  for (size_t i = 0; i < threads.size(); ++i) {
    branches_.push_back(std::make_unique<Branch>(config_, threads.context(i), clock));
  }
}

SseHub::~SseHub() = default;

SseHub::Branch& SseHub::here() {
  for (size_t i = 0; i < branches_.size(); ++i) {
    if (threads_.context(i).get_executor().running_in_this_thread()) return *branches_[i];
  }
  check(false, "an event stream was opened outside the I/O threads");
  std::abort();
}

Response SseHub::subscribe(const Request& request, std::string topic, std::string subscriber, SseOwner* owner) {
  if (draining_) {
    const Problem problem{
        .status = 503, .code = "shutting-down", .title = "The server is shutting down.", .retry_after = config_.retry};
    return problem.to_response(request.request_id);
  }
  Response response = Response::empty(200);
  response.headers.add("Content-Type", "text/event-stream");
  response.headers.add("Cache-Control", "no-store");
  response.headers.add("X-Accel-Buffering", "no");
  response.body =
      Takeover([this, topic = std::move(topic), subscriber = std::move(subscriber), owner,
                last_event_id = std::string(request.header("Last-Event-ID"))](std::shared_ptr<Outlet> outlet) mutable {
        if (draining_) return outlet->close();  // since the head was written
        Branch& branch = here();
        const uint64_t generation = generation_.fetch_add(1) + 1;
        for (const auto& other : branches_) {
          if (subscriber.empty() || other.get() == &branch || other->size() == 0) continue;
          other->post({.topic = topic, .subscriber = subscriber, .frame = nullptr, .generation = generation});
        }
        branch.open({std::move(topic), std::move(subscriber), owner, generation}, std::move(outlet), last_event_id);
      });
  return response;
}

void SseHub::publish(const std::string& topic, const SseEvent& event) {
  send(topic, "", event, false);
}

void SseHub::publish_to(const std::string& topic, const std::string& subscriber, const SseEvent& event) {
  send(topic, subscriber, event, false);
}

void SseHub::end(const std::string& topic, const SseEvent& event) {
  send(topic, "", event, true);
}

void SseHub::send(const std::string& topic, const std::string& subscriber, const SseEvent& event, bool last) {
  const SharedBytes frame = format_event(event);
  for (const auto& branch : branches_) {
    if (branch->size() > 0) branch->post({.topic = topic, .subscriber = subscriber, .frame = frame, .last = last});
  }
}

size_t SseHub::connections() const {
  size_t sum = 0;
  for (const auto& branch : branches_) sum += branch->size();
  return sum;
}

void SseHub::drain() {
  draining_ = true;
  std::vector<std::future<void>> drained;
  for (size_t i = 0; i < branches_.size(); ++i) {
    drained.push_back(asio::co_spawn(threads_.context(i), branches_[i]->drain(), asio::use_future));
  }
  for (auto& future : drained) future.get();
}

}  // namespace sluice::http
