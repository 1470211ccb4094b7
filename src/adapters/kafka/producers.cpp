#include "adapters/kafka/producers.h"

#include <algorithm>
#include <utility>

namespace sluice::kafka {

Producers::Producers(Instances& instances, Executor executor, Clock& clock, std::shared_ptr<Pending> pending)
    : instances_(instances), executor_(std::move(executor)), clock_(clock), pending_(std::move(pending)) {
  current();
}

std::shared_ptr<Producer> Producers::current() {
  const std::lock_guard lock(mutex_);
  if (producers_.empty() || producers_.back()->broken()) {
    producers_.push_back(std::make_shared<Producer>(instances_, executor_, clock_, pending_));
  }
  return producers_.back();
}

void Producers::drop_broken() {
  const std::lock_guard lock(mutex_);
  if (producers_.size() < 2) return;
  const auto last = producers_.end() - 1;
  // Only the last producer is handed out, so a count of one cannot grow again.
  const auto gone = std::remove_if(producers_.begin(), last, [](const std::shared_ptr<Producer>& producer) {
    return producer.use_count() == 1 && rd_kafka_outq_len(producer->instance().get()) == 0;
  });
  producers_.erase(gone, last);
}

Task<> Producers::close() {
  std::vector<std::shared_ptr<Producer>> all;
  {
    const std::lock_guard lock(mutex_);
    all = producers_;
  }
  for (const auto& producer : all) co_await producer->close();
}

}  // namespace sluice::kafka
