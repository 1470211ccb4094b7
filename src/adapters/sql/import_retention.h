// Deletes what is left of imports that ended long ago, and links that nobody has any more, in steps.
#pragma once

#include "adapters/sql/tx_task.h"

namespace sluice::sql {

// links::ImportStore::forget_ended.
TxTask<size_t> forget_import_step(Tx& tx, int64_t keep_us, int64_t most);

// links::ImportStore::forget_unused_links.
TxTask<size_t> forget_links_step(Tx& tx, int64_t keep_us, int64_t most);

}  // namespace sluice::sql
