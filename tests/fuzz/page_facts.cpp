// From any page of a web site, the facts are bounded UTF-8 and strict URLs, and extracting them is bounded work.
#include "links/page_facts.h"

#include "base/check.h"
#include "base/encoding.h"
#include "tests/fuzz/as_long_as.h"

using namespace sluice;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const http::Url url = *http::Url::parse("https://a.kr/dir/page");
  std::string_view text(reinterpret_cast<const char*>(data), size);
  // The first line is the Content-Type header.
  const std::string_view content_type = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(text.size(), content_type.size() + 1));
  const links::PageFacts facts = links::read_page(text, content_type, url);
  check(facts.title.size() <= links::PageFacts::max_title && is_utf8(facts.title), "a title is bounded UTF-8");
  check(facts.description.size() <= links::PageFacts::max_description && is_utf8(facts.description),
        "so is a description");
  check(is_utf8(facts.site_name), "so is a name");
  check(facts.icon_url.empty() || http::Url::parse(facts.icon_url), "an icon is at a URL");
  check(facts.image_url.empty() || http::Url::parse(facts.image_url), "so is an image");
  if (!text.empty() && text.size() < 4096 && text.back() % 32 == 0) {
    const std::string page = fuzz::as_long_as(text, 128 * 1024);
    fuzz::takes_at_most(1s, [&] { (void)links::read_page(page, content_type, url); });
  }
  return 0;
}
