// Documents of a real server whose PostgreSQL has stopped.
#include "tests/scenario/documents_fixture.h"
#include "tests/scenario/one_server.h"
#include "tests/support/needs.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

class DocumentsWithoutDatabase : public testing::Test, protected OneServer {
 protected:
  void SetUp() override {
    SLUICE_NEEDS(PostgresServer::why_missing(15));
    start_server(Records::postgres, origin("lasting", "30d") + origin("aging", "1ms"));
  }
  void TearDown() override { stop_server(); }

  std::string origin(const std::string& name, const std::string& fresh_for) const {
    return fmt::format(
        "[[documents.origin]]\nname = \"{}\"\nbase_url = \"{}\"\nfresh_for = \"{}\"\nstrangers_per_second = 1000\n",
        name, origin_.url(), fresh_for);
  }
  RawResponse get(const std::string& target) const { return RawClient(server_->port()).get(target); }

  ToldOrigin origin_;
};

TEST_F(DocumentsWithoutDatabase, a_document_without_a_copy_is_refused_and_not_fetched) {
  const std::string path = "extra/unknown.xml";
  postgres_->stop();
  for (const std::string& target : {document_target("lasting", path), document_target("lasting", path) + "?fetch=false",
                                    "/api/v1/documents/lasting?path=" + path}) {
    const RawResponse refused = get(target);
    EXPECT_EQ(refused.status, 503) << target;
    EXPECT_EQ(refused.header("Content-Type"), "application/problem+json") << target;
    EXPECT_THAT(refused.body, HasSubstr(R"("code":"database-unavailable")")) << target;
    EXPECT_EQ(refused.header("Sluice-Degraded"), "database-unavailable") << target;
    EXPECT_EQ(refused.header("Retry-After"), "5") << target;
  }
  EXPECT_EQ(origin_.stat(path), 0);
}

TEST_F(DocumentsWithoutDatabase, a_document_in_memory_is_served_and_marked_if_it_is_old) {
  const std::string fresh = document_target("lasting", "extra/known.xml");
  const std::string old = document_target("aging", "extra/known.xml");
  const RawResponse fetched = get(fresh);
  ASSERT_EQ(fetched.status, 200) << fetched.body;
  ASSERT_EQ(get(old).body, fetched.body);
  postgres_->stop();

  const RawResponse from_memory = get(fresh);
  EXPECT_EQ(from_memory.status, 200);
  EXPECT_EQ(from_memory.body, fetched.body);
  EXPECT_EQ(from_memory.header("Sluice-Source"), "memory");
  EXPECT_EQ(from_memory.header("Sluice-Degraded"), "");

  const RawResponse stale = get(old);
  EXPECT_EQ(stale.status, 200);
  EXPECT_EQ(stale.body, fetched.body);
  EXPECT_EQ(stale.header("Sluice-Source"), "stale");
  EXPECT_EQ(stale.header("Sluice-Degraded"), "database-unavailable");
}

}  // namespace
}  // namespace sluice::test
