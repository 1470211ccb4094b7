#include "runtime/config_table.h"

#include <algorithm>

#include <fmt/format.h>

namespace sluice::config {
namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

std::string toml_key(const std::string& name) {
  const bool bare =
      !name.empty() && std::ranges::all_of(name, [](char c) { return is_plain(c) || c == '_' || c == '-'; });
  return bare ? name : quote(name);
}

std::string join(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "." + name;
}

}  // namespace

void Problems::add(std::string_view key, std::string message) {
  const Key* found = table_.find_path(key);
  const bool set = found != nullptr && found->origin != "default";
  all_.push_back({set ? found->origin : std::string(file_), table_.path_of(key), std::move(message)});
}

Table& Table::child(const std::string& child_name) {
  for (Table& present : tables) {
    if (present.name == child_name) return present;
  }
  Table& made = tables.emplace_back();
  made.name = child_name;
  made.path = join(path, child_name);
  made.header = join(header, toml_key(child_name));
  return made;
}

Table Table::numbered(const std::string& group, size_t index) const {
  Table entry;
  entry.name = fmt::format("{}", index);
  entry.path = fmt::format("{}[{}]", join(path, group), index);
  entry.header = join(header, group);
  return entry;
}

Table Table::named(const std::string& group, const std::string& entry_name) const {
  Table entry;
  entry.name = entry_name;
  entry.path = join(join(path, group), entry_name);
  entry.header = join(join(header, group), toml_key(entry_name));
  return entry;
}

Key* Table::find_key(std::string_view key_name) {
  const auto found = std::ranges::find(keys, key_name, &Key::name);
  return found == keys.end() ? nullptr : &*found;
}
const Key* Table::find_key(std::string_view key_name) const {
  const auto found = std::ranges::find(keys, key_name, &Key::name);
  return found == keys.end() ? nullptr : &*found;
}

const Key* Table::find_path(std::string_view path_to_key) const {
  const size_t dot = path_to_key.find('.');
  if (dot == std::string_view::npos) return find_key(path_to_key);
  const auto inner = std::ranges::find(tables, path_to_key.substr(0, dot), &Table::name);
  return inner == tables.end() ? nullptr : inner->find_path(path_to_key.substr(dot + 1));
}

std::string Table::path_of(std::string_view key_name) const {
  return join(path, std::string(key_name));
}

std::vector<std::string> Table::known_names() const {
  std::vector<std::string> names;
  for (const Key& key : keys) names.push_back(key.slot->secret() ? key.name + "_file" : key.name);
  for (const Table& table : tables) names.push_back(table.name);
  for (const auto& group : groups) names.push_back(group->name());
  return names;
}

std::string variable_name(std::string_view path) {
  std::string name = "SLUICE_";
  for (const char c : path) {
    if (is_plain(c)) {
      name += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    } else if (name.back() != '_') {
      name += '_';
    }
  }
  return name;
}

}  // namespace sluice::config
