// The configuration of a server: described by its parts, filled from a file, the environment and flags.
//
//   config::Loader loader;
//   loader.section("http", http_config, "The HTTP server.");
//   const auto problems = loader.load({.file = "sluice.toml", .text = text, .environment = environment});
//
// A flag overrides SLUICE_SECTION_KEY, which overrides the file, which overrides the default. Unknown keys, invalid
// values and conflicts are reported all at once, each with its place and the fix. config_section.h explains how a
// struct is described. Used by one thread, at start.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/config_section.h"

namespace sluice::config {

// The contents of a file with a secret, without the final newline; nothing if the file cannot be read.
std::optional<std::string> read_secret_file(const std::string& path);

struct Override {
  std::string key;   // "http.listen"
  std::string text;  // the value, as the environment would have it
  std::string name;  // as messages call it: "--listen"
};

struct Sources {
  std::string file{};  // its name in messages; empty if there is none
  std::string text{};
  std::map<std::string, std::string> environment{};
  std::vector<Override> flags{};
  std::function<std::optional<std::string>(const std::string& path)> read_file = read_secret_file;
};

class Loader {
 public:
  // Describes `target`, which keeps the defaults it has now, as [name]. It must outlive the loader and not move.
  template <class T>
  void section(const std::string& name, T& target, std::string about = {}) {
    Table& table = root_.child(name);
    check_that(table.keys.empty() && table.groups.empty(), "section {} is described twice", name);
    table.about = std::move(about);
    describe_table(table, target);
  }
  // A rule over several sections; it names keys by their path: "redis.url".
  void rule(std::function<void(Problems&)> check) { root_.validate = std::move(check); }
  // A variable that is not a setting and may be there all the same: SLUICE_ADMIN_EMAIL.
  void allow_variable(std::string name) { allowed_.insert(std::move(name)); }

  // Fills every section, once. Returns the problems; invalid values keep their default.
  [[nodiscard]] std::vector<Problem> load(const Sources& sources);

  // The effective configuration as TOML that loads again, with the origin of every value. Secrets are not shown.
  std::string print() const;
  // Every key as Markdown, a table for each section.
  std::string docs() const;

 private:
  Table root_;
  std::set<std::string> allowed_;
  bool loaded_ = false;
};

}  // namespace sluice::config
