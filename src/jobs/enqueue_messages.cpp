#include "jobs/enqueue_messages.h"

#include <fmt/format.h>

#include "jobs/job_request.h"

namespace sluice::jobs {
namespace {

using messaging::Delivery;
using messaging::Handled;

std::string key_of(const Delivery& delivery) {
  if (const auto id = delivery.message_id()) return "message:" + id->text();
  return fmt::format("message:{}:{}:{}", delivery.assignment->topic, delivery.assignment->partition, delivery.offset);
}

Task<Handled> enqueue(Jobs& jobs, Delivery delivery) {
  auto wanted = json::decode<JobRequest>(delivery.payload);
  if (!wanted) co_return Handled::dead("PARSE_ERROR", wanted.error().text());
  std::vector<NewJob> one;
  one.push_back(std::move(*wanted).job());
  if (!one.front().unique_key) one.front().unique_key = key_of(delivery);
  co_await jobs.enqueue(std::move(one));
  co_return Handled::done();
}

}  // namespace

messaging::Handler enqueue_handler(Jobs& jobs) {
  return [&jobs](Delivery delivery) { return enqueue(jobs, std::move(delivery)); };
}

}  // namespace sluice::jobs
