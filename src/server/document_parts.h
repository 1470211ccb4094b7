// Documents wired to their engines.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "adapters/files/file_static_copies.h"
#include "adapters/sql/coordination/sql_limit.h"
#include "adapters/sql/coordination/sql_shared_breaker.h"
#include "adapters/sql/coordination/sql_slots.h"
#include "adapters/sql/documents/sql_document_store.h"
#include "documents/documents.h"
#include "documents/http_origin.h"
#include "http/client/client.h"
#include "runtime/offload.h"

namespace sluice::server {

class DocumentParts {
 public:
  // `scope` and everything the origins do live on `executor`.
  DocumentParts(const documents::DocumentsConfig& config, sql::Database& database, Clock& clock, Random& random,
                TaskScope& scope, Executor executor);

  documents::Documents& documents() { return documents_; }
  // Loads the state of the origins' limits before the first download. On the executor.
  void start_limits();
  // On the executor, once its scope is closed.
  Task<> close() { return client_.close(); }

 private:
  TaskScope& scope_;
  sql::SqlDocumentStore store_;
  sql::SqlSlots slots_;
  sql::SqlSharedBreaker breaker_;
  Offload file_threads_;
  Offload form_threads_;
  http::Client client_;
  std::deque<files::FileStaticCopies> static_copies_;
  std::deque<documents::HttpOrigin> origins_;
  std::deque<sql::SqlLimit> limits_;
  documents::Documents documents_;
};

}  // namespace sluice::server
