// Bookmarks and their links wired to their engines.
#pragma once

#include "adapters/sql/links/sql_blocked_domains.h"
#include "adapters/sql/links/sql_import_store.h"
#include "adapters/sql/links/sql_link_store.h"
#include "api/import_stream.h"
#include "flows/bookmark_imports.h"
#include "links/links_config.h"
#include "server/job_parts.h"

namespace sluice::server {

// Made at start, beside the jobs; its loops live on `executor`. References must outlive it.
class LinkParts {
 public:
  LinkParts(const links::LinksConfig& config, sql::Database& database, JobParts& jobs, http::SseHub& hub, Clock& clock,
            Random& random, const Executor& executor);

  const links::LinksConfig& config() const { return config_; }
  flows::BookmarkImports& imports() { return imports_; }
  api::ImportStream& import_stream() { return import_stream_; }
  links::LinkStore& links() { return links_; }
  links::BlockedDomains& blocked_domains() { return blocked_domains_; }
  // To be notified of imports that the end of a link changed.
  links::ImportNews& news() { return import_stream_; }

  void start(TaskScope& scope);

 private:
  const links::LinksConfig& config_;
  sql::SqlImportStore import_store_;
  sql::SqlLinkStore links_;
  sql::SqlBlockedDomains blocked_domains_;
  api::ImportStream import_stream_;
  flows::BookmarkImports imports_;
};

}  // namespace sluice::server
