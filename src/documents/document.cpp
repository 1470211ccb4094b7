#include "documents/document.h"

#include <fmt/format.h>
#include <xxhash.h>

namespace sluice::documents {

std::string_view name(Source source) {
  switch (source) {
    case Source::memory: return "memory";
    case Source::static_file: return "static";
    case Source::database: return "database";
    case Source::origin: return "origin";
    case Source::stale: return "stale";
  }
  return "";
}

std::string_view name(Reason reason) {
  switch (reason) {
    case Reason::rate_limit_exceeded: return "rate-limit-exceeded";
    case Reason::download_timeout: return "download-timeout";
    case Reason::origin_error: return "origin-error";
    case Reason::invalid_content: return "invalid-content";
    case Reason::breaker_open: return "breaker-open";
    case Reason::hold_down: return "hold-down";
    case Reason::database_unavailable: return "database-unavailable";
  }
  return "";
}

std::string etag_of(std::string_view body) {
  const XXH128_hash_t hash = XXH3_128bits(body.data(), body.size());
  return fmt::format("\"{:016x}{:016x}\"", hash.high64, hash.low64);
}

}  // namespace sluice::documents
