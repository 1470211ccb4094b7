// Deletes the remains of old imports, and links without bookmarks, in steps.
#pragma once

#include "adapters/sql/driver/tx_task.h"

namespace sluice::sql {

// links::ImportStore::forget_ended.
TxTask<size_t> forget_import_step(Tx& tx, int64_t keep_us, int64_t most);

// links::ImportStore::forget_unused_links.
TxTask<size_t> forget_links_step(Tx& tx, int64_t keep_us, int64_t most);

}  // namespace sluice::sql
