// The third party's server, as the service sees it: one path in, one checked document or a failure out.
#pragma once

#include "base/result.h"
#include "documents/document.h"
#include "documents/document_path.h"
#include "runtime/task.h"

namespace sluice::documents {

enum class FetchError {
  timeout,
  failed,     // no connection, an answer that broke off, or a 5xx
  missing,    // 404 or 410
  throttled,  // 429
  refused,    // any other 4xx
  too_large,
  invalid,  // an answer that is not the document
};

class Origin {
 public:
  virtual ~Origin() = default;

  // Asks the origin once. The time limit covers the whole exchange; nothing is retried here. `traceparent` is that of
  // the request that asks (empty: none) and goes on to the origin.
  virtual Task<Result<DocumentPtr, FetchError>> fetch(DocumentPath path, std::string traceparent) = 0;
};

}  // namespace sluice::documents
