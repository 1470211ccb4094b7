#include "http/client/client.h"

#include "http/client/client_connector.h"
#include "http/client/client_exchange.h"
#include "http/client/client_pool.h"

namespace sluice::http {
namespace {

using Kind = ClientError::Kind;

bool may_be_repeated(Method method) {
  return method != Method::post && method != Method::patch;
}

// The URL that the answer redirects to; nothing if it is the final answer.
std::optional<Url> redirect_target(const ClientRequest& request, const ClientExchange& exchange) {
  if (request.redirects == Redirects::none || !is_redirect(exchange.status())) return std::nullopt;
  const auto location = exchange.headers().find("Location");
  if (!location) return std::nullopt;
  std::optional<Url> target = request.url.resolve(*location);
  if (!target)
    throw CallFailed(Kind::bad_answer, request.url.origin() + ": the redirect target is not an http or https URL");
  const bool downgraded = request.url.secure() && !target->secure();
  if (request.redirects == Redirects::same_host && (downgraded || !target->same_host(request.url))) {
    throw CallFailed(Kind::redirect_refused, fmt::format("{} redirects to {}", request.url.origin(), target->origin()));
  }
  return target;
}

// The request that a redirect asks for.
void redirect(ClientRequest& request, int status, Url target) {
  if (target.origin() != request.url.origin()) {
    for (const std::string_view secret : {"Authorization", "Cookie", "Proxy-Authorization"}) {
      request.headers.remove(secret);
    }
  }
  const bool keeps_method = status == 307 || status == 308 || request.method == Method::head;
  if (!keeps_method && request.method != Method::get) {
    request.method = Method::get;
    request.body.clear();
    for (const std::string_view of_body : {"Content-Type", "Content-Encoding"}) request.headers.remove(of_body);
  }
  request.url = std::move(target);
}

ClientError timed_out(const Url& url) {
  return {.kind = Kind::timeout, .text = url.origin() + ": timed out before the response was complete"};
}

}  // namespace

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

AnswerStream::AnswerStream(Clock& clock, Deadline deadline, Url url, std::unique_ptr<ClientExchange> exchange)
    : clock_(&clock), deadline_(deadline), url_(std::move(url)), exchange_(std::move(exchange)) {}
AnswerStream::AnswerStream(AnswerStream&&) noexcept = default;
AnswerStream& AnswerStream::operator=(AnswerStream&&) noexcept = default;
AnswerStream::~AnswerStream() = default;

int AnswerStream::status() const {
  return exchange_->status();
}

const Headers& AnswerStream::headers() const {
  return exchange_->headers();
}

Task<Result<std::optional<std::string>, ClientError>> AnswerStream::next() {
  try {
    Task<std::optional<std::string>> piece = exchange_->next();
    std::optional<std::string> result = co_await with_deadline(*clock_, deadline_, url_.host(), std::move(piece));
    co_return result;
  } catch (const CallFailed& failure) {
    co_return failure.error();
  } catch (const DeadlineExceeded&) {
    co_return timed_out(url_);
  }
}

Client::Client(Executor executor, Clock& clock, ClientOptions options)
    : clock_(clock),
      options_(std::move(options)),
      connector_(std::make_unique<ClientConnector>(executor, clock_, options_)),
      pool_(std::make_unique<ClientPool>(std::move(executor), clock_, options_)) {}

Client::~Client() = default;

Task<> Client::close() {
  co_await pool_->close();
}

Task<Result<ClientAnswer, ClientError>> Client::send(ClientRequest request) {
  Result<AnswerStream, ClientError> stream = co_await open(std::move(request));
  if (!stream) co_return stream.error();
  ClientAnswer answer{.status = stream->status(), .headers = stream->headers(), .body = {}, .url = stream->url()};
  while (true) {
    const Result<std::optional<std::string>, ClientError> piece = co_await stream->next();
    if (!piece) co_return piece.error();
    if (!*piece) co_return answer;
    answer.body += **piece;
  }
}

Task<Result<AnswerStream, ClientError>> Client::open(ClientRequest request) {
  const Deadline deadline = request.deadline.sooner(clock_, request.timeout);
  const Url url = request.url;
  try {
    Task<AnswerStream> call = follow(std::move(request), deadline);
    AnswerStream stream = co_await with_deadline(clock_, deadline, url.host(), std::move(call));
    co_return stream;
  } catch (const CallFailed& failure) {
    co_return failure.error();
  } catch (const DeadlineExceeded&) {
    co_return timed_out(url);
  }
}

Task<AnswerStream> Client::follow(ClientRequest request, Deadline deadline) {
  for (int redirects = 0;; ++redirects) {
    std::unique_ptr<ClientExchange> answer = co_await exchange(request);
    std::optional<Url> target = redirect_target(request, *answer);
    if (!target) co_return AnswerStream(clock_, deadline, request.url, std::move(answer));
    if (redirects >= request.max_redirects) {
      throw CallFailed(Kind::too_many_redirects,
                       fmt::format("more than {} redirects, the last to {}", request.max_redirects, target->origin()));
    }
    co_await answer->skip_body();
    redirect(request, answer->status(), std::move(*target));
  }
}

Task<std::unique_ptr<ClientExchange>> Client::exchange(const ClientRequest& request) {
  std::unique_ptr<ClientExchange> answer = co_await attempt(request, false);
  if (!answer) answer = co_await attempt(request, true);
  co_return answer;
}

Task<std::unique_ptr<ClientExchange>> Client::attempt(const ClientRequest& request, bool new_connection) {
  std::string head = write_head(request, options_.user_agent);
  std::string body = request.body;
  std::string origin = request.url.origin();
  ClientPool::Place place = co_await pool_->enter(std::move(origin), new_connection);
  const bool kept = place.connection != nullptr;
  if (!kept) place.connection = co_await connector_->connect(request.url);
  auto answer = std::make_unique<ClientExchange>(std::move(place), options_.max_head, request);
  try {
    co_await answer->begin(std::move(head), std::move(body));
  } catch (const CallFailed& failure) {
    const bool stale = kept && failure.kind() == Kind::closed && answer->untouched();
    if (!stale || !may_be_repeated(request.method)) throw;
    answer.reset();
  }
  co_return answer;
}

}  // namespace sluice::http
