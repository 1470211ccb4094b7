// Errors as clients see them: application/problem+json (RFC 9457).
//
// `code` is stable, kebab-case and listed in docs/errors.md; programs rely on it. `title` says the same to people and
// is the same every time; `detail` is about this one occurrence. Never put anything into it that the caller may not
// know.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json_object.h"
#include "base/time.h"
#include "http/message.h"

namespace sluice::http {

struct Problem {
  int status = 500;
  std::string code;
  std::string title;
  std::string detail{};
  std::string field{};  // the request's field that is wrong, as a path: "seats[2].row"
  std::optional<Duration> retry_after{};

  // Retry-After is in whole seconds, rounded up, at least 1.
  Response to_response(std::string_view request_id) const;
};

// What is sent of a problem, which outlives it.
struct ProblemBody {
  const Problem* problem = nullptr;
  std::string_view request_id;

  static void describe(json::Object<ProblemBody>& object);
};

// The standard's words for a status: "Not Found"; empty where it has none.
std::string_view reason_phrase(int status);

}  // namespace sluice::http
