#include "flows/bookmark_imports.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "runtime/errors.h"
#include "runtime/hashed_id.h"
#include "runtime/log.h"
#include "runtime/retry.h"

namespace sluice::flows {
namespace {

using links::Bookmark;
using links::CancelRefused;
using links::ImportStatus;
using Kind = ImportRefusal::Kind;

constexpr size_t batch_size = 500;
constexpr size_t step = 1'000;         // rows that one transaction changes
constexpr int steps_at_once = 10;      // of one import, before others have their turn
constexpr size_t loose_at_once = 100;  // imports
constexpr Duration forget_every = 1min;

// Identifies the owner's try with that key. The hashed text is unambiguous: the id has a fixed length.
links::ImportId id_of_try(links::OwnerId owner, const std::string& key, unsigned number) {
  return links::ImportId(hashed_uuid(fmt::format("import {} {} {}", owner.text(), number, key)));
}

}  // namespace

BookmarkImports::BookmarkImports(Parts parts, const links::ImportsConfig& config)
    : parts_(std::move(parts)), config_(config), places_(config.at_once, config.at_once_each) {}

Task<Result<links::Import, ImportRefusal>> BookmarkImports::import(OwnerId owner, std::optional<std::string> key,
                                                                   http::BodySource& file) {
  const auto place = places_.take(owner);
  if (!place) {
    co_return ImportRefusal{place.error() == UploadPlaces::Refused::full ? Kind::busy : Kind::too_many};
  }
  const Begun begun = co_await begin(owner, std::move(key));
  if (!begun.is_new && begun.import.status == ImportStatus::queued) co_return ImportRefusal{Kind::key_in_use};
  if (!begun.is_new) {
    const bool same = co_await is_file_of(begun.import, file);
    if (!same) co_return ImportRefusal{Kind::key_reused};
    co_return begun.import;
  }

  std::exception_ptr failure;
  std::string reason;
  try {
    Result<Import, ImportRefusal> outcome = co_await read(begun.import.id, file);
    if (outcome || outcome.error().kind != Kind::bad_file) co_return outcome;
    reason = outcome.error().fault->text();
    co_await reject(begun.import.id, reason);
    co_return outcome;
  } catch (const std::exception& error) {
    failure = std::current_exception();
    reason = fmt::format("the upload failed: {}", error.what());
  }
  co_await reject(begun.import.id, std::move(reason));
  std::rethrow_exception(failure);
}

Task<BookmarkImports::Begun> BookmarkImports::begin(OwnerId owner, std::optional<std::string> key) {
  for (unsigned number = 0;; ++number) {
    const ImportId id = key ? id_of_try(owner, *key, number) : ImportId::make(parts_.clock.wall(), parts_.random);
    std::optional<Import> import = co_await parts_.store.begin(id, owner);
    if (import) co_return Begun{*std::move(import)};
    import = co_await parts_.store.find(id, owner);
    if (import && import->status != ImportStatus::failed) co_return Begun{*std::move(import), false};
  }
}

Task<bool> BookmarkImports::is_file_of(Import import, http::BodySource& file) {
  if (!import.content) co_return true;
  PiecewiseHash hash;
  bool more = true;
  while (more) {
    const std::optional<std::string> piece = co_await file.next();
    more = piece.has_value();
    if (more) hash.add(*piece);
  }
  co_return hash.uuid() == *import.content;
}

Task<Result<links::Import, ImportRefusal>> BookmarkImports::read(ImportId id, http::BodySource& file) {
  links::BookmarkParser parser;
  PiecewiseHash hash;
  std::vector<Bookmark> found;
  Instant stored_at = parts_.clock.now();
  bool more = true;
  while (more) {
    const std::optional<std::string> piece = co_await file.next();
    more = piece.has_value();
    if (more) hash.add(*piece);
    const std::optional<links::BookmarkFault> fault = more ? parser.feed(*piece, found) : parser.finish(found);
    if (fault) co_return ImportRefusal{Kind::bad_file, *fault};
    // A slow upload shows that it is alive, also where it brings no bookmark.
    bool due = !more ? !found.empty() : parts_.clock.now() - stored_at >= config_.reading_limit / 5;
    while (due || found.size() >= batch_size) {
      const bool added = co_await add_batch(id, found);
      if (!added) co_return ImportRefusal{Kind::ended};
      stored_at = parts_.clock.now();
      due = !more && !found.empty();
    }
  }
  const links::WholeFile whole{.skipped = static_cast<int64_t>(parser.counts().all_skipped()), .content = hash.uuid()};
  std::optional<Import> import = co_await parts_.store.end_reading(id, whole);
  if (!import) co_return ImportRefusal{Kind::ended};
  co_await try_to_tie_up(id);
  log::info("bookmarks imported", {{"import", id.text()}, {"links", import->total_items}, {"skipped", whole.skipped}});
  co_return *std::move(import);
}

Task<bool> BookmarkImports::add_batch(ImportId id, std::vector<Bookmark>& found) {
  const auto end = found.begin() + static_cast<ptrdiff_t>(std::min(batch_size, found.size()));
  std::vector<Bookmark> batch(std::move_iterator(found.begin()), std::move_iterator(end));
  found.erase(found.begin(), end);
  const bool added = co_await parts_.store.add(id, std::move(batch));
  if (added) parts_.jobs_added();
  co_return added;
}

Task<> BookmarkImports::reject(ImportId id, std::string reason) {
  try {
    const std::optional<Import> rejected = co_await parts_.store.reject(id, std::move(reason));
    if (!rejected) co_return;
    const std::vector<Import> changed{*rejected};
    parts_.news.changed(changed);
    co_await try_to_tie_up(id);
  } catch (const std::exception& error) {
    // It is settled when it has stood still for long enough.
    log::warning("rolling back a failed import failed; it is retried later",
                 {{"import", id.text()}, {"error", error.what()}});
  }
}

Task<Result<links::Import, CancelRefused>> BookmarkImports::cancel(ImportId id, OwnerId owner) {
  Result<Import, CancelRefused> canceled = co_await parts_.store.cancel(id, owner);
  if (!canceled && canceled.error() == CancelRefused::unknown) co_return canceled;
  if (!canceled) {
    // Repeating a cancel is harmless, and finishes the work that an earlier call left.
    const std::optional<Import> import = co_await parts_.store.find(id, owner);
    if (!import || import->status != ImportStatus::canceled) co_return canceled;
    canceled = *import;
  }
  const std::vector<Import> changed{*canceled};
  parts_.news.changed(changed);
  co_await try_to_tie_up(id);
  co_return canceled;
}

Task<bool> BookmarkImports::try_to_tie_up(ImportId id) {
  std::string problem;
  try {
    size_t done = step;
    for (int i = 0; i < steps_at_once && done > 0; ++i) done = co_await parts_.store.tie_up(id, step);
    co_return done > 0;
  } catch (const EngineUnavailable& error) {
    problem = error.what();
  } catch (const EngineRefused& error) {
    problem = error.what();
  }
  log::warning("the cleanup of an import is postponed", {{"import", id.text()}, {"error", problem}});
  co_return false;
}

void BookmarkImports::start(TaskScope& scope) {
  const auto start_loop = [this, &scope](const char* name, Task<> (BookmarkImports::*round)()) {
    scope.spawn(name, run_forever(name, parts_.clock, parts_.random, [this, round] { return (this->*round)(); }));
  };
  start_loop("import settling", &BookmarkImports::settle_round);
  start_loop("import loose ends", &BookmarkImports::tie_up_round);
  start_loop("import retention", &BookmarkImports::forget_round);
}

Task<> BookmarkImports::settle_round() {
  const std::vector<Import> failed = co_await parts_.store.fail_broken_off(config_.reading_limit);
  parts_.news.changed(failed);
  const std::vector<Import> told = co_await parts_.store.end_vain_waits();
  parts_.news.changed(told);
  // One round settles a part only.
  if (failed.empty() && told.empty()) co_await parts_.clock.sleep_for(config_.settle_every);
}

Task<> BookmarkImports::tie_up_round() {
  bool more = false;
  std::vector<ImportId> loose;
  ImportId after;
  do {
    loose = co_await parts_.store.with_loose_ends(after, loose_at_once);
    for (const ImportId& id : loose) {
      const bool unfinished = co_await try_to_tie_up(id);
      more = more || unfinished;
      after = id;
    }
  } while (!loose.empty());
  if (!more) co_await parts_.clock.sleep_for(config_.settle_every);
}

Task<> BookmarkImports::forget_round() {
  const size_t ended = co_await parts_.store.forget_ended(config_.keep_ended, step);
  const size_t unused = co_await parts_.store.forget_unused_links(config_.keep_unused_links, step);
  if (ended == 0 && unused == 0) co_await parts_.clock.sleep_for(forget_every);
}

}  // namespace sluice::flows
