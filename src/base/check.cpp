#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace sluice {

void check_failed(std::string_view what, std::source_location where) {
  std::fprintf(stderr, "sluice: impossible state: %.*s (%s:%u)\n", static_cast<int>(what.size()), what.data(),
               where.file_name(), static_cast<unsigned>(where.line()));
  std::abort();
}

}  // namespace sluice
