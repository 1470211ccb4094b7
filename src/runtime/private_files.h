// Files for their owner only: the data folder, its database, its keys.
//
// Modes are set on creation, regardless of the umask, so that the content is never readable by others. Failures throw
// std::system_error, whose text names the file.
#pragma once

#include <filesystem>
#include <string_view>

namespace sluice {

// Creates a missing folder with mode 0700, and the folders above it with the usual one. A folder that exists keeps its
// mode: others may need it.
void make_private_folder(const std::filesystem::path& folder);

// Makes a missing file, empty, with mode 0600.
void make_private_file(const std::filesystem::path& file);

// Takes all rights of others from a file of ours. A missing file, or one of another user, is left alone.
void close_to_others(const std::filesystem::path& file);

// Makes a file of mode 0600 that is on the disk with all of `text` when it appears, also after a power cut. False where
// there is one already, also if it was made at the same moment; then nothing changes.
bool create_durably(const std::filesystem::path& file, std::string_view text);

// The names in the folder are on the disk afterwards.
void sync_folder(const std::filesystem::path& folder);

}  // namespace sluice
