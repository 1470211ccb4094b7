// Exported bookmarks come in, and each of their links gets its job.
//
// A file is read while it arrives and stored in batches, so an import needs the memory of one batch, regardless of its
// size. Bookmarks stored before a fault are removed: a bad file changes nothing. If the process dies on the way,
// another one, or the next, ends the import as failed.
//
// The work that follows from the end of an import is done in steps, the first ones by the call that ended it, and the
// rest of a large one in the background: there imports take turns, and one that fails does not block the others.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "flows/upload_places.h"
#include "http/message.h"
#include "links/import_news.h"
#include "links/import_store.h"
#include "links/imports_config.h"
#include "runtime/task_scope.h"

namespace sluice::flows {

struct ImportRefusal {
  enum class Kind {
    busy,        // this process reads as many files as it may
    too_many,    // this owner's files are being read already
    key_in_use,  // a file with the same key is being read right now
    key_reused,  // another file was imported with the same key
    bad_file,    // `fault` says where and why
    ended,       // canceled while it was read, or it stood still for too long
  };

  Kind kind = Kind::busy;
  std::optional<links::BookmarkFault> fault{};
};

// Safe to share between threads.
class BookmarkImports {
 public:
  using Import = links::Import;
  using ImportId = links::ImportId;
  using OwnerId = links::OwnerId;

  // All outlive it.
  struct Parts {
    links::ImportStore& store;
    links::ImportNews& news;
    std::function<void()> jobs_added;  // jobs::Jobs::added
    Clock& clock;
    Random& random;
  };

  BookmarkImports(Parts parts, const links::ImportsConfig& config);

  // Reads `file` to its end or to its first fault. With a `key` a file is imported once: sent again, it returns the
  // existing import, unless that one failed; another file is refused. Exceptions of `file` pass through, and so does
  // EngineUnavailable; the stored part of the file is removed then.
  Task<Result<Import, ImportRefusal>> import(OwnerId owner, std::optional<std::string> key, http::BodySource& file);

  // The owner's own only.
  Task<std::optional<Import>> find(ImportId id, OwnerId owner) { return parts_.store.find(id, owner); }
  // Jobs that only this import wanted are canceled, those of a large import after the return; jobs that run go on.
  // Canceling again is harmless.
  Task<Result<Import, links::CancelRefused>> cancel(ImportId id, OwnerId owner);

  // Periodically ends interrupted imports and deletes old ones, until the scope is closed.
  void start(TaskScope& scope);

 private:
  struct Begun {
    Import import;
    bool is_new = true;
  };

  Task<Begun> begin(OwnerId owner, std::optional<std::string> key);
  // Whether the file is the imported one; reads it to its end. True if that is unknown.
  static Task<bool> is_file_of(Import import, http::BodySource& file);
  // The import as it is once all of the file was read.
  Task<Result<Import, ImportRefusal>> read(ImportId id, http::BodySource& file);
  // The first batch of `found`. False where the import is not being read any more.
  Task<bool> add_batch(ImportId id, std::vector<links::Bookmark>& found);
  // Removes the stored bookmarks.
  Task<> reject(ImportId id, std::string reason);
  // Some steps of it. Whether more are left to do at once; a failure is logged and left for a later round.
  Task<bool> try_to_tie_up(ImportId id);
  Task<> settle_round();
  Task<> tie_up_round();
  Task<> forget_round();

  Parts parts_;
  const links::ImportsConfig config_;
  UploadPlaces places_;
};

}  // namespace sluice::flows
