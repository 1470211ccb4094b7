#include "links/enricher.h"

#include "links/beginning.h"
#include "links/captcha.h"

namespace sluice::links {
namespace {

using Outcome = Result<Visited, LinkFailure>;

bool is_html(std::string_view content_type) {
  const std::string_view type = content_type.substr(0, content_type.find_first_of("; "));
  return type.empty() || http::equal_ignoring_case(type, "text/html") ||
         http::equal_ignoring_case(type, "application/xhtml+xml");
}

// Names the host that caused it.
LinkFailure of_host(const http::Url& url, LinkFailure failure) {
  failure.host = url.host();
  return failure;
}

Outcome judge(const http::ClientAnswer& answer) {
  const std::string_view content_type = answer.headers.get("Content-Type");
  PageFacts facts = is_html(content_type) ? read_page(answer.body, content_type, answer.url) : PageFacts{};
  if (is_captcha(answer.status, answer.headers, answer.body, facts)) {
    return of_host(answer.url, {FailureReason::captcha, fmt::format("{} requires a captcha", answer.url.origin())});
  }
  if (answer.status < 200 || answer.status > 299) return of_host(answer.url, failure_of_status(answer.status));
  return Visited(std::move(facts));
}

}  // namespace

Enricher::Enricher(LinksConfig config, http::Client& client, Offload& readers, Clock& clock, TaskScope& scope,
                   Executor executor)
    : config_(std::move(config)),
      client_(client),
      readers_(readers),
      clock_(clock),
      robots_(client, readers_, clock, scope, std::move(executor),
              {.user_agent = config_.user_agent, .keep = config_.robots_for}) {}

Task<Outcome> Enricher::enrich(LinkVisit visit, Deadline deadline) {
  deadline = deadline.sooner(clock_, config_.timeout);
  const http::Url begun_at = visit.at;
  Task<Outcome> following = follow(std::move(visit), deadline);
  try {
    co_return co_await with_deadline(clock_, deadline, begun_at.host(), std::move(following));
  } catch (const DeadlineExceeded&) {
    co_return of_host(begun_at,
                      {FailureReason::unreachable, begun_at.origin() + ": timed out before the response was complete"});
  }
}

Task<Outcome> Enricher::follow(LinkVisit visit, Deadline deadline) {
  const http::Url begun_at = visit.at;
  while (visit.redirects <= config_.max_redirects && visit.at.same_host(begun_at)) {
    std::optional<LinkFailure> refused = co_await refusal(visit.at);
    if (refused) co_return of_host(visit.at, *std::move(refused));
    http::ClientRequest request = request_for(visit.at, deadline);
    Result<http::ClientAnswer, http::ClientError> answer =
        co_await fetch_beginning(client_, std::move(request), static_cast<size_t>(config_.read_bytes.bytes));
    if (!answer) co_return of_host(visit.at, failure_of(answer.error()));
    const auto location = http::is_redirect(answer->status) ? answer->headers.find("Location") : std::nullopt;
    if (!location) {
      auto read = [page = *std::move(answer)] { return judge(page); };
      Outcome outcome = co_await readers_.run(std::move(read));
      co_return outcome;
    }
    const auto target = visit.at.resolve(*location);
    if (!target) {
      co_return of_host(visit.at,
                        {FailureReason::bad_link, visit.at.origin() + " redirects to a URL that is not http or https"});
    }
    visit.at = *target;
    ++visit.redirects;
  }
  if (visit.redirects <= config_.max_redirects) co_return Visited(std::move(visit));
  co_return of_host(visit.at, {FailureReason::bad_link, fmt::format("more than {} redirects", config_.max_redirects)});
}

Task<std::optional<LinkFailure>> Enricher::refusal(http::Url url) {
  if (!config_.robots) co_return std::nullopt;
  const Result<bool, LinkFailure> allowed = co_await robots_.allow(url);
  if (!allowed) co_return allowed.error();
  if (*allowed) co_return std::nullopt;
  co_return LinkFailure{FailureReason::robots, url.origin() + ": robots.txt forbids it"};
}

http::ClientRequest Enricher::request_for(const http::Url& url, Deadline deadline) const {
  http::ClientRequest request{.url = url};
  request.headers.add("Accept", "text/html, application/xhtml+xml;q=0.9, */*;q=0.1");
  request.timeout = config_.timeout;
  request.deadline = deadline;
  request.max_bytes = static_cast<size_t>(config_.max_bytes.bytes);
  request.gzip = true;
  return request;
}

}  // namespace sluice::links
