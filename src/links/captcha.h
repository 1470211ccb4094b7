// Pages that ask whether a human is there.
#pragma once

#include <string_view>

#include "http/message.h"
#include "links/page_facts.h"

namespace sluice::links {

// Whether what came is such a page instead of the one that was asked for. A page that merely has a captcha in one of
// its forms is not: its answer is a success and its title its own.
bool is_captcha(int status, const http::Headers& headers, std::string_view body, const PageFacts& facts);

}  // namespace sluice::links
