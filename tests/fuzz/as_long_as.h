// Finds work that grows faster than its input: what a small input costs says nothing, so it is repeated until it is so
// large that more than linear work would take seconds of the processor.
#pragma once

#include <string>
#include <string_view>

#include "base/check.h"
#include "runtime/testing/cpu_time.h"

namespace sluice::fuzz {

// `text` again and again, with numbers between, since the same name twice is often cheaper than two.
inline std::string as_long_as(std::string_view text, size_t size) {
  std::string whole;
  for (unsigned i = 0; whole.size() < size; ++i) whole.append(text).append(std::to_string(i));
  whole.resize(size);
  return whole;
}

template <class Work>
void takes_at_most(Duration limit, Work work) {
  const Duration took = cpu_time_of(std::move(work));
  check_that(took <= limit, "it took {} us", took.count());
}

}  // namespace sluice::fuzz
