// Reports failures to Sentry or a service that speaks its envelope protocol.
//
// Reports wait in a bounded queue and are sent one after another, scrubbed. A report that Sentry refuses is dropped,
// not repeated: it is a copy of a log entry, and failures often come by the thousand.
#pragma once

#include <deque>
#include <mutex>

#include "adapters/sentry/envelope.h"
#include "adapters/sentry/sentry_config.h"
#include "http/client/client.h"
#include "messaging/bell.h"
#include "runtime/retry.h"
#include "runtime/task_scope.h"

namespace sluice::sentry {

// `report` is safe from any thread, everything else belongs to the executor. Close it before it is destroyed.
class SentrySink : public ErrorSink {
 public:
  // `config` is valid and has a DSN. `clock` and `random` outlive it.
  SentrySink(const SentryConfig& config, Sender sender, Clock& clock, Random& random, const Executor& executor);

  void start();
  void report(ErrorReport report) override;

  // Sends the remaining reports, for a short time.
  Task<> close();

 private:
  Task<> round();
  Task<> send(ErrorReport report);
  std::optional<ErrorReport> take();
  http::ClientRequest request_for(const ErrorReport& report);
  void look_at(const http::ClientAnswer& answer);

  const Dsn dsn_;
  const Sender sender_;
  const size_t max_waiting_;
  Clock& clock_;
  Random& random_;
  http::Client client_;
  messaging::Bell bell_;
  messaging::Bell::Listener news_;
  Wakeup idle_;
  bool sending_ = false;
  Instant not_before_{};  // as Sentry asked
  std::mutex mutex_;
  std::deque<ErrorReport> waiting_;
  TaskScope scope_;
};

}  // namespace sluice::sentry
