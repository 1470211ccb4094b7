// The stored state of documents, for operators: no decision depends on it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "adapters/sql/driver/database.h"
#include "documents/document_store.h"

namespace sluice::sql {

struct DocumentRecord {
  std::string state;
  std::optional<int64_t> bytes;  // of the stored copy; nothing if there is none
  std::optional<std::string> content_type;
  std::optional<std::string> etag;
  std::optional<std::string> case_type;
  bool forced = false;
  std::optional<Time> fetched_at;
  std::optional<std::string> claimed_by;
  std::optional<Time> claim_expires_at;
  bool claim_live = false;
  int64_t claim_token = 0;
  int64_t failures = 0;
  std::optional<Time> held_until;  // only while it is held down
  bool listed = false;             // by the operator
  Time asked_at;                   // to the day
  Time updated_at;
};

class SqlDocumentRecords {
 public:
  explicit SqlDocumentRecords(Database& database) : database_(database) {}

  Task<std::optional<DocumentRecord>> find(documents::DocumentKey key);
  // The paths of an origin that have a copy, in order.
  Task<std::vector<std::string>> stored_paths(std::string origin);

 private:
  Database& database_;
};

}  // namespace sluice::sql
