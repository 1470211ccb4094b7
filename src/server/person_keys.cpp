#include "server/person_keys.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <fcntl.h>
#include <unistd.h>

namespace sluice::server {
namespace {

accounts::PersonKeys parse(const std::string& text, const std::string& where) {
  auto keys = accounts::PersonKeys::parse(text);
  if (!keys)
    throw std::runtime_error(where + " does not hold keys: it needs `lookup HEX` and at least `1 HEX`, 64 digits each");
  return *std::move(keys);
}

// Durable before the first person is sealed with them: a lost key is lost people.
void write_new(const std::filesystem::path& file, const std::string& text) {
  const std::filesystem::path draft = file.string() + ".new";
  const int descriptor = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const bool written = descriptor >= 0 &&
                       ::write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
                       ::fsync(descriptor) == 0;
  if (descriptor >= 0) ::close(descriptor);
  if (!written) throw std::runtime_error("cannot write " + draft.string() + "; check the data folder");
  std::filesystem::rename(draft, file);
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
  if (std::filesystem::exists(file)) {
    std::ifstream stream(file);
    std::ostringstream text;
    text << stream.rdbuf();
    return parse(text.str(), file.string());
  }
  const accounts::PersonKeys keys = accounts::PersonKeys::generate(secrets);
  write_new(file, keys.text());
  return keys;
}

}  // namespace sluice::server
