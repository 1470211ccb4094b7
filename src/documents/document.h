// A document and how it came.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/enum_names.h"
#include "base/time.h"

namespace sluice::documents {

// A copy of a document. Never changes once made, so that any number of readers share it.
struct Document {
  std::string body;
  std::string content_type;
  std::string etag;  // with its quotes, as HTTP sends it
  std::optional<std::string> case_type;
  Time fetched_at;
  bool forced = false;  // made by forceRefresh: outranks the static file
  int64_t change = 0;   // the number of the change that stored it, which grows per origin; 0 for a static file
};
using DocumentPtr = std::shared_ptr<const Document>;

// The cache level that served a document.
enum class Source { memory, static_file, database, origin, stale };

// As Sluice-Source says it.
constexpr auto enum_names(Source) {
  return std::to_array<EnumName<Source>>({{Source::memory, "memory"},
                                          {Source::static_file, "static"},
                                          {Source::database, "database"},
                                          {Source::origin, "origin"},
                                          {Source::stale, "stale"}});
}

// Why the document could not be fetched.
enum class Reason {
  rate_limit_exceeded,
  download_timeout,
  origin_error,
  invalid_content,
  breaker_open,
  hold_down,
  database_unavailable,
};

// As Sluice-Degraded says it.
constexpr auto enum_names(Reason) {
  return std::to_array<EnumName<Reason>>({{Reason::rate_limit_exceeded, "rate-limit-exceeded"},
                                          {Reason::download_timeout, "download-timeout"},
                                          {Reason::origin_error, "origin-error"},
                                          {Reason::invalid_content, "invalid-content"},
                                          {Reason::breaker_open, "breaker-open"},
                                          {Reason::hold_down, "hold-down"},
                                          {Reason::database_unavailable, "database-unavailable"}});
}

struct Served {
  DocumentPtr document;
  Source source = Source::memory;
  std::optional<Reason> degraded{};  // set where it should have been fetched and could not be
  bool from_cache = true;            // false where this request's wait ended with a download
};

// The outcome if there is no copy at all.
enum class Refusal {
  not_found,    // there is no such document, or it is not to be fetched
  too_many,     // more unknown documents are asked for than the origin is asked for
  unavailable,  // it cannot be fetched at the moment
};

struct Refused {
  Refusal kind = Refusal::not_found;
  std::optional<Reason> reason{};  // none if no fetch was tried
};

// A strong ETag of the bytes.
std::string etag_of(std::string_view body);

}  // namespace sluice::documents
