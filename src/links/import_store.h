// Where imports are kept, with the bookmarks they brought and who still waits for which link.
//
// A link is enriched once, however many imports and folders have it: adding a bookmark adds the link's job in the same
// transaction unless one is live or has succeeded. Every import that waits for a link is told when it ends.
//
// Every implementation passes tests/contract/import_store_contract.h.
#pragma once

#include <vector>

#include "base/result.h"
#include "links/bookmarks.h"
#include "links/import.h"
#include "runtime/task.h"

namespace sluice::links {

enum class CancelRefused { unknown, ended };

class ImportStore {
 public:
  virtual ~ImportStore() = default;

  // A new import, whose file is now being read. Nothing where there is one of that id.
  virtual Task<std::optional<Import>> begin(ImportId id, OwnerId owner) = 0;

  // All of these bookmarks or none; false where the import is not being read any more (somebody canceled it). Not to be
  // repeated where the outcome is unknown: the bookmarks would be counted twice.
  virtual Task<bool> add(ImportId id, std::vector<Bookmark> bookmarks) = 0;

  // The whole file was read. The import runs from now on, or has succeeded where all of its links were known. What it
  // calls bookmarks that were there before is a loose end. Nothing where it was not being read.
  virtual Task<std::optional<Import>> end_reading(ImportId id, int64_t skipped) = 0;

  // The file turned out to be bad: the import has failed, and the bookmarks that it brought first are gone; those that
  // were there before are as they were. Nothing where it was not being read.
  virtual Task<std::optional<Import>> reject(ImportId id, std::string error) = 0;

  // The owner's own only.
  virtual Task<std::optional<Import>> find(ImportId id, OwnerId owner) = 0;
  // Those that there are, whoever has them, in any order.
  virtual Task<std::vector<Import>> find_all(std::vector<ImportId> ids) = 0;

  // Its bookmarks stay; it does not wait for links any more.
  virtual Task<Result<Import, CancelRefused>> cancel(ImportId id, OwnerId owner) = 0;

  // Does a part of what follows from how the import ended, or ended being read, and how much that was; called until
  // nothing is left. New titles of bookmarks that were there before become theirs; jobs are canceled that have not
  // started and that a canceled or failed import was the last to wait for.
  virtual Task<size_t> tie_up(ImportId id, size_t most) = 0;
  // Imports for which nobody has done that to the end.
  virtual Task<std::vector<ImportId>> with_loose_ends(size_t most) = 0;

  // Ends what nobody else will end: imports whose reading broke off (nothing was added for `reading_limit`), and the
  // waiting for links whose job is gone (it died with its worker, or an operator canceled it), of which it looks for a
  // part each time. The imports that changed.
  virtual Task<std::vector<Import>> settle(Duration reading_limit) = 0;
};

}  // namespace sluice::links
