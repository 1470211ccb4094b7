// Sample documents: the screens of an imagined court's case search, generated, each different.
//
// Layouts are XHTML-rooted XML that declares WebSquare's namespace. The demo ships them as static copies; the simulated
// origin serves them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice::lab {

inline constexpr std::string_view layout_namespace = "http://www.inswave.com/websquare";

struct SampleLayout {
  std::string path;
  std::string title;
  std::string case_type;
};

// The 39, in their order.
const std::vector<SampleLayout>& sample_layouts();

// The layout at `path`, one of the 39 or generated for any other path; the same bytes for the same arguments. Padded to
// exactly `bytes` if it would be smaller.
std::string make_layout(std::string_view path, size_t bytes = 0);

}  // namespace sluice::lab
