#include "tests/scenario/test_server.h"

#include <future>

#include <boost/asio/post.hpp>

#include "http/gzip.h"
#include "http/server/server_metrics.h"
#include "runtime/errors.h"

namespace sluice::test {
namespace {

using http::Method;
using http::Request;
using http::Response;

class Pieces : public http::BodySource {
 public:
  Task<std::optional<std::string>> next() override {
    if (given_ == 3) co_return std::nullopt;
    ++given_;
    co_return "piece " + std::to_string(given_) + "\n";
  }

 private:
  int given_ = 0;
};

// Breaks off, and does not say why.
class BrokenPieces : public http::BodySource {
 public:
  Task<std::optional<std::string>> next() override {
    if (given_) throw std::runtime_error("");
    given_ = true;
    co_return "piece 1\n";
  }

 private:
  bool given_ = false;
};

Task<Response> hello(Request&) {
  co_return Response::text(200, "hello");
}

Task<Response> large(Request&) {
  co_return Response::json(200, "[" + std::string(200'000, '1') + "]");
}

// Brings a compressed body along, whose text differs so that it is seen which one was sent.
Task<Response> precompressed(Request&) {
  static const auto gzip = std::make_shared<const std::string>(http::Gzip().compress("compressed before"));
  Response response = Response::text(200, std::string(5000, 'x'));
  response.headers.add("ETag", "\"tag\"");
  response.gzip = gzip;
  co_return response;
}

Task<Response> shared(Request&) {
  static const auto bytes = std::make_shared<const std::string>(3'000'000, 'x');
  Response response = Response::text(200, "", "application/octet-stream");
  response.body = bytes;
  co_return response;
}

Task<Response> wait(Clock& clock) {
  co_await clock.sleep_for(1min);
  co_return Response::text(200, "too late");
}

Task<Response> pause(Clock& clock) {
  co_await clock.sleep_for(200ms);
  co_return Response::text(200, "rested");
}

Task<Response> count_and_wait(Clock& clock, Request& request) {
  while (true) {
    const auto piece = co_await request.stream->next();
    if (!piece) break;
  }
  co_return co_await wait(clock);
}

Task<Response> fail(Request&) {
  throw std::runtime_error("a secret");
  co_return Response::empty(200);
}

Task<Response> down(Request&) {
  throw EngineUnavailable("postgres", "a secret", EngineUnavailable::Retryable::yes, 3s);
  co_return Response::empty(200);
}

Task<Response> pieces(Request&) {
  Response response = Response::text(200, "");
  response.body = std::make_unique<Pieces>();
  co_return response;
}

Task<Response> broken_pieces(Request&) {
  Response response = Response::text(200, "");
  response.body = std::make_unique<BrokenPieces>();
  co_return response;
}

Task<Response> whoami(Request& request) {
  co_return Response::text(200, request.client_address + (request.secure ? " https " : " http ") + request.request_id +
                                    " " + request.traceparent);
}

Task<Response> item(Request& request) {
  co_return Response::text(200, request.param("id") + " " + request.query_param("q").value_or("-"));
}

Task<Response> tagged(Request&) {
  co_return Response::json(200, R"({"a":1})");
}

Task<Response> echo(Request& request) {
  co_return Response::json(200, std::move(request.body));
}

Task<Response> count(Request& request) {
  size_t bytes = 0;
  while (true) {
    const auto piece = co_await request.stream->next();
    if (!piece) break;
    bytes += piece->size();
  }
  co_return Response::text(200, std::to_string(bytes));
}

Task<Response> guarded(Request& request) {
  if (request.header("Token") != "good") co_return Response::empty(401);
  if (request.body_pending) co_await request.connection->receive_body();
  co_return Response::json(200, std::move(request.body));
}

Task<Response> count_slowly(Clock& clock, std::atomic<int>& pauses, Request& request) {
  const auto first = co_await request.stream->next();
  co_await clock.sleep_for(600ms);
  ++pauses;
  const Response rest = co_await count(request);
  co_return Response::text(200, std::to_string(first->size() + std::stoul(std::get<std::string>(rest.body))));
}

Task<Response> listen(http::SseHub& hub, http::SseOwner& owner, Request& request) {
  co_return hub.subscribe(request, request.param("topic"), request.query_param("as").value_or(""), &owner);
}

Task<Response> connections(Request&) {
  co_return Response::text(200, std::to_string(static_cast<int>(http::connections_gauge().value())));
}

}  // namespace

http::ServerConfig quick_config() {
  http::ServerConfig config;
  config.port = 0;
  config.access_log = false;
  config.tick = 10ms;
  config.head_timeout = config.body_timeout = config.body_idle_timeout = config.lingering_time = 1min;
  return config;
}

http::SseConfig quiet_sse() {
  http::SseConfig config;
  config.heartbeat = 24h;
  return config;
}

TestServer::TestServer(http::ServerConfig config, unsigned threads, http::SseConfig sse, Clock* clock)
    : clock_(clock == nullptr ? real_ : *clock),
      threads_(threads),
      hub_(sse, threads_, clock_),
      server_(std::move(config), make_router(), threads_, clock_) {
  threads_.start();
  server_.start();
}

TestServer::~TestServer() {
  hub_.drain();
  server_.drain(5s);
}

void TestServer::on_thread(const std::function<void()>& work) {
  std::packaged_task<void()> task(work);
  std::future<void> done = task.get_future();
  asio::post(threads_.context(0), [&task] { task(); });
  done.get();
}

void TestServer::advance(ManualClock& clock, Duration duration) {
  clock.advance(duration);
  on_thread([] {});
}

std::unique_ptr<RawClient> TestServer::connect_with(std::string_view bytes) {
  std::unique_ptr<RawClient> client;
  on_thread([this, bytes, &client] {
    client = std::make_unique<RawClient>(port());
    client->send(bytes);
  });
  return client;
}

void TestServer::on_open(std::string_view topic, std::string_view subscriber, std::string_view last_event_id) {
  if (topic != "resumed") return;
  hub_.publish_to(std::string(topic), std::string(subscriber),
                  {.type = "MISSED", .data = fmt::format("after {} for {}", last_event_id, subscriber)});
}

http::Router TestServer::make_router() {
  http::Router router;
  router.add(Method::get, "/", hello);
  router.add(Method::get, "/hello", hello);
  router.add(Method::get, "/alive", hello, {.always_served = true});
  router.add(Method::get, "/large", large);
  router.add(Method::get, "/precompressed", precompressed);
  router.add(Method::get, "/shared", shared);
  router.add(Method::get, "/wait", [this](Request&) { return wait(clock_); }, {.timeout = 1min});
  router.add(Method::get, "/late", [this](Request&) { return wait(clock_); }, {.timeout = 50ms});
  router.add(Method::get, "/pause", [this](Request&) { return pause(clock_); });
  router.add(Method::post, "/pause", [this](Request&) { return pause(clock_); });
  router.add(Method::get, "/fail", fail);
  router.add(Method::get, "/down", down);
  router.add(Method::get, "/pieces", pieces);
  router.add(Method::get, "/broken_pieces", broken_pieces);
  router.add(Method::get, "/whoami", whoami);
  router.add(Method::get, "/items/{id:int}", item);
  router.add(Method::put, "/items/{id:int}", item);
  router.add(Method::get, "/tagged", tagged, {.compute_etag = true});
  router.add(Method::post, "/echo", echo, {.max_body = 100'000});
  router.add(Method::post, "/guarded", guarded, {.max_body = 100'000, .decides_on_head = true});
  router.add(Method::post, "/count_slowly", [this](Request& request) { return count_slowly(clock_, pauses_, request); },
             {.streamed_body = true, .content_types = {"*/*"}});
  router.add(Method::post, "/count", count, {.max_body = 1'000'000, .streamed_body = true, .content_types = {"*/*"}});
  router.add(Method::post, "/count_late", [this](Request& request) { return count_and_wait(clock_, request); },
             {.timeout = 50ms, .streamed_body = true, .content_types = {"*/*"}});
  router.add(Method::post, "/count_and_wait", [this](Request& request) { return count_and_wait(clock_, request); },
             {.timeout = 1min, .streamed_body = true, .content_types = {"*/*"}});
  router.add(Method::get, "/connections", connections);
  router.add(Method::get, "/events/{topic}", [this](Request& request) { return listen(hub_, *this, request); });
  return router;
}

}  // namespace sluice::test
