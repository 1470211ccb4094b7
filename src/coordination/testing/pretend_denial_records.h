// Records of denied tokens in virtual time, in a database that can be down.
//
// For testing what follows them. Passes the contract suite of DenialRecords as real ones do
// (tests/contract/pretend_coordination_test.cpp). Left out on purpose: it serves one thread.
#pragma once

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "coordination/denial_records.h"
#include "runtime/clock.h"
#include "runtime/errors.h"

namespace sluice::coordination {

class PretendDenialRecords : public DenialRecords {
 public:
  explicit PretendDenialRecords(Clock& clock) : clock_(clock) {}

  Task<> deny(Denial denial) override {
    if (down) throw EngineUnavailable("test", "down");
    const auto earlier = find(denial.token);
    if (earlier != rows_.end()) {
      if (earlier->denial.until >= denial.until) co_return;
      rows_.erase(earlier);
    }
    // No two at the same time: rows of one time would be read in the order of their tokens.
    last_written_ = std::max(last_written_ + Duration{1}, clock_.wall());
    rows_.push_back({std::move(denial), last_written_});
  }
  Task<bool> denied(std::string token) override {
    if (down) throw EngineUnavailable("test", "down");
    ++asked;
    co_return find(token) != rows_.end();
  }
  Task<DenialPage> read(DenialMark after, int64_t limit) override {
    if (down) throw EngineUnavailable("test", "down");
    DenialPage page{.denials = {}, .mark = after, .now = clock_.wall()};
    for (const Row& row : rows_) {
      if (std::ssize(page.denials) == limit) break;
      if (std::tie(row.written, row.denial.token) <= std::tie(after.written, after.token)) continue;
      page.denials.push_back(row.denial);
      page.mark = {row.written, row.denial.token};
    }
    co_return page;
  }
  Task<int64_t> purge(int64_t limit) override {
    int64_t purged = 0;
    const auto goes = [&](const Row& row) { return row.denial.until < clock_.wall() - 1h && ++purged <= limit; };
    co_return static_cast<int64_t>(std::erase_if(rows_, goes));
  }

  bool down = false;
  int asked = 0;

 private:
  struct Row {
    Denial denial;
    Time written;
  };
  std::vector<Row>::iterator find(const std::string& token) {
    return std::ranges::find_if(rows_, [&](const Row& row) { return row.denial.token == token; });
  }

  Clock& clock_;
  Time last_written_{};
  std::vector<Row> rows_;  // in the order of writing
};

}  // namespace sluice::coordination
