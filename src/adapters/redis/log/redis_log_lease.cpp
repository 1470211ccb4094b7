#include "adapters/redis/log/redis_log_lease.h"

#include "adapters/redis/log/redis_log.h"
#include "adapters/redis/log/redis_log_scripts.h"

namespace sluice::redis {

LeasedPartition::LeasedPartition(const LogPartition& partition, std::string lease_token, int64_t first)
    : id(partition),
      keys(partition),
      assignment(std::make_shared<const messaging::Assignment>(partition.topic, partition.partition)),
      token(std::move(lease_token)),
      next(first) {}

LogLeases::LogLeases(Redis& redis, std::string group, std::string member, Duration session)
    : redis_(redis), group_(std::move(group)), member_(std::move(member)), session_(session) {}

Command LogLeases::hold(const LogKeys& keys, std::string_view token) const {
  const auto session = std::chrono::ceil<std::chrono::milliseconds>(session_);
  return Command(log_scripts::hold, {keys.state, keys.groups})
      .arg(group_)
      .arg(member_)
      .arg(session.count())
      .arg(token)
      .repeatable();
}

Task<LogLeases::Acquired> LogLeases::acquire(LogPartition partition) {
  Command command = hold(LogKeys(partition), "");
  const Reply reply = co_await redis_.run(std::move(command));
  if (reply[0].integer() == 0) co_return Acquired{nullptr, std::chrono::milliseconds{reply[1].integer()}};
  const std::string& committed = reply[2].text();
  const int64_t first = committed.empty() ? 0 : offset_of(committed);
  co_return Acquired{std::make_shared<LeasedPartition>(partition, reply[1].text(), first)};
}

Task<std::optional<int64_t>> LogLeases::renew(LeasedPartitionRef owned) {
  Command command = hold(owned->keys, owned->token);
  const Reply reply = co_await redis_.run(std::move(command));
  if (reply[0].integer() == 0) co_return std::nullopt;
  co_return offset_of(reply[3].text()) + 1;
}

Task<bool> LogLeases::commit(LeasedPartitionRef owned, int64_t next) {
  Command command = Command(log_scripts::commit, {owned->keys.groups})
                        .arg(group_)
                        .arg(owned->token)
                        .arg(stream_id(next))
                        .repeatable();
  const Reply reply = co_await redis_.run(std::move(command));
  co_return reply.integer() == 1;
}

Task<> LogLeases::let_go(LeasedPartitionRef owned) {
  Command command = Command(log_scripts::let_go, {owned->keys.groups})
                        .arg(group_)
                        .arg(owned->token)
                        .arg(LogNews::channel)
                        .arg(log_news_of_group(group_))
                        .repeatable();
  co_await redis_.run(std::move(command));
}

Task<std::optional<LogPage>> LogLeases::read(LeasedPartitionRef owned, size_t most, size_t most_bytes) {
  // A server that is away must not keep us from renewing the leases of the others.
  const Duration patience = std::max<Duration>(1s, session_ / 3);
  Command command = Command(log_scripts::read, {owned->keys.messages, owned->keys.state, owned->keys.groups})
                        .arg(stream_id(owned->next))
                        .arg(most)
                        .arg(most_bytes)
                        .arg(group_)
                        .arg(owned->token)
                        .arg(stream_id(std::max<int64_t>(owned->next, 1) - 1))
                        .repeatable()
                        .within(patience);
  Reply reply = co_await redis_.run(std::move(command));
  if (reply.is_nil()) co_return std::nullopt;
  co_return page_of(std::move(reply), owned->assignment);
}

}  // namespace sluice::redis
