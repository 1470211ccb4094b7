// The queue as workers in any language and operators meet it, on each database.
#include <fstream>

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/json.h"
#include "jobs/job.h"
#include "runtime/system_clock.h"
#include "server/blocking.h"
#include "server/log_desk.h"
#include "tests/scenario/jobs_over_http.h"

namespace sluice::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

bool answers_within(const RawClient& client, std::chrono::milliseconds time) {
  pollfd readable{.fd = client.descriptor(), .events = POLLIN, .revents = 0};
  return poll(&readable, 1, static_cast<int>(time.count())) > 0;
}

// As the kernel lists it; `name` is getsockname or getpeername.
std::string end_of(const RawClient& client, decltype(getsockname)* name) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  name(client.descriptor(), reinterpret_cast<sockaddr*>(&address), &size);
  return fmt::format(":{:04X}", ntohs(address.sin_port));
}

// Whether the server has read all that was sent: its kernel has all bytes and keeps none for it.
bool was_read(const RawClient& client) {
  int on_the_way = 1;
  if (ioctl(client.descriptor(), SIOCOUTQ, &on_the_way) != 0 || on_the_way > 0) return false;
  const std::string ours = end_of(client, getsockname);
  const std::string theirs = end_of(client, getpeername);
  std::ifstream connections("/proc/net/tcp");
  std::string number, local, remote, state, queues, rest;
  while (connections >> number >> local >> remote >> state >> queues && std::getline(connections, rest)) {
    if (local.ends_with(theirs) && remote.ends_with(ours)) return queues.ends_with(":00000000");
  }
  return false;
}

void wait_until_read(const RawClient& client) {
  const auto give_up = std::chrono::steady_clock::now() + 1min;
  while (!was_read(client)) ASSERT_LT(std::chrono::steady_clock::now(), give_up) << "the server reads nothing";
}

TEST_P(JobsOverHttp, a_job_is_added_claimed_and_completed) {
  const JobsAnswer added =
      enqueue(R"({"kind":"mail","payload":{"to":"a"},"priority":5},)"
              R"({"kind":"mail","payload":[1,"two"],"priority":-5,"throttleKey":"example.com","maxAttempts":7})");
  const std::vector<JobAnswer> claimed = claim("mail");
  ASSERT_EQ(claimed.size(), 2U);
  EXPECT_EQ(claimed[0].id, added.jobs[1].id);
  EXPECT_EQ(claimed[0].payload.text, R"([1,"two"])");
  EXPECT_EQ(claimed[0].throttle_key, "example.com");
  EXPECT_EQ(claimed[1].attempt, 1);
  EXPECT_EQ(claimed[1].throttle_key, std::nullopt);

  EXPECT_EQ(tell("heartbeat", claimed[1]),
            fmt::format(R"({{"results":[{{"id":"{}","accepted":true}}]}})", claimed[1].id));
  EXPECT_THAT(tell("complete", claimed[1], R"(,"result":{"sent":true})"), HasSubstr(R"("accepted":true)"));
  EXPECT_THAT(tell("complete", claimed[1]), HasSubstr(R"("accepted":false,"reason":"not-running")"));
  EXPECT_THAT(tell("complete", {.id = "00000000-0000-7000-8000-000000000000", .lock_token = "1"}),
              HasSubstr(R"("reason":"unknown")"));
  EXPECT_THAT(tell("complete", {.id = claimed[0].id, .lock_token = "nonsense"}), HasSubstr(R"("reason":"stale-lock")"));
  const std::string shown = show(claimed[1].id);
  EXPECT_THAT(shown, HasSubstr(R"("status":"succeeded","attempts":1,"maxAttempts":2)"));
  EXPECT_THAT(shown, HasSubstr(R"("result":{"sent":true})"));
  EXPECT_THAT(shown, HasSubstr(R"("history":[{"attempt":1,)"));
  EXPECT_THAT(show(claimed[0].id), HasSubstr(R"("maxAttempts":7)"));
}

