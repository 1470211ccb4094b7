// A running installation: engines, features and routes, wired together.
//
// Everything is made in the constructor, in the order of need; `run` serves until it is told to stop and leaves nothing
// behind.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <boost/asio/signal_set.hpp>

#include "accounts/remembered_callers.h"
#include "adapters/sentry/sentry_sink.h"
#include "api/api.h"
#include "api/system_routes.h"
#include "http/server/server.h"
#include "http/sse/sse.h"
#include "runtime/io_threads.h"
#include "runtime/system_clock.h"
#include "runtime/task_scope.h"
#include "server/document_parts.h"
#include "server/engines.h"
#include "server/enrichment_parts.h"
#include "server/identity.h"
#include "server/job_parts.h"
#include "server/link_parts.h"
#include "server/message_parts.h"
#include "server/settings.h"
#include "server/system_random.h"

namespace sluice::server {

struct ServeOptions {
  Roles roles;
  bool demo = false;
};

class Application {
 public:
  // Throws std::runtime_error with one sentence that names the fix.
  Application(const Settings& settings, ServeOptions options);
  ~Application();

  // Prints where it listens, serves until SIGTERM or SIGINT, drains. A second signal ends the process at once. SIGHUP
  // reloads the certificate.
  void run();

 private:
  void wait_for_stop(asio::io_context& here, asio::signal_set& signals);
  // Reports draining to load balancers and gives them time to stop sending requests.
  void announce_stop(asio::io_context& here);
  void add_features();
  void add_messages();
  // Runs `task` on the background thread and waits for its end.
  void run_in_background(Task<> task);
  // Ends the background loops, then the I/O threads they run on.
  void close();

  const Settings& settings_;
  const bool by_hand_;  // started on a terminal
  ServeOptions options_;
  asio::io_context starting_;  // for work before the I/O threads run
  SystemClock clock_;
  SystemRandom secrets_;
  IoThreads threads_;
  // Loops and everything that waits for engines and origins. Not one of the threads that serve connections: a crowd
  // that arrives at once must not stand between the first reader's download and the origin.
  IoThreads background_;
  Engines engines_;
  Identity identity_;
  std::optional<std::string> demo_key_;
  api::Readiness readiness_;
  TaskScope scope_;  // on the background thread
  accounts::RememberedCallers callers_;
  api::Api api_;
  http::SseHub streams_;
  std::unique_ptr<sentry::SentrySink> errors_;   // where one is configured
  std::unique_ptr<MessageParts> messages_;       // where a role needs them and there is a log
  std::unique_ptr<DocumentParts> documents_;     // where the role is served
  std::unique_ptr<JobParts> jobs_;               // where the role is served
  std::unique_ptr<LinkParts> links_;             // beside the jobs
  std::unique_ptr<EnrichmentParts> enrichment_;  // where links are visited
  std::unique_ptr<http::Server> server_;
};

}  // namespace sluice::server
