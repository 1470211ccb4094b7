#include "server/document_parts.h"

namespace sluice::server {
namespace {

http::ClientOptions client_options() {
  http::ClientOptions options;
  // The operator wrote the origins' addresses; loopback and private ones are fine.
  options.reach = http::Reach::anywhere;
  // Origins are few, and each may have a name server that hangs.
  options.resolver.threads = 8;
  return options;
}

}  // namespace

DocumentParts::DocumentParts(const documents::DocumentsConfig& config, sql::Database& database, Clock& clock,
                             Random& random, TaskScope& scope, Executor executor)
    : scope_(scope),
      store_(database),
      slots_(database),
      breaker_(database),
      file_threads_("files", 2, 1024),
      form_threads_("document forms", 1, 4096),
      client_(executor, clock, client_options()),
      documents_(store_, clock, random, scope, executor, form_threads_) {
  const std::string owner = Uuid::v7(clock.wall(), random).text();
  for (const documents::OriginConfig& one : config.origin) {
    const auto max_bytes = static_cast<size_t>(one.max_bytes.bytes);
    files::FileStaticCopies& copies = static_copies_.emplace_back(one.static_dir, max_bytes, clock, file_threads_);
    documents::HttpOrigin& origin = origins_.emplace_back(one, client_, clock);
    sql::SqlLimit& limit = limits_.emplace_back(database, documents::rate_plan(one), clock);
    documents_.add(one, {store_, copies, origin, slots_, limit, breaker_, clock, random, owner});
  }
}

void DocumentParts::start_limits() {
  for (sql::SqlLimit& limit : limits_) scope_.spawn("limit of " + limit.plan().name, coordination::make_known(limit));
}

}  // namespace sluice::server
