// Canonical text stays as it is when it is read again, is a strict URL, and belongs to the domain it says.
#include "links/canonical_url.h"

#include "base/check.h"
#include "http/url.h"

using sluice::links::CanonicalUrl;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto url = CanonicalUrl::parse({reinterpret_cast<const char*>(data), size});
  if (!url) return 0;
  const auto again = CanonicalUrl::parse(url->text());
  sluice::check_that(again && *again == *url, "{} is not stable", url->text());
  const auto strict = sluice::http::Url::parse(url->text());
  sluice::check_that(strict && strict->to_string() == url->text(), "{} is not strict", url->text());
  sluice::check_that(strict->host() == url->domain(), "{} is not at {}", url->text(), url->domain());
  return 0;
}
