// Whether a PostgreSQL (or a pooler in front of one) really answers.
#pragma once

#include <string>

namespace sluice::test {

// Connects and runs a statement. Throws std::runtime_error with the server's words when that fails.
void check_connects(const std::string& url, const std::string& user, const std::string& password);

}  // namespace sluice::test
