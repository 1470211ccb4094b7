#include "documents/document.h"

#include <fmt/format.h>
#include <xxhash.h>

namespace sluice::documents {

std::string etag_of(std::string_view body) {
  const XXH128_hash_t hash = XXH3_128bits(body.data(), body.size());
  return fmt::format("\"{:016x}{:016x}\"", hash.high64, hash.low64);
}

}  // namespace sluice::documents
