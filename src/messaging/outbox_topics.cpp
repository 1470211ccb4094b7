#include "messaging/outbox_topics.h"

#include "runtime/log.h"

namespace sluice::messaging {
namespace {

constexpr Duration ask_every = 1s;
constexpr Duration tell_every = 10s;
constexpr int rarely = 10;  // times the time that the log took not to answer

Task<std::optional<MessageLog::Memory>> memory_if_told(MessageLog& log, std::string topic) {
  try {
    co_return co_await log.memory(std::move(topic));
  } catch (const EngineUnavailable&) {
    co_return std::nullopt;
  }
}

}  // namespace

Task<bool> OutboxTopics::check() {
  if (!loaded_) {
    const std::vector<std::string> stored = co_await store_.topics();
    for (const std::string& topic : stored) topics_.try_emplace(topic);
    loaded_ = true;
  }
  bool lost = false;
  std::vector<std::string> names;
  for (const auto& [topic, known] : topics_) names.push_back(topic);
  const Instant asked = clock_.now();
  untold_ = false;
  for (const std::string& topic : names) {
    const bool gone = co_await ask(topic);
    lost |= gone;
    if (untold_) break;
  }
  const auto took = std::chrono::floor<Duration>(clock_.now() - asked);
  due_ = clock_.now() + (untold_ ? std::max(ask_every, rarely * took) : ask_every);
  co_return lost;
}

bool OutboxTopics::knows(const std::vector<OutboxRow>& rows) const {
  return std::ranges::all_of(rows, [this](const OutboxRow& row) { return knows(row.message.topic); });
}

bool OutboxTopics::knows(const std::string& topic) const {
  const auto known = topics_.find(topic);
  return known != topics_.end() && known->second.memory;
}

Task<bool> OutboxTopics::meet(const std::vector<OutboxRow>& rows) {
  bool lost = false;
  for (const OutboxRow& row : rows) {
    if (knows(row.message.topic)) continue;
    const bool gone = co_await ask(row.message.topic);
    lost |= gone;
  }
  co_return lost;
}

Task<bool> OutboxTopics::ask(std::string topic) {
  const Deadline deadline = Deadline::after(clock_, times_.timeout);
  std::optional<MessageLog::Memory> memory =
      co_await with_deadline(clock_, deadline, "message log", memory_if_told(log_, topic));
  Known& known = topics_[topic];
  if (!memory) {
    untold_ = true;
    if (known.memory) co_return false;
    throw EngineUnavailable("message log", "it does not report its history of the topic " + topic);
  }
  const bool same = known.memory == memory;
  if (same && clock_.now() < known.told + tell_every) co_return false;
  const bool lost = co_await store_.remember(topic, *memory, times_.rerun_margin);
  if (lost) log::warning("the log has lost messages; they are published again", {{"topic", topic}});
  // Another relay may have told the store first.
  const bool changed = known.memory && !same;
  known = {std::move(memory), clock_.now()};
  co_return lost || changed;
}

}  // namespace sluice::messaging
