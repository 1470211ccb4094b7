#include "links/enrichment_job.h"

#include "base/json.h"

namespace sluice::links {
namespace {

struct Form {
  std::string url;

  static void describe(json::Object<Form>& object) { object.required("url", &Form::url); }
};

}  // namespace

std::string enrichment_payload(const CanonicalUrl& url) {
  return json::encode(Form{.url = url.text()});
}

std::optional<CanonicalUrl> parse_enrichment_payload(std::string_view payload) {
  const auto form = json::decode<Form>(payload);
  if (!form) return std::nullopt;
  auto url = CanonicalUrl::parse(form->url);
  if (!url) return std::nullopt;
  return *std::move(url);
}

}  // namespace sluice::links
