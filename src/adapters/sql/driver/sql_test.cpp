#include <gtest/gtest.h>

#include "adapters/sql/driver/database.h"
#include "adapters/sql/driver/migrations.h"

namespace sluice::sql {
namespace {

// A transaction whose statements end at once, or later when told: the two ways drivers drive a body.
class ScriptedTx : public Tx {
 public:
  explicit ScriptedTx(bool suspends) : suspends_(suspends) {}
  Dialect dialect() const override { return Dialect::sqlite; }

  void continue_body() {
    TxStatement* statement = std::exchange(waiting_, nullptr);
    ASSERT_NE(statement, nullptr);
    statement->resume();
  }

 protected:
  bool start(TxStatement& statement) override {
    Rows rows;
    rows.rows.emplace_back(std::vector<Value>{static_cast<int64_t>(++count_)});
    statement.finish(std::move(rows));
    waiting_ = suspends_ ? &statement : nullptr;
    return !suspends_;
  }

 private:
  bool suspends_;
  int count_ = 0;
  TxStatement* waiting_ = nullptr;
};

TxTask<int64_t> next(Tx& tx) {
  const Rows rows = co_await tx.execute("SELECT next");
  co_return rows.one().integer(0);
}

TxTask<int64_t> sum_of_two(Tx& tx) {
  const int64_t first = co_await next(tx);
  const int64_t second = co_await next(tx);
  co_return first + second;
}

TEST(TxTask, runs_to_its_end_where_statements_never_wait) {
  ScriptedTx tx(false);
  TxTask<int64_t> task = sum_of_two(tx);
  task.start();
  ASSERT_TRUE(task.done());
  EXPECT_EQ(task.take(), 3);
}

TEST(TxTask, suspends_at_each_statement_that_waits) {
  ScriptedTx tx(true);
  TxTask<int64_t> task = sum_of_two(tx);
  task.start();
  EXPECT_FALSE(task.done());
  tx.continue_body();
  EXPECT_FALSE(task.done());
  tx.continue_body();
  ASSERT_TRUE(task.done());
  EXPECT_EQ(task.take(), 3);
}

TxTask<> throws(Tx& tx) {
  co_await next(tx);
  throw ConstraintViolation(ConstraintViolation::Kind::unique, "t.a");
}

TEST(TxTask, an_exception_comes_through) {
  ScriptedTx tx(false);
  TxTask<> task = throws(tx);
  task.start();
  ASSERT_TRUE(task.done());
  EXPECT_THROW(task.take(), ConstraintViolation);
}

TEST(Params, keep_the_type_they_were_given) {
  Params params(1.5, true, 7, "text", std::optional<int64_t>{});
  const Params copy(params);
  EXPECT_EQ(copy.values(), (std::vector<Value>{1.5, true, int64_t{7}, std::string("text"), Null{}}));
}

TEST(Migrations, statements_end_where_an_empty_line_follows) {
  using Statements = std::vector<std::string_view>;
  EXPECT_EQ(split_statements("-- why\nCREATE a;\n\nINSERT ';';\nno end;\n\n\n-- the end\n"),
            (Statements{"-- why\nCREATE a", "INSERT ';';\nno end"}));
  EXPECT_EQ(split_statements("CREATE a;"), Statements{"CREATE a"});
  EXPECT_EQ(split_statements("-- nothing yet\n"), Statements{});
}

TEST(Row, gives_the_type_asked_for_from_either_engine) {
  SeededRandom random(1);
  const Uuid id = Uuid::v7(Time{5s}, random);
  const Row native({Time{5s}, id, true});
  const Row plain({int64_t{5'000'000}, Bytes(id.bytes.begin(), id.bytes.end()), int64_t{1}});
  for (const Row& row : {native, plain}) {
    EXPECT_EQ(row.time(0), Time{5s});
    EXPECT_EQ(row.uuid(1), id);
    EXPECT_TRUE(row.boolean(2));
  }
}

}  // namespace
}  // namespace sluice::sql
