// The upkeep of jobs by a server, over time and with a damaged database.
#include "tests/scenario/jobs_over_http.h"

namespace sluice::test {
namespace {

// On SQLite: its file can be changed behind the server's back while that is stopped.
class JobUpkeepOverHttp : public JobsOverHttp {
 protected:
  void change(const std::string& sql) {
    stop_server();
    const std::string file = (folder_ / "data" / "sluice.db").string();
    const std::string script = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(sys.argv[2])";
    run_program({.arguments = {"python3", "-c", script, file, sql}});
    server_.emplace(SluiceOptions{.config = config_});
  }
  template <class Condition>
  static bool comes_true(Condition condition) {
    const auto give_up = std::chrono::steady_clock::now() + 30s;
    bool holds = condition();
    while (!holds && std::chrono::steady_clock::now() < give_up) holds = condition();
    return holds;
  }
  static std::string as_blob(std::string id) {
    std::erase(id, '-');
    return fmt::format("x'{}'", id);
  }
  // Ids begin with their time in milliseconds.
  static std::string days_older(const std::string& id, int days) {
    const int64_t made = std::stoll(id.substr(0, 8) + id.substr(9, 4), nullptr, 16);
    const std::string older = fmt::format("{:012x}", made - days * 86'400'000LL);
    return older.substr(0, 8) + "-" + older.substr(8, 4) + id.substr(13);
  }
  std::string finish_one() const {
    const std::string id = add("mail");
    tell("complete", claim("mail").at(0));
    return id;
  }
};

TEST_P(JobUpkeepOverHttp, finished_jobs_are_kept_for_their_retention) {
  const std::string done = finish_one();
  const std::string old = days_older(done, 8);
  const std::string young = days_older(done, 6);
  const auto copy = [&done](const std::string& id, int days) {
    return fmt::format(
        "INSERT INTO finished_jobs SELECT {}, kind, status, priority, run_after, attempts, max_attempts, lock_token, "
        "locked_at, created_at, finished_at - {} * 86400000000, locked_by, throttle_key, unique_key, payload, "
        "last_error, result FROM finished_jobs WHERE id = {};",
        as_blob(id), days, as_blob(done));
  };
  change("DROP TRIGGER finished_jobs_legal; DROP TRIGGER finished_jobs_leave;" + copy(old, 8) + copy(young, 6));
  EXPECT_TRUE(comes_true([&] { return ask("GET", "/api/v1/jobs/" + old).status == 404; }));
  EXPECT_EQ(status(young), "succeeded");
  EXPECT_EQ(status(done), "succeeded");
}

TEST_P(JobUpkeepOverHttp, a_loop_whose_statement_is_refused_takes_nobody_down) {
  change("DROP TABLE job_requests;");
  EXPECT_TRUE(comes_true([&] { return server_->process().output().contains("background loop was refused"); }));
  finish_one();
}

INSTANTIATE_TEST_SUITE_P(, JobUpkeepOverHttp, testing::Values("sqlite"), [](const auto& info) { return info.param; });

}  // namespace
}  // namespace sluice::test
