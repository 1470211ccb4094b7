// A password as PostgreSQL keeps it.
#pragma once

#include <string>

namespace sluice::postgres {

// The SCRAM-SHA-256 secret of `password`, which ALTER ROLE accepts in its place, so that the password itself never
// reaches the server's log.
std::string scram_secret(const std::string& user, const std::string& password);

}  // namespace sluice::postgres
