// The description of a configuration once it is made: tables of keys, each bound to the member it fills.
//
// Structs make it through Section<T> (config.h); the Loader fills, checks, prints and documents it. Nothing here knows
// a struct.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/config_value.h"

namespace sluice::config {

// The value of one key.
class Slot {
 public:
  virtual ~Slot() = default;

  // The problem, to be read after the key; nothing if the value was stored.
  virtual std::optional<std::string> set(const Node& node) = 0;
  virtual std::string type() const = 0;
  virtual std::string print() const = 0;  // the present value, as TOML
  virtual bool secret() const { return false; }
};

// A key's value and the rules it must keep.
template <class V>
class ValueSlot final : public Slot {
 public:
  using Load = std::function<V()>;
  using Store = std::function<bool(const V&)>;  // false: the value is invalid

  ValueSlot(Load load, Store store, std::string type, std::string expected)
      : load_(std::move(load)), store_(std::move(store)), type_(std::move(type)), expected_(std::move(expected)) {}

  // `must` is read after "must be".
  ValueSlot& rule(std::string must, std::function<bool(const V&)> holds) {
    rules_.push_back({std::move(must), std::move(holds)});
    return *this;
  }
  ValueSlot& at_least(V least) {
    return rule("at least " + Kind<V>::print(least), [least](const V& value) { return value >= least; });
  }
  ValueSlot& at_most(V most) {
    return rule("at most " + Kind<V>::print(most), [most](const V& value) { return value <= most; });
  }
  ValueSlot& between(V least, V most) { return at_least(least).at_most(most); }
  ValueSlot& not_empty() {
    return rule("non-empty", [](const V& value) { return !value.empty(); });
  }
  ValueSlot& one_of(std::vector<V> values) {
    std::string list;
    for (const V& value : values) list += (list.empty() ? "one of " : ", ") + Kind<V>::print(value);
    return rule(list, [values = std::move(values)](const V& value) {
      return std::ranges::find(values, value) != values.end();
    });
  }

  std::optional<std::string> set(const Node& node) override {
    const auto value = Kind<V>::read(node);
    if (!value) return fmt::format("must be {}, not {}", expected_, node.shown());
    for (const Rule& rule : rules_) {
      if (!rule.holds(*value)) return fmt::format("must be {}, not {}", rule.must, node.shown());
    }
    if (!store_(*value)) return fmt::format("must be {}, not {}", expected_, node.shown());
    return std::nullopt;
  }
  std::string type() const override {
    std::string text = type_;
    for (const Rule& rule : rules_) text += ", " + rule.must;
    return text;
  }
  std::string print() const override { return Kind<V>::print(load_()); }

 private:
  struct Rule {
    std::string must;
    std::function<bool(const V&)> holds;
  };

  Load load_;
  Store store_;
  std::string type_;
  std::string expected_;
  std::vector<Rule> rules_;
};

class SecretSlot final : public Slot {
 public:
  explicit SecretSlot(std::string& target) : target_(target) {}

  std::optional<std::string> set(const Node& node) override;
  std::string type() const override { return "secret"; }
  std::string print() const override { return target_.empty() ? "" : "(hidden)"; }
  bool secret() const override { return true; }

 private:
  std::string& target_;
};

struct Key {
  std::string name;
  std::string about;
  std::unique_ptr<Slot> slot;
  std::string by_default;
  std::string origin = "default";  // or "sluice.toml:3", "SLUICE_HTTP_LISTEN", "--listen"
};

class Group;
struct Table;

// Collects the problems of one table: a struct's `void validate(config::Problems&) const` adds to it.
class Problems {
 public:
  Problems(const Table& table, std::string_view file, std::vector<Problem>& all)
      : table_(table), file_(file), all_(all) {}

  // `message` is read after the key and ends with the fix: "must be longer than head_timeout; raise it".
  void add(std::string_view key, std::string message);

 private:
  const Table& table_;
  std::string_view file_;
  std::vector<Problem>& all_;
};

struct Table {
  std::string name;
  std::string path;    // as messages name it: "documents.origin[1]"
  std::string header;  // as TOML names it: "documents.origin"
  std::string about;
  std::vector<Key> keys;
  std::vector<Table> tables;
  std::vector<std::unique_ptr<Group>> groups;
  std::function<void(Problems&)> validate;
  bool sound = true;  // every value that was set was right

  // A table inside, made where it is not there yet. References to its siblings become invalid.
  Table& child(const std::string& child_name);
  Table numbered(const std::string& group, size_t index) const;
  Table named(const std::string& group, const std::string& entry) const;

  Key* find_key(std::string_view key_name);
  const Key* find_key(std::string_view key_name) const;
  // The same for a key of a table inside: "breaker.open_for".
  const Key* find_path(std::string_view path_to_key) const;
  std::string path_of(std::string_view key_name) const;
  std::vector<std::string> known_names() const;
};

// Tables that the file may have any number of: numbered ([[documents.origin]]) or named ([jobs.kinds.NAME]).
class Group {
 public:
  Group(std::string name, std::string about) : name_(std::move(name)), about_(std::move(about)) {}
  virtual ~Group() = default;

  const std::string& name() const { return name_; }
  const std::string& about() const { return about_; }
  std::vector<Table>& entries() { return entries_; }
  const std::vector<Table>& entries() const { return entries_; }

  virtual bool named() const = 0;
  // Numbered entries replace the defaults, named ones are added to them.
  virtual void open(const std::vector<std::string>& names) = 0;
  // An entry with its defaults, for the documentation.
  virtual Table sample() = 0;

 protected:
  std::vector<Table> entries_;

 private:
  std::string name_;
  std::string about_;
};

// "http.head_timeout" is SLUICE_HTTP_HEAD_TIMEOUT.
std::string variable_name(std::string_view path);

// Visits a table and all in it, groups included.
template <class AnyTable, class Visit>
void for_each_table(AnyTable& table, const Visit& visit) {
  visit(table);
  for (auto& child : table.tables) for_each_table(child, visit);
  for (auto& group : table.groups) {
    for (auto& entry : group->entries()) for_each_table(entry, visit);
  }
}

}  // namespace sluice::config
