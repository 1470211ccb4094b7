#include "links/robots.h"

#include "links/beginning.h"

namespace sluice::links {
namespace {

using RulesPtr = std::shared_ptr<const RobotsRules>;
using Said = Result<RulesPtr, LinkFailure>;

constexpr int max_redirects = 5;  // as RFC 9309 asks for

RulesPtr everything() {
  static const auto rules = std::make_shared<const RobotsRules>();
  return rules;
}

Said understand(const Result<http::ClientAnswer, http::ClientError>& answer, std::string_view agent) {
  if (!answer) {
    if (answer.error().kind == http::ClientError::Kind::too_many_redirects) return everything();
    return failure_of(answer.error());
  }
  if (answer->status >= 200 && answer->status < 300) {
    return std::make_shared<const RobotsRules>(RobotsRules::parse(answer->body, agent));
  }
  if (answer->status >= 500 || answer->status == 429) {
    LinkFailure failure = failure_of_status(answer->status);
    failure.text = "robots.txt: " + failure.text;
    return failure;
  }
  return everything();
}

}  // namespace

Robots::Robots(http::Client& client, Offload& readers, Clock& clock, TaskScope& scope, Executor executor,
               RobotsOptions options)
    : client_(client),
      readers_(readers),
      clock_(clock),
      options_(std::move(options)),
      asking_(scope, std::move(executor)) {}

Task<Result<bool, LinkFailure>> Robots::allow(http::Url url) {
  const Said* kept = find(url.origin());
  Said said = kept != nullptr ? *kept : Said(everything());
  if (kept == nullptr) {
    std::string origin = url.origin();
    auto work = [this, url] { return ask(url); };
    said = co_await asking_.run(std::move(origin), work);
  }
  if (!said) co_return said.error();
  auto look_up = [rules = *said, target = std::string(url.target())] { return rules->allows(target); };
  const bool allowed = co_await readers_.run(std::move(look_up));
  co_return allowed;
}

Task<Said> Robots::ask(http::Url url) {
  http::ClientRequest request{.url = *url.resolve("/robots.txt")};
  request.headers.add("User-Agent", options_.user_agent);
  request.timeout = options_.timeout;
  request.redirects = http::Redirects::any;
  request.max_redirects = max_redirects;
  request.gzip = true;
  Result<http::ClientAnswer, http::ClientError> answer =
      co_await fetch_beginning(client_, std::move(request), RobotsRules::max_text);
  auto read = [answer = std::move(answer), agent = options_.user_agent] { return understand(answer, agent); };
  Said said = co_await readers_.run(std::move(read));
  keep(url.origin(), said);
  co_return said;
}

size_t Robots::Kept::bytes() const {
  constexpr size_t bookkeeping = 128;
  return sizeof(Kept) + bookkeeping + origin.size() + (said ? (*said)->bytes() : said.error().text.size());
}

const Robots::Said* Robots::find(const std::string& origin) {
  const auto found = by_origin_.find(origin);
  if (found == by_origin_.end()) return nullptr;
  if (found->second->until <= clock_.now()) {
    drop(found->second);
    return nullptr;
  }
  by_use_.splice(by_use_.begin(), by_use_, found->second);
  return &found->second->said;
}

void Robots::keep(std::string origin, Said said) {
  if (const auto found = by_origin_.find(origin); found != by_origin_.end()) drop(found->second);
  const Duration time = said ? options_.keep : options_.keep_failure;
  by_use_.push_front({.origin = std::move(origin), .said = std::move(said), .until = clock_.now() + time});
  by_origin_.emplace(by_use_.front().origin, by_use_.begin());
  bytes_ += by_use_.front().bytes();
  while (bytes_ > options_.max_bytes) drop(std::prev(by_use_.end()));
}

void Robots::drop(ByUse::iterator kept) {
  bytes_ -= kept->bytes();
  by_origin_.erase(kept->origin);
  by_use_.erase(kept);
}

}  // namespace sluice::links
