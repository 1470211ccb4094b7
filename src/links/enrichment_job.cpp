#include "links/enrichment_job.h"

#include "base/check.h"
#include "base/json.h"

namespace sluice::links {
namespace {

struct Form {
  std::string url;
  std::optional<std::string> at{};
  std::optional<int64_t> redirects{};

  static void describe(json::Object<Form>& object) {
    object.required("url", &Form::url);
    object.optional("at", &Form::at);
    object.optional("redirects", &Form::redirects).range(0, 1'000);
  }
};

http::Url beginning_of(const CanonicalUrl& link) {
  const auto url = http::Url::parse(link.text());
  check_that(url.has_value(), "{} is not canonical", link.text());
  return *url;
}

}  // namespace

LinkVisit::LinkVisit(CanonicalUrl of) : link(std::move(of)), at(beginning_of(link)) {}

std::string enrichment_payload(const LinkVisit& visit) {
  if (visit.redirects == 0) return enrichment_payload(visit.link);
  return json::encode(Form{.url = visit.link.text(), .at = visit.at.to_string(), .redirects = visit.redirects});
}

std::string enrichment_payload(const CanonicalUrl& url) {
  return json::encode(Form{.url = url.text()});
}

std::optional<LinkVisit> parse_enrichment_payload(std::string_view payload) {
  const auto form = json::decode<Form>(payload);
  if (!form) return std::nullopt;
  auto link = CanonicalUrl::parse(form->url);
  if (!link) return std::nullopt;
  if (!form->at) return LinkVisit(*std::move(link));
  const auto at = http::Url::parse(*form->at);
  if (!at) return std::nullopt;
  return LinkVisit(*std::move(link), *at, form->redirects.value_or(0));
}

}  // namespace sluice::links
