// Bookmarks and their links wired to their engines.
#pragma once

#include "adapters/sql/sql_blocked_domains.h"
#include "adapters/sql/sql_import_store.h"
#include "adapters/sql/sql_link_store.h"
#include "links/import_news.h"
#include "links/links_config.h"

namespace sluice::server {

// Made at start, beside the jobs. References must outlive it.
class LinkParts {
 public:
  LinkParts(const links::LinksConfig& config, sql::Database& database, const jobs::JobKinds& kinds, Clock& clock,
            Random& random);

  const links::LinksConfig& config() const { return config_; }
  links::ImportStore& imports() { return imports_; }
  links::LinkStore& links() { return links_; }
  links::BlockedDomains& blocked_domains() { return blocked_domains_; }
  // To be told what ending a link changed.
  links::ImportNews& news() { return news_; }

 private:
  // Nobody watches imports yet.
  struct Unheard : links::ImportNews {
    void changed(const std::vector<links::Import>&) override {}
  };

  const links::LinksConfig& config_;
  sql::SqlImportStore imports_;
  sql::SqlLinkStore links_;
  sql::SqlBlockedDomains blocked_domains_;
  Unheard news_;
};

}  // namespace sluice::server
