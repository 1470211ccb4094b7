// Files that are made or downloaded once per machine: database templates, servers that Debian does not package.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace sluice::test {

// $SLUICE_CACHE, else /var/cache/sluice for root (servers that drop root must be able to read it), else
// $XDG_CACHE_HOME/sluice or ~/.cache/sluice. Never inside the repository.
std::filesystem::path cache_folder();

// The folder `name` in the cache. If it is missing, `make` fills a folder that gets the name when it is complete; one
// process makes it, others wait. Exceptions of `make` pass through.
std::filesystem::path cached(const std::string& name, const std::function<void(const std::filesystem::path&)>& make);

// The user that servers run as when this process is root, because PostgreSQL refuses root; empty when it is not.
std::string unprivileged_user();

// Gives a file or folder to that user; nothing to do unless root.
void give_to_unprivileged_user(const std::filesystem::path& path);

}  // namespace sluice::test
