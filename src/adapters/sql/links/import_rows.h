// Shared by the stores of imports and of links: reading an import, and telling imports that a link has ended.
#pragma once

#include <optional>
#include <vector>

#include "adapters/sql/driver/tx_task.h"
#include "links/canonical_url.h"
#include "links/import.h"

namespace sluice::sql {

// The row of import $1, in columns for `import_of`.
extern const Statement select_import;
// PostgreSQL: those of the array $1.
extern const Statement select_imports;
links::Import import_of(const Row& row);

// Locks the links $1 (given rows, by id): id, whether it is enriched, whether it is unused. Until the transaction ends
// no other transaction ends, adds or deletes them or their bookmarks.
extern const Statement lock_links;

TxTask<std::optional<links::Import>> read_import(Tx& tx, links::ImportId id);

enum class LinkEnd { enriched, failed };

// Ends all waits for the link; returns the imports that waited, in their new state. The link's row is locked: a
// concurrent transaction that adds it to an import comes before or after, and does not wait in vain.
TxTask<std::vector<links::Import>> tell_imports(Tx& tx, links::LinkId link, LinkEnd end);

}  // namespace sluice::sql
