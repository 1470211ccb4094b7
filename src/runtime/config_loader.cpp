#include <algorithm>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "base/nearest.h"
#include "runtime/config.h"

namespace sluice::config {
namespace {

constexpr std::string_view file_suffix = "_file";

// One pass of loading: has the sources and collects the problems.
class Filling {
 public:
  Filling(Table& root, const Sources& sources) : root_(root), sources_(sources) {}

  void from_file();
  void from_environment(const std::set<std::string>& allowed);
  void from_flags();
  void validate();
  std::vector<Problem> problems() && { return std::move(problems_); }

 private:
  void fill(Table& table, const Node& node);
  void fill_member(Table& table, const Member& member);
  void fill_group(Table& table, Group& group, const Node& node);
  void fill_entries(Group& group, const Node& node);
  void set(Table& table, Key& key, const Node& node);
  void set_secret_from_file(Table& table, Key& key, const Node& node);
  void from_variable(Table& table, Key& key);
  const std::string* variable(const std::string& name);
  void refuse_unknown_variables(const std::set<std::string>& allowed);
  void refuse(const std::string& where, std::string key, std::string message) {
    problems_.push_back({where, std::move(key), std::move(message)});
  }

  Table& root_;
  const Sources& sources_;
  std::set<std::string> known_variables_;
  std::vector<Problem> problems_;
};

void Filling::from_file() {
  if (sources_.file.empty()) return;
  const auto document = parse_toml(sources_.text, sources_.file);
  if (!document) {
    problems_.push_back(document.error());
    return;
  }
  fill(root_, *document);
}

void Filling::fill(Table& table, const Node& node) {
  const auto* members = node.get<Node::Table>();
  if (members == nullptr) {
    refuse(node.where, table.path, fmt::format("must be a table; write [{}]", table.header));
    return;
  }
  for (const Member& member : *members) fill_member(table, member);
}

void Filling::fill_member(Table& table, const Member& member) {
  const std::string& name = member.name;
  if (Key* key = table.find_key(name)) return set(table, *key, member.node);
  if (name.ends_with(file_suffix)) {
    Key* key = table.find_key(name.substr(0, name.size() - file_suffix.size()));
    if (key != nullptr && key->slot->secret()) return set_secret_from_file(table, *key, member.node);
  }
  for (Table& inside : table.tables) {
    if (inside.name == name) return fill(inside, member.node);
  }
  for (const auto& group : table.groups) {
    if (group->name() == name) return fill_group(table, *group, member.node);
  }
  const std::string_view what = &table == &root_ ? "section" : "key";
  refuse(member.node.where, table.path_of(name),
         fmt::format("is not a known {}; {}", what, suggest(name, table.known_names())));
}

void Filling::fill_group(Table& table, Group& group, const Node& node) {
  std::vector<std::string> names;
  if (const auto* members = group.named() ? node.get<Node::Table>() : nullptr) {
    for (const Member& member : *members) names.push_back(member.name);
  } else if (const auto* items = group.named() ? nullptr : node.get<Node::List>()) {
    names.resize(items->size());
  } else {
    const std::string path = table.path_of(group.name());
    const std::string form = group.named() ? fmt::format("[{}.NAME]", path) : fmt::format("[[{}]]", path);
    return refuse(node.where, path, fmt::format("must be tables; write {}", form));
  }
  group.open(names);
  fill_entries(group, node);
}

void Filling::fill_entries(Group& group, const Node& node) {
  if (const auto* items = node.get<Node::List>()) {
    for (size_t i = 0; i < items->size(); ++i) fill(group.entries()[i], (*items)[i]);
    return;
  }
  for (const Member& member : *node.get<Node::Table>()) {
    fill(*std::ranges::find(group.entries(), member.name, &Table::name), member.node);
  }
}

void Filling::set(Table& table, Key& key, const Node& node) {
  const std::string path = table.path_of(key.name);
  if (key.slot->secret() && node.get<Untyped>() == nullptr) {
    table.sound = false;
    return refuse(node.where, path,
                  fmt::format("is a secret and must not be in the file; set {} or {}_file = \"PATH\"",
                              variable_name(path), key.name));
  }
  if (auto problem = key.slot->set(node)) {
    table.sound = false;
    return refuse(node.where, path, *problem);
  }
  key.origin = node.where;
}

void Filling::set_secret_from_file(Table& table, Key& key, const Node& node) {
  const auto path = Kind<std::string>::read(node);
  const auto secret = path ? sources_.read_file(*path) : std::nullopt;
  if (secret) return set(table, key, {Untyped{*secret}, node.where});
  table.sound = false;
  refuse(node.where, table.path_of(key.name + "_file"),
         path ? fmt::format("names {}, which cannot be read; check the path and its permissions", quote(*path))
              : "must be the path of a file, in quotes");
}

const std::string* Filling::variable(const std::string& name) {
  known_variables_.insert(name);
  const auto found = sources_.environment.find(name);
  return found == sources_.environment.end() ? nullptr : &found->second;
}

void Filling::from_variable(Table& table, Key& key) {
  const std::string name = variable_name(table.path_of(key.name));
  const std::string* value = variable(name);
  if (value != nullptr) set(table, key, {Untyped{*value}, name});
  if (!key.slot->secret()) return;
  const std::string* path = variable(name + "_FILE");
  if (path == nullptr) return;
  if (value != nullptr)
    return refuse(name, table.path_of(key.name), fmt::format("is also set by {0}_FILE; unset one", name));
  set_secret_from_file(table, key, {Untyped{*path}, name + "_FILE"});
}

void Filling::from_environment(const std::set<std::string>& allowed) {
  for_each_table(root_, [this](Table& table) {
    for (Key& key : table.keys) from_variable(table, key);
  });
  refuse_unknown_variables(allowed);
}

// Other programs may use the prefix: only names that are surely meant as settings are refused.
void Filling::refuse_unknown_variables(const std::set<std::string>& allowed) {
  constexpr std::string_view prefix = "SLUICE_";
  std::vector<std::string> known;
  for (const auto& name : known_variables_) known.push_back(name.substr(prefix.size()));
  for (const auto& [name, value] : sources_.environment) {
    if (!name.starts_with(prefix) || known_variables_.contains(name) || allowed.contains(name)) continue;
    const auto meant = nearest(std::string_view(name).substr(prefix.size()), known);
    const bool in_section = std::ranges::any_of(
        root_.tables, [&name](const Table& table) { return name.starts_with(variable_name(table.path) + "_"); });
    if (meant) {
      refuse(name, "", fmt::format("this variable is not a setting; did you mean {}{}?", prefix, *meant));
    } else if (in_section) {
      refuse(name, "", "this variable is not a setting; unset it, or see `sluice config docs` for all settings");
    }
  }
}

void Filling::from_flags() {
  for (const Override& flag : sources_.flags) {
    bool found = false;
    for_each_table(root_, [&](Table& table) {
      for (Key& key : table.keys) {
        if (table.path_of(key.name) != flag.key) continue;
        found = true;
        set(table, key, {Untyped{flag.text}, flag.name});
      }
    });
    if (!found) refuse(flag.name, flag.key, "is not a known key; see `sluice config docs`");
  }
}

void Filling::validate() {
  const std::string_view file = sources_.file.empty() ? std::string_view("configuration") : sources_.file;
  for_each_table(root_, [this, file](Table& table) {
    if (!table.sound || !table.validate) return;
    Problems problems(table, file, problems_);
    table.validate(problems);
  });
}

}  // namespace

std::optional<std::string> read_secret_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (file.bad()) return std::nullopt;
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  return text;
}

std::optional<std::string> SecretSlot::set(const Node& node) {
  const auto* given = node.get<Untyped>();
  if (given == nullptr || given->text.empty()) return "must not be empty";
  target_ = given->text;
  return std::nullopt;
}

std::vector<Problem> Loader::load(const Sources& sources) {
  check(!loaded_, "a configuration is loaded twice");
  loaded_ = true;
  Filling filling(root_, sources);
  filling.from_file();
  filling.from_environment(allowed_);
  filling.from_flags();
  filling.validate();
  return std::move(filling).problems();
}

}  // namespace sluice::config
