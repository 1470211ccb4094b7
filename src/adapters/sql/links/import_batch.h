// Bookmarks of an import, ready to be added in one transaction together with the jobs of their links.
#pragma once

#include <memory>
#include <vector>

#include "adapters/sql/jobs/job_queue.h"
#include "links/bookmarks.h"
#include "links/import.h"
#include "links/link_store.h"

namespace sluice::sql {

// Each link and each place once, links by id: the order in which they are locked.
struct ImportBatch {
  struct Link {
    links::CanonicalUrl url;
    links::LinkId id;
    int64_t bookmarks = 0;
  };
  struct Place {
    links::InstanceId id;
    std::string folder;
    links::LinkId link;
    std::string title;
  };

  links::ImportId import;
  int64_t bookmarks = 0;
  std::vector<Link> links{};
  std::vector<Place> places{};
  PreparedJobs jobs{};  // one for each link, in their order
};
using ImportBatchPtr = std::shared_ptr<const ImportBatch>;

ImportBatchPtr prepare_batch(links::ImportId import, const std::vector<links::Bookmark>& bookmarks,
                             const jobs::JobKinds& kinds, Time now, Random& random);

// False where the import was not being read. Throws ImportClosed, which undoes everything, where that has changed
// meanwhile.
struct ImportClosed {};
TxTask<bool> add_batch(Tx& tx, ImportBatchPtr batch);

}  // namespace sluice::sql
