// Tells the other processes of one database that there is something new, and hears it from them.
//
// Listens and notifies on its own direct connection: behind a transaction pooler LISTEN silently receives nothing, so
// with one in between there are no notifications. Sending is debounced, since NOTIFY serializes all commits of the
// server. Correctness never depends on it: while the connection is down all instances poll, as without it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "adapters/postgres/connection.h"
#include "adapters/postgres/engine_thread.h"
#include "base/random.h"
#include "runtime/task_scope.h"

namespace sluice::postgres {

class PostgresNews {
 public:
  // Notifications arrive if `config.url` leads to PostgreSQL itself. `channel` is a plain name. `heard` is called on
  // the engine's thread, also when something may have been missed, and for our own notifications too. The given objects
  // must outlive it.
  PostgresNews(PostgresConfig config, std::string channel, std::function<void()> heard, EngineThread& thread,
               Clock& clock, Random& random);
  // From another thread than the engine's.
  ~PostgresNews();
  PostgresNews(const PostgresNews&) = delete;
  PostgresNews& operator=(const PostgresNews&) = delete;

  // From any thread; never waits.
  void tell();

 private:
  Task<> round();
  Task<> listen_or_tell();
  Task<> connect();
  Task<sql::Rows> run(std::string text);

  const PostgresConfig config_;
  const std::string channel_;
  const std::function<void()> heard_;
  EngineThread& thread_;
  Clock& clock_;
  Random& random_;
  std::atomic<bool> to_tell_ = false;
  std::unique_ptr<Connection> connection_;
  Instant not_before_{};  // the next NOTIFY
  bool pooled_ = false;   // where we came out when we connected last
  TaskScope scope_;
};

}  // namespace sluice::postgres
