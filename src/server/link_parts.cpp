#include "server/link_parts.h"

namespace sluice::server {

LinkParts::LinkParts(const links::LinksConfig& config, sql::Database& database, JobParts& jobs, http::SseHub& hub,
                     Clock& clock, Random& random, const Executor& executor)
    : config_(config),
      import_store_(database, jobs.kinds(), clock, random),
      links_(database),
      blocked_domains_(database),
      import_stream_(import_store_, hub, clock, random, executor, config.imports.look_every),
      imports_({import_store_, import_stream_, [&jobs] { jobs.jobs().added(); }, clock, random}, config.imports) {}

void LinkParts::start(TaskScope& scope) {
  imports_.start(scope);
  import_stream_.start(scope);
}

}  // namespace sluice::server
