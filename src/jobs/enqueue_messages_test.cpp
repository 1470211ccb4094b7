#include "jobs/enqueue_messages.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "jobs/job_request.h"
#include "jobs/testing/pretend_job_store.h"
#include "runtime/errors.h"
#include "runtime/virtual_clock.h"

namespace sluice::jobs {
namespace {

using messaging::Delivery;
using messaging::Handled;

struct EnqueueMessages : testing::Test {
  // One delivery of the message at `offset`.
  Handled deliver(int64_t offset, std::string_view payload, messaging::HeaderViews headers = {}) {
    const Delivery delivery{.assignment = assignment,
                            .offset = offset,
                            .published_at = topic_made_at + offset * 1s,
                            .payload = payload,
                            .headers = std::move(headers)};
    Handled handled;
    std::exception_ptr failure;
    asio::co_spawn(io, handler(delivery), [&](const std::exception_ptr& error, Handled answer) {
      failure = error;
      handled = std::move(answer);
    });
    io.restart();
    io.run();
    if (failure) std::rethrow_exception(failure);
    return handled;
  }

  asio::io_context io;
  Time topic_made_at{1'800'000'000s};
  VirtualClock clock;
  PretendJobStore store{clock};
  messaging::Bell bell;
  Jobs jobs{store, bell, clock};
  messaging::Handler handler = enqueue_handler(jobs);
  std::shared_ptr<const messaging::Assignment> assignment =
      std::make_shared<messaging::Assignment>(messaging::Assignment{messaging::wanted_jobs_topic, 3});
};

constexpr std::string_view greeting = R"({"kind":"greet","payload":{"name":"n"}})";
const messaging::HeaderViews named{{messaging::header::message_id, "018f4e1c-6d2a-7c3e-9f10-0242ac120002"}};

TEST_F(EnqueueMessages, a_message_delivered_twice_adds_one_job) {
  for (int i = 0; i < 2; ++i) EXPECT_EQ(deliver(7, greeting, named).kind, Handled::Kind::done);
  ASSERT_EQ(store.jobs.size(), 1U);
  const NewJob& added = store.jobs.begin()->second.job;
  EXPECT_EQ(added.kind, "greet");
  EXPECT_EQ(added.payload, R"({"name":"n"})");
  EXPECT_FALSE(added.unique_key) << "the message is remembered, not the job";
}

TEST_F(EnqueueMessages, what_a_service_asks_for_is_what_is_added) {
  const messaging::WantedJob wanted{.kind = "greet",
                                    .payload = R"({"name":"\"n\""})",
                                    .unique_key = "k\"1",
                                    .priority = -3,
                                    .run_after = Time{1'800'000'000s},
                                    .max_attempts = 7,
                                    .throttle_key = "a.example"};
  const auto id = messaging::MessageId::parse("018f4e1c-6d2a-7c3e-9f10-0242ac120003");
  const messaging::Message message = to_message(messaging::ask_for_job(wanted, {"order", "5", 2}, *id));
  EXPECT_EQ(message.topic, messaging::wanted_jobs_topic);
  EXPECT_EQ(message.key, "5");
  messaging::HeaderViews headers;
  for (const auto& [name, value] : message.headers) headers.emplace_back(name, value);
  EXPECT_EQ(deliver(7, message.payload, headers).kind, Handled::Kind::done);
  EXPECT_TRUE(store.seen.contains(*id));
  ASSERT_EQ(store.jobs.size(), 1U);
  const NewJob& added = store.jobs.begin()->second.job;
  EXPECT_EQ(added.kind, wanted.kind);
  EXPECT_EQ(added.payload, wanted.payload);
  EXPECT_EQ(added.unique_key, wanted.unique_key);
  EXPECT_EQ(added.priority, wanted.priority);
  EXPECT_EQ(added.run_after, wanted.run_after);
  EXPECT_EQ(added.max_attempts, wanted.max_attempts);
  EXPECT_EQ(added.throttle_key, wanted.throttle_key);
}

TEST_F(EnqueueMessages, a_message_that_was_published_twice_adds_one_job) {
  deliver(7, greeting, named);
  deliver(8, greeting, named);
  EXPECT_EQ(store.jobs.size(), 1U);
}

TEST_F(EnqueueMessages, one_without_an_id_is_known_by_its_place) {
  for (int i = 0; i < 2; ++i) deliver(7, greeting);
  EXPECT_EQ(store.jobs.size(), 1U);
  deliver(8, greeting);
  EXPECT_EQ(store.jobs.size(), 2U);
}

TEST_F(EnqueueMessages, a_place_that_recurs_in_a_topic_made_anew_is_another_message) {
  deliver(0, greeting);
  topic_made_at += 24h;
  deliver(0, greeting);
  EXPECT_EQ(store.jobs.size(), 2U);
}

TEST_F(EnqueueMessages, a_message_waits_for_a_schema_that_is_not_migrated_yet) {
  store.refuses = true;
  EXPECT_THROW(deliver(7, greeting, named), EngineUnavailable);
  store.refuses = false;
  EXPECT_EQ(deliver(7, greeting, named).kind, Handled::Kind::done);
  EXPECT_EQ(store.jobs.size(), 1U);
}

TEST_F(EnqueueMessages, what_is_no_job_is_dead) {
  EXPECT_EQ(deliver(7, R"({"no":"job"})", named).kind, Handled::Kind::dead);
  EXPECT_TRUE(store.jobs.empty());
  EXPECT_TRUE(store.seen.empty());
}

TEST_F(EnqueueMessages, a_payload_has_the_limit_that_requests_have) {
  const auto with = [](size_t bytes) {
    return R"({"kind":"greet","payload":")" + std::string(bytes - 2, 'x') + R"("})";
  };
  EXPECT_EQ(deliver(7, with(max_payload_bytes + 1)).kind, Handled::Kind::dead);
  EXPECT_EQ(deliver(8, with(max_payload_bytes)).kind, Handled::Kind::done);
  EXPECT_EQ(store.jobs.size(), 1U);
}

}  // namespace
}  // namespace sluice::jobs
