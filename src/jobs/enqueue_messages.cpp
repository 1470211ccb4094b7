#include "jobs/enqueue_messages.h"

#include <fmt/format.h>

#include "jobs/job_request.h"

namespace sluice::jobs {
namespace {

using messaging::Delivery;
using messaging::Handled;

// Of a message without an id: where it stands, which stays the same however often it is delivered.
std::string key_of(const Delivery& delivery) {
  return fmt::format("message:{}:{}:{}", delivery.assignment->topic, delivery.assignment->partition, delivery.offset);
}

Task<Handled> enqueue(Jobs& jobs, Delivery delivery) {
  auto wanted = json::decode<JobRequest>(delivery.payload);
  if (!wanted) co_return Handled::dead("PARSE_ERROR", wanted.error().text());
  std::vector<NewJob> one;
  one.push_back(std::move(*wanted).job());
  const std::optional<messaging::MessageId> id = delivery.message_id();
  if (id) {
    co_await jobs.enqueue_once(*id, std::move(one));
  } else {
    if (!one.front().unique_key) one.front().unique_key = key_of(delivery);
    co_await jobs.enqueue(std::move(one));
  }
  co_return Handled::done();
}

}  // namespace

messaging::Handler enqueue_handler(Jobs& jobs) {
  return [&jobs](Delivery delivery) { return enqueue(jobs, std::move(delivery)); };
}

}  // namespace sluice::jobs
