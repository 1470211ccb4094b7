// Why a job failed, as it can be kept.
#pragma once

#include <string>

namespace sluice::jobs {

inline constexpr size_t longest_error = 10'000;  // bytes

// Makes the text storable in every database: UTF-8, without zero bytes, truncated if long. The text of a failure is
// never a reason to refuse it.
std::string keepable_error(std::string text);

}  // namespace sluice::jobs
