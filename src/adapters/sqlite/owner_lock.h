// One process owns a data folder.
//
// Two servers on one folder would each believe that their memory is the complete state. The owner holds a lock on
// FOLDER/owner.lock, which the kernel releases when the process ends, however it ends; the file itself stays.
#pragma once

#include <filesystem>

namespace sluice::sqlite {

class OwnerLock {
 public:
  // Makes the folder if it is missing. Throws EngineUnavailable with one sentence for the operator if another process
  // owns it.
  explicit OwnerLock(const std::filesystem::path& folder);
  ~OwnerLock();
  OwnerLock(const OwnerLock&) = delete;
  OwnerLock& operator=(const OwnerLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace sluice::sqlite
