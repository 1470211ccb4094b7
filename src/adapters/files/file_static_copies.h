// Static copies from a folder.
//
// Files are opened segment by segment and links are not followed, so that no name and no link leads out of the folder.
// Reading blocks and runs on threads of its own.
#pragma once

#include <filesystem>
#include <string>

#include "documents/static_copies.h"
#include "runtime/clock.h"
#include "runtime/offload.h"

namespace sluice::files {

class FileStaticCopies : public documents::StaticCopies {
 public:
  // An empty folder name has no copies. Files larger than `max_bytes` are passed over.
  FileStaticCopies(std::filesystem::path folder, size_t max_bytes, const Clock& clock, Offload& threads)
      : folder_(std::move(folder)), max_bytes_(max_bytes), clock_(clock), threads_(threads) {}

  Task<documents::DocumentPtr> find(documents::DocumentPath path) override;

 private:
  std::filesystem::path folder_;
  size_t max_bytes_;
  const Clock& clock_;
  Offload& threads_;
};

}  // namespace sluice::files
