#include <fmt/format.h>

#include "runtime/config.h"

namespace sluice::config {
namespace {

void print_key(std::string& out, const Key& key) {
  if (!key.slot->secret()) {
    out += fmt::format("{} = {}  # {}\n", key.name, key.slot->print(), key.origin);
  } else if (key.origin == "default") {
    out += fmt::format("# {} is not set\n", key.name);
  } else {
    out += fmt::format("# {} is set by {} and not shown\n", key.name, key.origin);
  }
}

void print_table(std::string& out, const Table& table, bool numbered, bool always) {
  if (always || !table.keys.empty()) {
    if (!out.empty()) out += '\n';
    out += fmt::format(fmt::runtime(numbered ? "[[{}]]\n" : "[{}]\n"), table.header);
  }
  for (const Key& key : table.keys) print_key(out, key);
  for (const Table& inside : table.tables) print_table(out, inside, false, false);
  for (const auto& group : table.groups) {
    for (const Table& entry : group->entries()) print_table(out, entry, !group->named(), true);
  }
}

// A pipe would end the cell.
std::string cell(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|') escaped += '\\';
    escaped += c == '\n' ? ' ' : c;
  }
  return escaped;
}

std::string code(std::string_view text) {
  return text.empty() ? "" : fmt::format("`{}`", cell(text));
}

void document_key(std::string& out, const Table& table, const Key& key) {
  std::string variable = code(variable_name(table.path_of(key.name)));
  std::string name = code(key.name);
  if (key.slot->secret()) {
    variable += ", " + code(variable_name(table.path_of(key.name)) + "_FILE");
    name = code(key.name + "_file");
  }
  out += fmt::format("| {} | {} | {} | {} | {} |\n", name, cell(key.slot->type()), code(key.by_default), variable,
                     cell(key.about));
}

void document_table(std::string& out, const Table& table, const std::string& title, const std::string& about) {
  if (!table.keys.empty()) {
    out += fmt::format("{}## `{}`\n\n", out.empty() ? "" : "\n", title);
    if (!about.empty()) out += about + "\n\n";
    out += "| key | type | default | environment | meaning |\n|---|---|---|---|---|\n";
    for (const Key& key : table.keys) document_key(out, table, key);
  }
  for (const Table& inside : table.tables) document_table(out, inside, "[" + inside.header + "]", inside.about);
  for (const auto& group : table.groups) {
    const Table sample = group->sample();
    const std::string name = fmt::format(fmt::runtime(group->named() ? "[{}]" : "[[{}]]"), sample.header);
    document_table(out, sample, name, group->about());
  }
}

}  // namespace

std::string Loader::print() const {
  std::string out;
  for (const Table& section : root_.tables) print_table(out, section, false, false);
  return out;
}

std::string Loader::docs() const {
  std::string out;
  for (const Table& section : root_.tables) document_table(out, section, "[" + section.header + "]", section.about);
  return out;
}

}  // namespace sluice::config
