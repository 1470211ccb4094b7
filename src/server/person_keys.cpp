#include "server/person_keys.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "runtime/private_files.h"

namespace sluice::server {
namespace {

accounts::PersonKeys parse(const std::string& text, const std::string& where) {
  auto keys = accounts::PersonKeys::parse(text);
  if (!keys)
    throw std::runtime_error(where + " has no keys: it needs `lookup HEX` and at least `1 HEX`, 64 digits each");
  return *std::move(keys);
}

std::string read(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

}  // namespace

accounts::PersonKeys load_person_keys(const Settings& settings, Random& secrets) {
  if (!settings.accounts.person_keys.empty()) {
    return parse(settings.accounts.person_keys, "accounts.person_keys");
  }
  if (settings.postgres.used()) {
    throw std::runtime_error(
        "set accounts.person_keys_file: instances on PostgreSQL must share the keys of person data");
  }
  const std::filesystem::path file = std::filesystem::path(settings.storage.data) / "person.keys";
  // Durable before the first person is sealed with them: a lost key is lost people. Of two first starts at once one
  // makes the keys, and both use them.
  if (!std::filesystem::exists(file)) {
    make_private_folder(settings.storage.data);
    create_durably(file, accounts::PersonKeys::generate(secrets).text());
  }
  close_to_others(file);
  return parse(read(file), file.string());
}

}  // namespace sluice::server
