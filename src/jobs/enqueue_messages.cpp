#include "jobs/enqueue_messages.h"

#include <fmt/format.h>

#include "jobs/job_request.h"
#include "runtime/errors.h"
#include "runtime/hashed_id.h"

namespace sluice::jobs {
namespace {

using messaging::Delivery;
using messaging::Handled;

// The id of a message without one: its place and its time, which are the same at every delivery. The place alone is not
// unique: a deleted topic may be created again.
messaging::MessageId id_by_place(const Delivery& delivery) {
  return messaging::MessageId(
      hashed_uuid(fmt::format("message {} {} {} {}", delivery.assignment->partition, delivery.offset,
                              delivery.published_at.time_since_epoch().count(), delivery.assignment->topic)));
}

Task<Handled> enqueue(Jobs& jobs, Delivery delivery) {
  auto wanted = json::decode<JobRequest>(delivery.payload);
  if (!wanted) co_return Handled::dead("PARSE_ERROR", wanted.error().text());
  std::vector<NewJob> one;
  one.push_back(std::move(*wanted).job());
  const messaging::MessageId id = delivery.message_id().value_or(id_by_place(delivery));
  try {
    co_await jobs.enqueue_once(id, std::move(one));
  } catch (const EngineRefused& error) {
    // The request is valid, so its tables are not there yet: no fault of the message.
    throw EngineUnavailable("jobs", fmt::format("{}; run `sluice migrate` if you have not yet", error.what()));
  }
  co_return Handled::done();
}

}  // namespace

messaging::Handler enqueue_handler(Jobs& jobs) {
  return [&jobs](Delivery delivery) { return enqueue(jobs, std::move(delivery)); };
}

}  // namespace sluice::jobs
