// Stores imports, their bookmarks, and the links that each still waits for.
//
// A link is enriched once for all imports and folders that have it: adding a bookmark adds the link's job in the same
// transaction unless one is live or has succeeded. Every import that waits for a link is told when it ends.
//
// Every implementation passes tests/contract/import_store_contract.cpp.
#pragma once

#include <vector>

#include "base/result.h"
#include "links/bookmarks.h"
#include "links/import.h"
#include "runtime/task.h"

namespace sluice::links {

enum class CancelRefused { unknown, ended };

// A file that was read to its end.
struct WholeFile {
  int64_t skipped = 0;  // bookmarks that lead to no page
  Uuid content{};       // its hash
};

class ImportStore {
 public:
  virtual ~ImportStore() = default;

  // A new import, whose file is now being read. Nothing if the id exists.
  virtual Task<std::optional<Import>> begin(ImportId id, OwnerId owner) = 0;

  // All of these bookmarks or none; false if the import is no longer being read (it was canceled). Must not be repeated
  // if the outcome is unknown: the bookmarks would be counted twice.
  virtual Task<bool> add(ImportId id, std::vector<Bookmark> bookmarks) = 0;

  // The whole file was read. The import runs from now on, or has succeeded if all of its links were known. New titles
  // of existing bookmarks are a loose end. Nothing if it was not being read.
  virtual Task<std::optional<Import>> end_reading(ImportId id, WholeFile file) = 0;

  // The file turned out to be bad: the import has failed. Bookmarks that only this import named are a loose end; those
  // that another import named too, before or since, are as that import left them. Nothing where it was not being read.
  virtual Task<std::optional<Import>> reject(ImportId id, std::string error) = 0;

  // The owner's own only.
  virtual Task<std::optional<Import>> find(ImportId id, OwnerId owner) = 0;
  // Those that exist, of any owner, in any order.
  virtual Task<std::vector<Import>> find_all(std::vector<ImportId> ids) = 0;

  // Its bookmarks stay; it does not wait for links any more.
  virtual Task<Result<Import, CancelRefused>> cancel(ImportId id, OwnerId owner) = 0;

  // Does a part of the work that follows from the end of the import, or of its reading: `most` rows in one transaction.
  // Returns how many; call it until none is left. A succeeded or canceled import takes over the bookmarks that it
  // named, with its titles. The bookmarks of a failed one are deleted, unless another import names them. Jobs that have
  // not started are canceled if a canceled or failed import was the last to wait for them.
  virtual Task<size_t> tie_up(ImportId id, size_t most) = 0;
  // Imports behind `after`, by id, for which that was not done to the end.
  virtual Task<std::vector<ImportId>> with_loose_ends(ImportId after, size_t most) = 0;

  // Fails imports whose reading was interrupted: nothing was added for `reading_limit`. Returns those that changed;
  // handles some of them each time.
  virtual Task<std::vector<Import>> fail_broken_off(Duration reading_limit) = 0;
  // Ends the waits for links whose job no longer exists, because it died with its worker or an operator canceled it;
  // checks a part of them each time. Returns the imports that changed.
  virtual Task<std::vector<Import>> end_vain_waits() = 0;

  // Deletes imports that ended longer than `keep` ago and have no loose ends, at most `most` rows in one transaction.
  // How many rows it was; called until nothing is left. Bookmarks stay.
  virtual Task<size_t> forget_ended(Duration keep, size_t most) = 0;
  // Deletes links that have had no bookmark for longer than `keep` and whose job has ended. Returns how many were
  // checked; call it until none is left. A new import of such a link starts over, with a new job.
  virtual Task<size_t> forget_unused_links(Duration keep, size_t most) = 0;
};

}  // namespace sluice::links
