// The facts of a page: everything that enrichment keeps of it.
#pragma once

#include <string>
#include <string_view>

#include "http/url.h"

namespace sluice::links {

// Each is empty where the page does not say. Texts are UTF-8 on one line.
struct PageFacts {
  static constexpr size_t max_title = 512;  // bytes
  static constexpr size_t max_description = 2048;

  std::string title{};        // <title>, else og:title
  std::string description{};  // the meta description, else og:description
  std::string site_name{};    // og:site_name
  std::string image_url{};    // og:image
  std::string icon_url{};     // of rel=icon, else of rel=apple-touch-icon

  bool operator==(const PageFacts&) const = default;
};

// How much of a page is looked at; facts stand at its beginning.
constexpr size_t max_page = 512 * 1024;

// Reads an HTML page that may be broken, truncated or of another type. `url` is its address, the base of relative
// links; values that do not lead to an http(s) URL are left out. Thread-safe.
PageFacts read_page(std::string_view body, std::string_view content_type, const http::Url& url);

}  // namespace sluice::links
