// Rights on the outbox on PostgreSQL.
#include "runtime/system_clock.h"
#include "tests/contract/outbox_loss_suite.h"
#include "tests/contract/postgres_engines.h"
#include "tests/contract/sql_outbox_dead.h"
#include "tests/support/needs.h"

namespace sluice::test {
namespace {

constexpr std::string_view append_as_text =
    "SELECT common.append_outbox('018f4e1c-6d2a-7c3e-9f10-0242ac120002', 't', 'rights', 'a', 1, 'e', 'p', '{}')";

class OutboxRights : public TaskFixture {
 protected:
  void SetUp() override {
    SLUICE_NEEDS(PostgresServer::why_missing(15));
    owner_ = postgres_service_engines("common").front().open(io_, 100);
  }

  std::unique_ptr<sql::Database> log_in(const std::string& user, const std::string& password) {
    const postgres::PostgresConfig config{.url = shared_postgres().url(), .user = user, .password = password};
    return std::make_unique<postgres::PostgresDatabase>(config, thread_, clock_);
  }
  static void write(OutboxRights& test, sql::Database& database, std::string_view text) {
    test.run(database.write(sql::Statement(text)));
  }

  SystemClock clock_;
  postgres::EngineThread thread_;
  std::unique_ptr<OpenDatabase> owner_;
};

TEST_F(OutboxRights, every_service_appends_and_does_nothing_else) {
  for (const std::string_view service : postgres::service_names) {
    if (service == postgres::common_service) continue;
    SCOPED_TRACE(service);
    const auto login = log_in(std::string(service), service_password(service));
    EXPECT_NO_THROW(write(*this, *login, append_as_text));
    for (const std::string_view text :
         {"SELECT count(*) FROM common.outbox_events", "UPDATE common.outbox_events SET published = true",
          "DELETE FROM common.outbox_events", "TRUNCATE common.outbox_events",
          "INSERT INTO common.outbox_events SELECT * FROM common.outbox_events",
          "SELECT nextval('common.outbox_events_id_seq')", "SELECT count(*) FROM common.outbox_dead",
          "DELETE FROM common.outbox_dead", "UPDATE common.outbox_buckets SET fence = 0",
          "SELECT count(*) FROM common.outbox_relays", "DELETE FROM common.outbox_topics",
          "CREATE TABLE common.intruder (a int)",
          "CREATE OR REPLACE FUNCTION common.append_outbox() RETURNS void LANGUAGE sql AS 'SELECT'"}) {
      EXPECT_THROW(write(*this, *login, text), sql::StatementError) << text;
    }
  }
  const sql::Rows rows =
      run(owner_->database().read("SELECT count(*) FROM outbox_events WHERE aggregate_type = 'rights'"));
  EXPECT_GE(rows.one().integer(0), 8);
}

// A row that relays can't publish stops its aggregate; so no service gets one in.
TEST_F(OutboxRights, what_relays_could_not_publish_is_refused) {
  std::list<std::string> texts;  // a statement refers to its own
  const auto login = log_in("job_service", service_password("job_service"));
  const auto append = [&](const std::string& what) {
    const std::string id = "'018f4e1c-6d2a-7c3e-9f10-0242ac120002'";
    texts.push_back("SELECT common.append_outbox(" + id + ", " + what + ")");
    write(*this, *login, texts.back());
  };
  for (const char* headers : {"{}", R"({"a":"b"})", R"({ "a" : "b", "c" : "" })"}) {
    EXPECT_NO_THROW(append(fmt::format("'t', 'rights', 'a', 1, 'e', 'p', '{}'", headers))) << headers;
  }
  for (const char* headers : {"", "x", "[]", "1", "null", R"(["a"])", R"({"a":1})", R"({"a":["b"]})", R"({"a":null})",
                              R"({"a":"b","c":{}})", R"({"a":"b")"}) {
    EXPECT_ANY_THROW(append(fmt::format("'t', 'rights', 'a', 1, 'e', 'p', '{}'", headers))) << headers;
  }
  for (const char* names : {"'', 'rights', 'a'", "'t', '', 'a'", "'t', 'rights', ''", "NULL, 'rights', 'a'"}) {
    EXPECT_ANY_THROW(append(fmt::format("{}, 1, 'e', 'p', '{{}}'", names))) << names;
  }
  const std::string large = "'t', 'rights', 'a', 1, 'e', convert_to(repeat('x', {}), 'UTF8'), '{{}}'";
  EXPECT_NO_THROW(append(fmt::format(fmt::runtime(large), messaging::max_message_bytes - 10)));
  EXPECT_ANY_THROW(append(fmt::format(fmt::runtime(large), messaging::max_message_bytes)));
}

TEST_F(OutboxRights, whoever_is_no_service_does_not_append) {
  const auto admin = log_in(shared_postgres().user(), shared_postgres().password());
  write(*this, *admin, "DROP ROLE IF EXISTS stranger");
  write(*this, *admin, "CREATE ROLE stranger LOGIN PASSWORD 'stranger' IN ROLE document_reader");
  const auto stranger = log_in("stranger", "stranger");
  EXPECT_THROW(write(*this, *stranger, append_as_text), sql::StatementError);
}

// A service that makes a function of the same name as one used inside must not run it with the owner's rights.
TEST_F(OutboxRights, the_functions_search_path_is_its_own) {
  const auto login = log_in("job_service", service_password("job_service"));
  write(*this, *login,
        "CREATE OR REPLACE FUNCTION sha256(bytea) RETURNS bytea LANGUAGE plpgsql AS "
        "'BEGIN RAISE EXCEPTION ''intruder''; END'");
  write(*this, *login, "ALTER ROLE job_service SET search_path = job_service, pg_catalog");
  const auto again = log_in("job_service", service_password("job_service"));
  EXPECT_NO_THROW(write(*this, *again, append_as_text));
  write(*this, *again, "DROP FUNCTION job_service.sha256(bytea)");
  write(*this, *again, "ALTER ROLE job_service RESET search_path");
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Postgres, OutboxContract, testing::ValuesIn(postgres_service_engines("common")), engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, OutboxStoreContract, testing::ValuesIn(postgres_service_engines("common")),
                         engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, OutboxDeadContract,
                         testing::ValuesIn(outbox_dead_in_sql(postgres_service_engines("common"))), port_engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, OutboxLossContract, testing::ValuesIn(postgres_service_engines("common")),
                         engine_name);

}  // namespace sluice::test
