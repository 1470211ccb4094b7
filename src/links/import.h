// An import: exported bookmarks of one user, whose links are being enriched.
#pragma once

#include <optional>
#include <string>

#include "base/enum_names.h"
#include "base/id.h"
#include "base/time.h"

namespace sluice::links {

struct ImportTag;
using ImportId = Id<ImportTag>;
struct OwnerTag;
using OwnerId = Id<OwnerTag>;  // the importing user; a caller, to the outside

// queued (its file is being read) -> running (its links are being enriched) -> succeeded; queued -> failed where the
// file is bad; queued|running -> canceled. That a link failed does not make its import fail.
enum class ImportStatus { queued, running, succeeded, failed, canceled };

constexpr auto enum_names(ImportStatus) {
  return std::to_array<EnumName<ImportStatus>>({{ImportStatus::queued, "queued"},
                                                {ImportStatus::running, "running"},
                                                {ImportStatus::succeeded, "succeeded"},
                                                {ImportStatus::failed, "failed"},
                                                {ImportStatus::canceled, "canceled"}});
}

struct Import {
  ImportId id;
  OwnerId owner;
  ImportStatus status = ImportStatus::queued;
  int64_t total_items = 0;      // bookmarks that lead to pages
  int64_t processed_items = 0;  // of these, bookmarks whose link was enriched (now or earlier) or has failed for good
  int64_t failed_items = 0;     // of those, bookmarks whose link has failed
  int64_t skipped_items = 0;    // beside the total: javascript:, data:, chrome: and the like
  Time created_at{};
  std::optional<Time> started_at{};
  std::optional<Time> finished_at{};
  std::optional<std::string> last_error{};
  std::optional<Uuid> content{};  // hash of its file, where that was read to its end

  bool ended() const { return status != ImportStatus::queued && status != ImportStatus::running; }
};

}  // namespace sluice::links
