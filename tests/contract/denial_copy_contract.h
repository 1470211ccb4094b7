// Contract of every coordination::DenialCopy, tested on a real engine.
#pragma once

#include "coordination/denial_copy.h"
#include "tests/contract/task_fixture.h"

namespace sluice::test {

// A copy opened for one test, and the faults of its servers.
class OpenDenialCopy {
 public:
  virtual ~OpenDenialCopy() = default;
  virtual coordination::DenialCopy& copy() = 0;
  // It loses everything.
  virtual void wipe() = 0;
  // Its servers are replaced by others, which may or may not have its state.
  virtual void fail_over() = 0;
  virtual Task<> close() { co_return; }
};

struct DenialCopyEngine {
  std::string name;
  std::function<std::unique_ptr<OpenDenialCopy>(asio::io_context& io)> open;

  friend void PrintTo(const DenialCopyEngine& engine, std::ostream* out) { *out << engine.name; }
};

class DenialCopyContract : public TaskFixture, public testing::WithParamInterface<DenialCopyEngine> {
 protected:
  using Denied = coordination::Denied;

  void SetUp() override {
    open_ = GetParam().open(io_);
    open_->wipe();
    token_ = unique("token");
  }
  void TearDown() override {
    if (open_) run(open_->close());
    open_.reset();
  }

  coordination::DenialCopy& copy() { return open_->copy(); }
  Denied ask(const std::string& token) { return run(copy().ask(token)); }
  void add(const std::vector<std::string>& tokens) {
    std::vector<coordination::Denial> denials;
    for (const std::string& token : tokens) denials.push_back({token, later()});
    run(copy().add(std::move(denials)));
  }
  void fill(const std::vector<std::string>& tokens) {
    run(copy().begin_fill(7));
    add(tokens);
    run(copy().end_fill(7));
  }
  static Time later() { return std::chrono::floor<Duration>(std::chrono::system_clock::now()) + std::chrono::hours(1); }

  std::unique_ptr<OpenDenialCopy> open_;
  std::string token_;
};

TEST_P(DenialCopyContract, an_empty_copy_knows_nothing) {
  EXPECT_EQ(ask(token_), Denied::unknown);
}

TEST_P(DenialCopyContract, what_was_added_is_denied_filled_or_not) {
  add({token_});
  EXPECT_EQ(ask(token_), Denied::yes);
  EXPECT_EQ(ask("another"), Denied::unknown);
}

TEST_P(DenialCopyContract, a_filled_copy_knows_who_is_good) {
  fill({"a", "b"});
  EXPECT_EQ(ask("a"), Denied::yes);
  EXPECT_EQ(ask("b"), Denied::yes);
  EXPECT_EQ(ask(token_), Denied::no);
}

TEST_P(DenialCopyContract, holds_many) {
  std::vector<std::string> tokens;
  for (int i = 0; i < 20'000; ++i) tokens.push_back(fmt::format("{}-{}", token_, i));
  fill(tokens);
  for (int i = 0; i < 20'000; i += 997) EXPECT_EQ(ask(tokens[i]), Denied::yes);
  EXPECT_EQ(ask(token_), Denied::no);
}

TEST_P(DenialCopyContract, a_wiped_copy_revives_nobody) {
  fill({token_});
  open_->wipe();
  EXPECT_EQ(ask(token_), Denied::unknown);
}

TEST_P(DenialCopyContract, what_is_lost_while_filling_is_noticed) {
  run(copy().begin_fill(7));
  add({token_});
  open_->wipe();
  run(copy().end_fill(7));
  EXPECT_EQ(ask(token_), Denied::unknown);
}

TEST_P(DenialCopyContract, only_who_began_last_ends_a_fill) {
  run(copy().begin_fill(7));
  run(copy().begin_fill(8));
  run(copy().end_fill(7));
  EXPECT_EQ(ask(token_), Denied::unknown);
  run(copy().end_fill(8));
  EXPECT_EQ(ask(token_), Denied::no);
}

TEST_P(DenialCopyContract, a_server_that_took_over_never_calls_a_denied_token_good) {
  fill({});
  add({token_});
  open_->fail_over();
  Denied answer = Denied::no;
  ASSERT_TRUE(eventually([&] {
    try {
      answer = ask(token_);
      return true;
    } catch (const EngineUnavailable&) {
      return false;
    }
  }));
  EXPECT_NE(answer, Denied::no);
  fill({token_});
  EXPECT_EQ(ask(token_), Denied::yes);
  EXPECT_EQ(ask("another"), Denied::no);
}

}  // namespace sluice::test
