// The target of a key: where its value is stored, and the rules for it.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/config_table.h"

namespace sluice::config {

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

}  // namespace sluice::config
