// The sites that `sluice-lab web` pretends to be.
#pragma once

#include <string>
#include <string_view>

#include "lab/bare_server.h"

namespace sluice::lab {

struct WebPage {
  enum class Manner {
    answer,
    stall,    // never
    endless,  // the body's beginning, and then more and more
  };

  Manner manner = Manner::answer;
  Reply reply{};
};

// The page at `target` of the site `host` (without a port). The first label of the host selects the kind of site, the
// path the kind of page; the command's --help lists them. Every other host and path has a distinct page.
WebPage page_at(std::string_view host, std::string_view target);

}  // namespace sluice::lab
