// Why a job failed, as it can be kept.
#pragma once

#include <string>

namespace sluice::jobs {

inline constexpr size_t longest_error = 10'000;  // bytes

// The text as every database takes it: UTF-8, without zero bytes, and cut where it is long. What somebody says of a
// failure is never a reason to refuse it.
std::string keepable_error(std::string text);

}  // namespace sluice::jobs