TEST_P(JobsOverHttp, a_unique_key_has_one_job) {
  const JobsAnswer added =
      enqueue(R"({"kind":"mail","payload":1,"uniqueKey":"a"},{"kind":"mail","payload":2,"uniqueKey":"b"},)"
              R"({"kind":"mail","payload":3,"uniqueKey":"a"})");
  EXPECT_FALSE(added.jobs[0].duplicate);
  EXPECT_TRUE(added.jobs[2].duplicate);
  EXPECT_EQ(added.jobs[2].id, added.jobs[0].id);
  const JobsAnswer again = enqueue(R"({"kind":"mail","payload":4,"uniqueKey":"b"})");
  EXPECT_TRUE(again.jobs[0].duplicate);
  EXPECT_EQ(again.jobs[0].id, added.jobs[1].id);
}

TEST_P(JobsOverHttp, one_bad_job_is_named_and_none_is_added) {
  for (const char* bad : {R"({"kind":"","payload":1})", R"({"payload":1})", R"({"kind":7,"payload":1})",
                          R"({"kind":"mail","payload":1,"maxAttempts":0})", R"({"kind":"mail","payload":1,"x":1})",
                          R"({"kind":"mail","payload":1,"runAfter":"soon"})"}) {
    const RawResponse response =
        ask("POST", "/api/v1/jobs", fmt::format(R"({{"jobs":[{{"kind":"mail","payload":1}},{}]}})", bad));
    EXPECT_EQ(response.status, 422) << bad;
    EXPECT_THAT(response.body, HasSubstr(R"("code":"invalid-job")"));
    EXPECT_THAT(response.body, HasSubstr(R"("field":"jobs[1])")) << bad;
  }
  EXPECT_TRUE(claim("mail").empty());
  EXPECT_EQ(ask("POST", "/api/v1/jobs", R"({"jobs":[]})").status, 422);
  EXPECT_EQ(ask("POST", "/api/v1/jobs", R"({"jobs":)").status, 400);
  EXPECT_EQ(ask("POST", "/api/v1/jobs", R"({"job":[]})").status, 400);
  EXPECT_EQ(ask("POST", "/api/v1/jobs/claim", R"({"worker":"w","kinds":["a"],"limit":1,"waitMs":30001})").status, 422);
  EXPECT_EQ(ask("GET", "/api/v1/jobs?status=lost").status, 422);
  EXPECT_EQ(ask("GET", "/api/v1/jobs?cursor=x").status, 422);
  EXPECT_EQ(ask("GET", "/api/v1/jobs/00000000-0000-7000-8000-000000000000").status, 404);
}

TEST_P(JobsOverHttp, only_services_may_call) {
  key_ = make_key("USER");
  EXPECT_EQ(ask("POST", "/api/v1/jobs", R"({"jobs":[{"kind":"a","payload":1}]})").status, 403);
  EXPECT_EQ(ask("GET", "/api/v1/jobs/stats").status, 403);
  key_ = "sk_wrong";
  EXPECT_EQ(ask("GET", "/api/v1/jobs").status, 401);
}

TEST_P(JobsOverHttp, a_failed_job_waits_a_dead_one_is_retried_and_a_waiting_one_canceled) {
  const std::string soft = add("mail");
  EXPECT_THAT(tell("fail", claim("mail").at(0), R"(,"error":"no route")"), HasSubstr(R"("accepted":true)"));
  EXPECT_THAT(show(soft), HasSubstr(R"("status":"failed")"));
  EXPECT_THAT(show(soft), HasSubstr(R"("lastError":"no route")"));
  EXPECT_TRUE(claim("mail").empty());  // for five minutes

  const std::string hard = add("mail");
  tell("fail", claim("mail").at(0), R"(,"error":"no mailbox","permanent":true)");
  EXPECT_EQ(status(hard), "dead");
  EXPECT_EQ(ask("POST", "/api/v1/jobs/" + hard + "/cancel").status, 409);
  EXPECT_THAT(ask("POST", "/api/v1/jobs/" + hard + "/retry").body, HasSubstr(R"("status":"queued")"));
  EXPECT_EQ(ask("POST", "/api/v1/jobs/" + hard + "/retry").status, 409);
  EXPECT_THAT(ask("POST", "/api/v1/jobs/" + hard + "/cancel").body, HasSubstr(R"("status":"canceled")"));
  EXPECT_EQ(ask("POST", "/api/v1/jobs/" + soft + "/cancel").status, 200);
  EXPECT_EQ(ask("POST", "/api/v1/jobs/00000000-0000-7000-8000-000000000000/retry").status, 404);
}

TEST_P(JobsOverHttp, who_does_not_renew_loses_the_job_and_comes_too_late) {
  const std::string id = add("short");
  const JobAnswer first = claim("short").at(0);
  restart_with_long_locks();  // the second lock lasts however slow the machine is
  const std::vector<JobAnswer> second = claim("short", 30'000);
  ASSERT_EQ(second.size(), 1U);
  EXPECT_EQ(second[0].id, id);
  EXPECT_EQ(second[0].attempt, 2);
  EXPECT_THAT(tell("complete", first), HasSubstr(R"("accepted":false,"reason":"stale-lock")"));
  EXPECT_THAT(tell("heartbeat", first), HasSubstr(R"("reason":"stale-lock")"));
  EXPECT_THAT(tell("complete", second[0]), HasSubstr(R"("accepted":true)"));
  EXPECT_THAT(show(id), HasSubstr(R"("outcome":"lost")"));
}

TEST_P(JobsOverHttp, who_renews_keeps_the_job) {
  const SystemClock clock;
  add("renewed");
  const JobAnswer job = claim("renewed").at(0);
  const Instant lost_by_then = clock.now() + renewed_lock;
  while (clock.now() <= lost_by_then) {
    EXPECT_TRUE(claim("renewed", 400).empty());
    EXPECT_THAT(tell("heartbeat", job), HasSubstr(R"("accepted":true)"));
  }
  EXPECT_TRUE(claim("renewed").empty());
  EXPECT_THAT(tell("complete", job), HasSubstr(R"("accepted":true)"));
}

TEST_P(JobsOverHttp, a_claim_waits_for_work_and_ends_with_the_server) {
  const std::string claim = R"({"worker":"w","kinds":["mail"],"limit":10,"waitMs":30000})";
  RawClient client(server_->port(), 1min);
  client.send(request("POST", "/api/v1/jobs/claim", claim));
  EXPECT_FALSE(answers_within(client, 300ms));
  const std::string id = add("mail");
  EXPECT_EQ(read(client.read_response()).jobs.at(0).id, id);

  client.send(request("POST", "/api/v1/jobs/claim", claim));
  wait_until_read(client);
  EXPECT_FALSE(answers_within(client, 300ms));
  stop_server();
  EXPECT_TRUE(read(client.read_response()).jobs.empty());
}

TEST_P(JobsOverHttp, a_worker_that_died_while_it_waited_gets_no_job) {
  for (int i = 0; i < 5; ++i) {
    RawClient dying(server_->port());
    dying.send(request("POST", "/api/v1/jobs/claim", R"({"worker":"w","kinds":["mail"],"limit":10,"waitMs":30000})"));
  }
  const std::string id = add("mail");
  const std::vector<JobAnswer> claimed = claim("mail", 30'000);
  ASSERT_EQ(claimed.size(), 1U);
  EXPECT_EQ(claimed[0].id, id);
  EXPECT_EQ(claimed[0].attempt, 1);
}

TEST_P(JobsOverHttp, jobs_that_a_worker_did_not_get_to_read_go_back) {
  const std::string payload(size_t{900} << 10, 'x');
  for (int i = 0; i < 8; ++i) enqueue(fmt::format(R"({{"kind":"mail","payload":"{}"}})", payload));
  {
    RawClient dying(server_->port());
    dying.send(request("POST", "/api/v1/jobs/claim", R"({"worker":"w","kinds":["mail"],"limit":10})"));
    dying.read_until(R"({"jobs":[)");
  }
  size_t got = 0;
  for (int i = 0; i < 8 && got < 8; ++i) {
    for (const JobAnswer& job : claim("mail", 30'000)) {
      EXPECT_EQ(job.attempt, 1);
      ++got;
    }
  }
  EXPECT_EQ(got, 8U);
}

TEST_P(JobsOverHttp, a_request_with_a_key_adds_its_jobs_once) {
  const std::string body = R"({"jobs":[{"kind":"mail","payload":1},{"kind":"mail","payload":2,"uniqueKey":"a"}]})";
  const auto send = [&](const std::string& key, const std::string& jobs) {
    RawClient client(server_->port());
    client.send(request("POST", "/api/v1/jobs", jobs, "Idempotency-Key: " + key + "\r\n"));
    return client.read_response();
  };
  const RawResponse first = send("one", body);
  EXPECT_EQ(first.status, 201);
  const RawResponse again = send("one", body);
  EXPECT_EQ(again.status, 201);
  EXPECT_EQ(again.body, first.body);
  const RawResponse other = send("one", R"({"jobs":[{"kind":"mail","payload":3}]})");
  EXPECT_EQ(other.status, 422);
  EXPECT_THAT(other.body, HasSubstr(R"("code":"idempotency-key-reused")"));
  EXPECT_NE(send("two", body).body, first.body);
  EXPECT_EQ(send(std::string(201, 'k'), body).status, 422);
  EXPECT_EQ(claim("mail").size(), 3U);

  key_ = make_key("SERVICE");
  EXPECT_NE(send("one", body).body, first.body) << "a key is its caller's own";
}

TEST_P(JobsOverHttp, jobs_are_listed_page_by_page_and_counted) {
  for (int i = 0; i < 5; ++i) add("mail");
  add("other");
  tell("complete", claim("mail", 0, 1).at(0));
  std::vector<size_t> pages;
  std::string cursor;
  do {
    const JobsAnswer page = read(ask("GET", "/api/v1/jobs?kind=mail&limit=2" + cursor));
    pages.push_back(page.jobs.size());
    cursor = page.next ? "&cursor=" + *page.next : "";
  } while (!cursor.empty());
  EXPECT_THAT(pages, ElementsAre(2, 2, 1));
  EXPECT_EQ(read(ask("GET", "/api/v1/jobs?status=succeeded")).jobs.size(), 1U);
  const std::string stats = ask("GET", "/api/v1/jobs/stats").body;
  EXPECT_THAT(stats, HasSubstr(R"({"kind":"mail","counts":{"queued":4,"succeeded":1},"oldestWaiting":"20)"));
}

TEST_P(JobsOverHttp, operators_look_retry_cancel_and_purge_beside_the_server) {
  const std::string dead = add("once");
  tell("fail", claim("once").at(0), R"(,"error":"it broke")");
  const std::string done = add("mail");
  tell("complete", claim("mail").at(0));
  EXPECT_THAT(sluice({"jobs", "list", "--status", "dead"}).output, HasSubstr(dead));
  EXPECT_THAT(sluice({"jobs", "show", dead}).output, HasSubstr("it broke"));
  EXPECT_THAT(sluice({"jobs", "stats"}).output, HasSubstr("once"));
  EXPECT_EQ(sluice({"jobs", "retry", dead}).code, 0);
  EXPECT_EQ(sluice({"jobs", "retry", dead}).code, 1);
  EXPECT_EQ(sluice({"jobs", "cancel", dead}).code, 0);
  EXPECT_EQ(sluice({"jobs", "cancel", done}).code, 1);
  EXPECT_EQ(sluice({"jobs", "show", "nonsense"}).code, 2);
  EXPECT_EQ(sluice({"jobs", "show", "00000000-0000-7000-8000-000000000000"}).code, 1);
  EXPECT_EQ(sluice({"jobs", "list", "--status", "lost"}).code, 2);
  EXPECT_EQ(sluice({"jobs", "purge", "--older-than", "soon"}).code, 2);
  EXPECT_THAT(sluice({"jobs", "purge", "--older-than", "0s"}).output, HasSubstr("2 purged"));
  EXPECT_EQ(ask("GET", "/api/v1/jobs/" + done).status, 404);
}

TEST_P(JobsOverHttp, names_and_errors_of_clients_cannot_change_the_terminal) {
  const std::string id = add("once");
  tell("fail", claim("once").at(0), R"(,"error":"it\u001b[2J broke\nforged line")");
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"jobs", "list"}, std::vector<std::string>{"jobs", "show", id}}) {
    const std::string output = sluice(command).output;
    EXPECT_THAT(output, Not(HasSubstr("\x1b")));
    EXPECT_THAT(output, HasSubstr("it\\u001b[2J broke\\nforged line"));
  }
}

TEST_P(JobsOverHttp, the_example_worker_works) {
  std::string many;
  for (int i = 0; i < 25; ++i)
    many += fmt::format(R"({}{{"kind":"greet","payload":{{"name":"n{}"}}}})", i ? "," : "", i);
  const JobsAnswer added = enqueue(many + R"(,{"kind":"greet","payload":{}})");
  const std::string script = std::string(std::getenv("SLUICE_SOURCE")) + "/examples/worker.py";
  const std::string output = run_program({.arguments = {"python3", script, "--url", server_->url(), "--until-idle"},
                                          .environment = {{"SLUICE_KEY", key_}}});
  EXPECT_THAT(output, HasSubstr("25 done, 1 failed"));
  EXPECT_THAT(show(added.jobs[0].id), HasSubstr(R"("result":{"greeting":"Hello, n0!"})"));
  EXPECT_EQ(status(added.jobs[25].id), "dead");
}

TEST_P(JobsOverHttp, a_message_of_another_service_adds_a_job_once) {
  if (GetParam() != "sqlite") GTEST_SKIP() << "there is no log without Redis or Kafka";
  const auto loaded = server::load_settings({config_, {}});
  server::LogDesk desk(loaded->settings, server::LogEngine::embedded);
  const auto publish = [&desk](std::string payload, messaging::Headers headers) {
    messaging::Message message{"jobs.enqueue", "k", std::move(payload), std::move(headers)};
    server::run_blocking(desk.here, publish_one(desk.parts.log(), std::move(message)));
  };
  const std::string id = "018f4e1c-6d2a-7c3e-9f10-0242ac120002";
  publish(R"({"kind":"told","payload":1,"uniqueKey":"a"})", {});
  publish(R"({"kind":"told","payload":2,"uniqueKey":"a"})", {});
  publish(R"({"kind":"told","payload":3})", {{"message-id", id}});
  publish(R"({"kind":"told","payload":3})", {{"message-id", id}});
  publish(R"({"no":"job"})", {});
  publish(R"({"kind":"last","payload":4})", {});
  EXPECT_EQ(claim("last", 30'000).size(), 1U);  // of the same key: the others have been handled
  const std::vector<JobAnswer> told = claim("told");
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[0].payload.text, "1");
  EXPECT_EQ(told[1].payload.text, "3");
  EXPECT_THAT(sluice({"dlq", "list"}).output, HasSubstr("PARSE_ERROR"));
  server::run_blocking(desk.here, desk.parts.close());
}

INSTANTIATE_TEST_SUITE_P(, JobsOverHttp, testing::Values("sqlite", "postgres"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace sluice::test
