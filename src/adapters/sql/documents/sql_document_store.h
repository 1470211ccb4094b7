// Documents and claims in SQL.
#pragma once

#include "adapters/sql/driver/database.h"
#include "documents/document_store.h"

namespace sluice::sql {

class SqlDocumentStore : public documents::DocumentStore {
 public:
  explicit SqlDocumentStore(Database& database) : database_(database) {}

  Task<documents::DocumentPtr> find(documents::DocumentKey key) override;
  Task<bool> knows(documents::DocumentKey key) override;
  Task<documents::DownloadState> download_state(documents::DocumentKey key) override;
  Task<documents::ClaimOutcome> claim(documents::DownloadClaim request) override;
  Task<bool> renew(documents::DocumentKey key, int64_t token, Duration ttl) override;
  Task<documents::DocumentPtr> complete(documents::DocumentKey key, int64_t token,
                                        documents::Document document) override;
  Task<> abort(documents::DocumentKey key, int64_t token) override;
  Task<> fail(documents::DocumentKey key, int64_t token, Duration first, Duration longest) override;
  Task<int64_t> sweep() override;
  Task<int64_t> last_change(std::string origin) override;
  Task<std::vector<documents::Change>> changes_since(std::string origin, int64_t number) override;
  Task<> note_asked(std::string origin, std::vector<std::string> paths) override;
  Task<int64_t> forget(std::string origin, Duration unused_for) override;
  Task<bool> purge(documents::DocumentKey key) override;

 private:
  Database& database_;
};

}  // namespace sluice::sql
