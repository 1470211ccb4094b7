#include "lab/sample_layouts.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "documents/content_check.h"
#include "documents/document_path.h"

namespace sluice::lab {
namespace {

documents::RequireConfig layouts_only() {
  return {.content_type_not = {"text/html"}, .well_formed_xml = true, .xml_namespace = std::string(layout_namespace)};
}

TEST(SampleLayouts, there_are_39_each_different_and_each_valid) {
  std::set<std::string> paths;
  std::set<std::string> bodies;
  for (const SampleLayout& one : sample_layouts()) {
    EXPECT_TRUE(documents::DocumentPath::parse(one.path)) << one.path;
    EXPECT_EQ(documents::find_fault(layouts_only(), "application/xml", make_layout(one.path)), std::nullopt)
        << one.path;
    paths.insert(one.path);
    bodies.insert(make_layout(one.path));
  }
  EXPECT_EQ(paths.size(), 39U);
  EXPECT_EQ(bodies.size(), 39U);
  EXPECT_TRUE(paths.contains("ssgo003/SSGO003F6A.xml"));
  EXPECT_TRUE(paths.contains("ssgo10j/SSGO10JF01.xml"));
}

TEST(SampleLayouts, one_that_is_too_small_is_filled_to_the_byte_and_stays_valid) {
  for (const size_t bytes : {2000U, 2001U, 2079U, 30'000U, 1'000'000U}) {
    const std::string layout = make_layout("ssgo101/SSGO101F01.xml", bytes);
    EXPECT_EQ(layout.size(), bytes);
    EXPECT_EQ(documents::find_fault(layouts_only(), "application/xml", layout), std::nullopt) << bytes;
  }
}

TEST(SampleLayouts, other_paths_have_made_up_ones) {
  const std::string layout = make_layout("extra/17.xml");
  EXPECT_TRUE(layout.contains("extra/17.xml"));
  EXPECT_NE(layout, make_layout("extra/18.xml"));
  EXPECT_EQ(documents::find_fault(layouts_only(), "application/xml", layout), std::nullopt);
}

}  // namespace
}  // namespace sluice::lab
