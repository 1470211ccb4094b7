// The queue over HTTP, as tests ask for it.
#pragma once

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "tests/scenario/one_server.h"

namespace sluice::test {

struct JobAnswer {
  std::string id;
  bool duplicate = false;
  std::string kind{};
  json::Raw payload{};
  int64_t attempt = 0;
  std::optional<std::string> lock_token{};
  std::optional<std::string> throttle_key{};
  std::string status{};

  static void describe(json::Object<JobAnswer>& object) {
    object.required("id", &JobAnswer::id);
    object.optional("duplicate", &JobAnswer::duplicate);
    object.optional("kind", &JobAnswer::kind);
    object.optional("payload", &JobAnswer::payload);
    object.optional("attempt", &JobAnswer::attempt);
    object.optional("lockToken", &JobAnswer::lock_token);
    object.optional("throttleKey", &JobAnswer::throttle_key);
    object.optional("status", &JobAnswer::status);
  }
};
struct JobsAnswer {
  std::vector<JobAnswer> jobs;
  std::optional<std::string> next;

  static void describe(json::Object<JobsAnswer>& object) {
    object.required("jobs", &JobsAnswer::jobs);
    object.optional("next", &JobsAnswer::next);
  }
};

// Each test on each database.
class JobsOverHttp : public testing::TestWithParam<std::string>, protected OneServer {
 protected:
  // Of the kind "renewed": longer than a busy machine lets a process stand still.
  static constexpr Duration renewed_lock = 6s;

  void SetUp() override {
    start_server(GetParam() == "sqlite" ? Records::sqlite : Records::postgres,
                 "[jobs.kinds.short]\nlock_ttl = \"1s\"\nmax_attempts = 5\n[jobs.kinds.once]\nmax_attempts = 1\n" +
                     fmt::format("[jobs.kinds.renewed]\nlock_ttl = \"{}\"\n", format_duration(renewed_lock)));
    key_ = make_key("SERVICE");
  }
  void TearDown() override { stop_server(); }

  // The kind "short" has locks of ten minutes from now on.
  void restart_with_long_locks() {
    stop_server();
    std::ostringstream config;
    config << std::ifstream(config_).rdbuf();
    std::string text = config.str();
    const std::string ttl = R"(lock_ttl = "1s")";
    text.replace(text.find(ttl), ttl.size(), R"(lock_ttl = "10m")");
    write("sluice.toml", text);
    server_.emplace(SluiceOptions{.config = config_});
  }

  static JobsAnswer read(const RawResponse& response) {
    auto answer = json::decode<JobsAnswer>(response.body, json::Unknown::ignored);
    EXPECT_TRUE(answer) << response.status << ' ' << response.body;
    return answer ? std::move(*answer) : JobsAnswer{};
  }
  JobsAnswer enqueue(const std::string& jobs) const {
    const RawResponse response = ask("POST", "/api/v1/jobs", R"({"jobs":[)" + jobs + "]}");
    EXPECT_EQ(response.status, 201) << response.body;
    return read(response);
  }
  std::string add(const std::string& kind) const {
    return enqueue(fmt::format(R"({{"kind":"{}","payload":{{}}}})", kind)).jobs.at(0).id;
  }
  std::vector<JobAnswer> claim(const std::string& kind, int wait_ms = 0, int limit = 10) const {
    return read(ask("POST", "/api/v1/jobs/claim",
                    fmt::format(R"({{"worker":"w","kinds":["{}"],"limit":{},"waitMs":{}}})", kind, limit, wait_ms)))
        .jobs;
  }
  std::string tell(const std::string& verb, const JobAnswer& job, const std::string& more = "") const {
    return ask("POST", "/api/v1/jobs/" + verb,
               fmt::format(R"({{"jobs":[{{"id":"{}","lockToken":"{}"{}}}]}})", job.id, job.lock_token.value(), more))
        .body;
  }
  std::string show(const std::string& id) const { return ask("GET", "/api/v1/jobs/" + id).body; }
  std::string status(const std::string& id) const {
    const auto job = json::decode<JobAnswer>(show(id), json::Unknown::ignored);
    return job ? job->status : "";
  }
};

}  // namespace sluice::test
