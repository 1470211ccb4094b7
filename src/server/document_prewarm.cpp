#include "server/document_prewarm.h"

#include <fmt/format.h>

#include "runtime/errors.h"
#include "runtime/retry.h"

namespace sluice::server {
namespace {

using documents::DocumentPath;
using documents::Lookup;
using documents::Reason;
using documents::RefreshRequest;

constexpr unsigned most_tries = 5;

struct Run {
  documents::Documents& documents;
  Clock& clock;
  Random& random;
  const PrewarmOrder& order;
  const std::function<void(const PrewarmOutcome&)>& on_progress;
  PrewarmOutcome outcome;
  size_t next = 0;
};

bool turned_away(const Lookup& found) {
  const std::optional<Reason> reason = found ? found->degraded : found.error().reason;
  return reason == Reason::rate_limit_exceeded;
}

void count(PrewarmOutcome& outcome, const std::string& path, const Lookup& found) {
  if (!found) {
    const std::optional<Reason> reason = found.error().reason;
    outcome.failed[path] = reason ? enum_name(*reason) : "not-allowed";
  } else if (found->degraded) {
    outcome.failed[path] = enum_name(*found->degraded);
  } else if (found->from_cache) {
    ++outcome.there_already;
  } else {
    ++outcome.downloaded;
  }
}

Task<Lookup> fetch(Run& run, const RefreshRequest& wanted) {
  const Backoff backoff{.first = run.order.again_within, .max = run.order.again_within};
  for (unsigned tries = 1;; ++tries) {
    RefreshRequest request = wanted;
    request.wait_limit = run.order.wait_limit;
    Lookup found = co_await run.documents.refresh(run.order.origin, std::move(request));
    if (tries == most_tries || !turned_away(found)) co_return found;
    // A line that is too long turns away at once, so the next try has to wait for it to shorten.
    const Duration delay = backoff.delay(tries, run.random);
    co_await run.clock.sleep_for(delay);
  }
}

Task<> work(Run& run) {
  while (run.next < run.order.documents.size()) {
    const RefreshRequest& wanted = run.order.documents[run.next++];
    const std::string path = wanted.path.text();
    try {
      const Lookup found = co_await fetch(run, wanted);
      count(run.outcome, path, found);
    } catch (const EngineUnavailable& error) {
      run.outcome.failed[path] = error.what();
    }
    run.on_progress(run.outcome);
  }
}

}  // namespace

Result<std::vector<RefreshRequest>, std::string> parse_prewarm_list(std::string_view text, bool force) {
  std::vector<RefreshRequest> documents;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos || line[begin] == '#') continue;
    const std::string_view entry = line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin);
    const size_t space = entry.find_first_of(" \t");
    const auto path = DocumentPath::parse(entry.substr(0, space));
    if (!path) return std::string(entry);
    RefreshRequest request{.path = *path, .force = force, .listed = true};
    if (space != std::string_view::npos) request.case_type = entry.substr(entry.find_first_not_of(" \t", space));
    documents.push_back(std::move(request));
  }
  return documents;
}

Task<PrewarmOutcome> prewarm(documents::Documents& documents, Clock& clock, Random& random, PrewarmOrder order,
                             std::function<void(const PrewarmOutcome&)> on_progress) {
  const auto executor = co_await asio::this_coro::executor;
  Run run{.documents = documents,
          .clock = clock,
          .random = random,
          .order = order,
          .on_progress = on_progress,
          .outcome = {}};
  TaskScope workers(executor);
  for (size_t i = 0; i < order.at_once; ++i) workers.spawn("prewarm", work(run));
  co_await workers.join();
  co_return std::move(run.outcome);
}

}  // namespace sluice::server
