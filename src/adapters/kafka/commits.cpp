#include "adapters/kafka/commits.h"

#include <algorithm>

namespace sluice::kafka {
namespace {

constexpr Duration pause_after_failure = 50ms;
// Time for the member to join again and to receive its partitions.
constexpr Duration pause_when_too_late = 1s;

bool is_too_late(rd_kafka_resp_err_t error) {
  return error == RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION || error == RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID;
}

}  // namespace

using messaging::Progress;

Commits::Commits(Instance instance, const Joining& joining, QueueSignal& signal, OwnedPartitions& owned, Clock& clock,
                 const Executor& executor)
    : instance_(std::move(instance)),
      joining_(joining),
      owned_(owned),
      clock_(clock),
      answers_(rd_kafka_queue_new(instance_.get())),
      changed_(executor) {
  signal.watch(answers_);
}

Commits::~Commits() {
  QueueSignal::unwatch(answers_);
}

Task<> Commits::commit(std::vector<Progress> progress, Instant deadline) {
  for (const Progress& one : progress) {
    OwnedPartition* owned = owned_.find(one.assignment.get());
    if (owned != nullptr && owned->committed) owned->wanted = std::max(owned->wanted, one.next);
  }
  while (!std::ranges::all_of(progress, [this](const Progress& one) { return settled(one); })) {
    const Instant now = clock_.now();
    if (now >= deadline) throw EngineUnavailable(engine_name, "not committed: " + problem_);
    if (sent_.empty() && now >= not_before_) send_or_wait();
    const Instant look_again = sent_.empty() ? not_before_ : deadline;
    co_await changed_.wait_until(clock_, std::min(deadline, look_again));
  }
}

bool Commits::settled(const Progress& progress) const {
  const OwnedPartition* owned = owned_.find(progress.assignment.get());
  return owned == nullptr || !owned->committed || progress.next <= *owned->committed;
}

void Commits::send_or_wait() {
  if (!joining_.under_way()) return send();
  problem_ = "the group is rebalancing";
  not_before_ = clock_.now() + pause_after_failure;
}

void Commits::send() {
  const Partitions offsets = new_partitions();
  for (const OwnedPartition& owned : owned_.all()) {
    if (!owned.committed || owned.wanted <= *owned.committed) continue;
    const messaging::Assignment& at = *owned.assignment;
    rd_kafka_topic_partition_list_add(offsets.get(), at.topic.c_str(), at.partition)->offset = owned.wanted;
    sent_.push_back({owned.assignment, owned.wanted});
  }
  if (rd_kafka_commit_queue(instance_.get(), offsets.get(), answers_.get(), nullptr, nullptr) ==
      RD_KAFKA_RESP_ERR_NO_ERROR) {
    return;
  }
  sent_.clear();
  not_before_ = clock_.now() + pause_after_failure;
}

void Commits::look() {
  while (const Event event{rd_kafka_queue_poll(answers_.get(), 0)}) {
    if (rd_kafka_event_type(event.get()) == RD_KAFKA_EVENT_OFFSET_COMMIT) on_answer(event.get());
  }
}

void Commits::on_answer(rd_kafka_event_t* event) {
  rd_kafka_resp_err_t error = rd_kafka_event_error(event);
  const rd_kafka_topic_partition_list_t* answers = rd_kafka_event_topic_partition_list(event);
  for (const Progress& sent : std::exchange(sent_, {})) {
    const messaging::Assignment& at = *sent.assignment;
    const rd_kafka_topic_partition_t* answer =
        answers == nullptr ? nullptr : rd_kafka_topic_partition_list_find(answers, at.topic.c_str(), at.partition);
    if (answer != nullptr && answer->err != RD_KAFKA_RESP_ERR_NO_ERROR) error = answer->err;
    OwnedPartition* owned = owned_.find(&at);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR && owned != nullptr) owned->committed = sent.next;
  }
  too_late_ = is_too_late(error);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    problem_ = rd_kafka_err2str(error);
    not_before_ = clock_.now() + (too_late_ ? pause_when_too_late : pause_after_failure);
  }
  changed_.notify_all();
}

void Commits::on_assigned() {
  too_late_ = false;
  not_before_ = {};
  changed_.notify_all();
}

}  // namespace sluice::kafka
