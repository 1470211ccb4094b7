// Pages that ask whether a human is there.
#pragma once

#include <string_view>

#include "http/message.h"
#include "links/page_facts.h"

namespace sluice::links {

// Whether the response is a captcha page instead of the requested one. A page that merely has a captcha in a form does
// not count: it succeeds and has its own title.
bool is_captcha(int status, const http::Headers& headers, std::string_view body, const PageFacts& facts);

}  // namespace sluice::links
