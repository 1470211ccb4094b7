// A written URL is read as the same URL, and a resolved reference is a URL again.
#include "http/url.h"

#include "base/check.h"

using sluice::http::Url;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto same_again = [](const Url& url) {
    const auto again = Url::parse(url.to_string());
    sluice::check_that(again == url, "{} is not stable", url.to_string());
  };
  if (const auto url = Url::parse(text); url && url->to_string().size() <= Url::max_length) same_again(*url);
  static const Url base = *Url::parse("https://example.com/a/b/c?d");
  if (const auto url = base.resolve(text); url && url->to_string().size() <= Url::max_length) same_again(*url);
  const auto decoded = sluice::http::percent_decode(text);
  if (decoded) {
    const auto again = sluice::http::percent_decode(sluice::http::percent_encode(*decoded));
    sluice::check(again == decoded, "percent-encoding is not stable");
  }
  (void)sluice::http::parse_query(text);
  return 0;
}
