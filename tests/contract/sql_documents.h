// The document store in SQL, for the suites that other stores pass too.
#pragma once

#include "adapters/sql/documents/sql_document_store.h"
#include "tests/contract/document_store_suite.h"
#include "tests/contract/sql_ports.h"

namespace sluice::test {

class SqlTestedDocuments : public TestedDocuments {
 public:
  explicit SqlTestedDocuments(sql::Database& database) : database_(database), store_(database) {}
  documents::DocumentStore& store() override { return store_; }
  Task<int64_t> rows(std::string origin) override {
    const sql::Rows counted =
        co_await database_.read("SELECT count(*) FROM documents WHERE origin = $1", sql::Params(origin));
    co_return counted.one().integer(0);
  }
  Task<> age(std::string origin, Duration by) override {
    static constexpr sql::Statement age_documents{sql::Statement::PerDialect{
        .postgres =
            "UPDATE documents SET asked_at = asked_at - $2::bigint * interval '1 microsecond' WHERE origin = $1",
        .sqlite = "UPDATE documents SET asked_at = asked_at - $2 WHERE origin = $1"}};
    co_await database_.write(age_documents, sql::Params(origin, by.count()));
  }

 private:
  sql::Database& database_;
  sql::SqlDocumentStore store_;
};

inline std::vector<PortEngine<TestedDocuments>> documents_in_sql(const std::vector<DatabaseEngine>& databases) {
  return in_sql<TestedDocuments, SqlTestedDocuments>(databases);
}

}  // namespace sluice::test
