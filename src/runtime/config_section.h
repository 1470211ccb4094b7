// Describing a configuration struct: each member once, for reading, checking, printing and documenting alike.
//
//   struct RelayConfig {
//     Duration every = 200ms;
//     Size batch = kib(64);
//     BreakerConfig breaker;
//
//     static void describe(config::Section<RelayConfig>& section) {
//       section.key("every", &RelayConfig::every, "How often to look for messages.").at_least(1ms);
//       section.key("batch", &RelayConfig::batch, "What is sent at once.").between(kib(1), mib(4));
//       section.table("breaker", &RelayConfig::breaker, "When to stop calling the log.");
//     }
//     void validate(config::Problems& problems) const {
//       if (breaker.open_for < every) problems.add("every", "must not be longer than breaker.open_for; shorten it");
//     }
//   };
//
// A header needs only config_fwd.h to declare both. `describe` and `validate` may also be free functions in the
// struct's namespace: describe(config::Section<T>&). The member's initial value is the default. A plan that cannot work
// is for `validate`, which only sees values that are right by themselves.
#pragma once

#include <concepts>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/config_table.h"

namespace sluice::config {

// Below.
template <class T>
void describe_table(Table& table, T& target);

// The place of a group's tables, without the other content of the enclosing table.
inline Table place_of(const Table& table) {
  Table place;
  place.path = table.path;
  place.header = table.header;
  return place;
}

// Tables that fill the elements of a std::vector.
template <class S>
class ListGroup final : public Group {
 public:
  ListGroup(const Table& around, std::string name, std::string about, std::vector<S>& target)
      : Group(std::move(name), std::move(about)), around_(place_of(around)), target_(target) {
    describe_all();
  }
  bool named() const override { return false; }
  void open(const std::vector<std::string>& names) override {
    target_.clear();
    target_.resize(names.size());
    describe_all();
  }
  Table sample() override {
    Table table = around_.numbered(this->name(), 0);
    describe_table(table, sample_);
    return table;
  }

 private:
  void describe_all() {
    entries_.clear();
    for (size_t i = 0; i < target_.size(); ++i) {
      describe_table(entries_.emplace_back(around_.numbered(this->name(), i)), target_[i]);
    }
  }
  Table around_;
  std::vector<S>& target_;
  S sample_{};
};

// Tables that fill the elements of a std::map.
template <class S>
class MapGroup final : public Group {
 public:
  MapGroup(const Table& around, std::string name, std::string about, std::map<std::string, S>& target)
      : Group(std::move(name), std::move(about)), around_(place_of(around)), target_(target) {
    open({});
  }
  bool named() const override { return true; }
  void open(const std::vector<std::string>& names) override {
    for (const auto& entry : names) target_.try_emplace(entry);
    entries_.clear();
    for (auto& [entry, value] : target_) {
      describe_table(entries_.emplace_back(around_.named(this->name(), entry)), value);
    }
  }
  Table sample() override {
    Table table = around_.named(this->name(), "NAME");
    describe_table(table, sample_);
    return table;
  }

 private:
  Table around_;
  std::map<std::string, S>& target_;
  S sample_{};
};

template <class T>
class Section {
 public:
  Section(Table& table, T& target) : table_(table), target_(target) {}

  template <class V>
  ValueSlot<V>& key(std::string name, V T::* member, std::string about) {
    V* value = &(target_.*member);
    const auto store = [value](const V& given) { return *value = given, true; };
    return add<V>(std::move(name), std::move(about), [value] { return *value; }, store, Kind<V>::expected());
  }
  // A secret never stands in the file: it is SLUICE_SECTION_KEY, or a file named by `name`_file.
  void key(std::string name, Secret T::* member, std::string about) {
    add_slot(std::move(name), std::move(about), std::make_unique<SecretSlot>((target_.*member).reveal()));
  }
  // The same where the struct keeps it as plain text, to hand it on to a client.
  void secret(std::string name, std::string T::* member, std::string about) {
    add_slot(std::move(name), std::move(about), std::make_unique<SecretSlot>(target_.*member));
  }
  // A number of bytes that the struct keeps as a plain number; written as a size.
  template <std::integral V>
  ValueSlot<Size>& bytes(std::string name, V T::* member, std::string about) {
    V* value = &(target_.*member);
    const auto store = [value](const Size& given) {
      if (!std::in_range<V>(given.bytes)) return false;
      *value = static_cast<V>(given.bytes);
      return true;
    };
    return add<Size>(
        std::move(name), std::move(about), [value] { return Size{static_cast<int64_t>(*value)}; }, store,
        Kind<Size>::expected());
  }
  // A text that fills the struct in its own way. `expected` is read after "must be".
  ValueSlot<std::string>& text(std::string name, std::function<std::string(const T&)> load,
                               std::function<bool(T&, const std::string&)> store, std::string expected,
                               std::string about) {
    T* target = &target_;
    return add<std::string>(
        std::move(name), std::move(about), [target, load] { return load(*target); },
        [target, store](const std::string& given) { return store(*target, given); }, std::move(expected));
  }

  // A table inside: [section.name].
  template <class S>
  void table(const std::string& name, S T::* member, std::string about) {
    Table& inside = table_.child(name);
    inside.about = std::move(about);
    describe_table(inside, target_.*member);
  }
  // The keys of a member as if they were our own. Its `validate` is for ours to call.
  template <class S>
  void include(S T::* member) {
    describe_table(table_, target_.*member);
  }
  // Numbered tables: [[section.name]], as often as wanted.
  template <class S>
  void list(std::string name, std::vector<S> T::* member, std::string about) {
    table_.groups.push_back(std::make_unique<ListGroup<S>>(table_, std::move(name), std::move(about), target_.*member));
  }
  // Named tables: [section.name.ANY].
  template <class S>
  void map(std::string name, std::map<std::string, S> T::* member, std::string about) {
    table_.groups.push_back(std::make_unique<MapGroup<S>>(table_, std::move(name), std::move(about), target_.*member));
  }

 private:
  template <class V>
  ValueSlot<V>& add(std::string name, std::string about, typename ValueSlot<V>::Load load,
                    typename ValueSlot<V>::Store store, std::string expected) {
    auto slot = std::make_unique<ValueSlot<V>>(std::move(load), std::move(store), Kind<V>::type(), std::move(expected));
    ValueSlot<V>& added = *slot;
    add_slot(std::move(name), std::move(about), std::move(slot));
    return added;
  }
  void add_slot(std::string name, std::string about, std::unique_ptr<Slot> slot) {
    std::string by_default = slot->print();
    table_.keys.push_back({std::move(name), std::move(about), std::move(slot), std::move(by_default)});
  }

  Table& table_;
  T& target_;
};

template <class T>
void describe_table(Table& table, T& target) {
  Section<T> section(table, target);
  if constexpr (requires { T::describe(section); }) {
    T::describe(section);
  } else {
    describe(section);
  }
  if constexpr (requires(Problems& problems) { target.validate(problems); }) {
    table.validate = [&target](Problems& problems) { target.validate(problems); };
  } else if constexpr (requires(Problems& problems) { validate(target, problems); }) {
    table.validate = [&target](Problems& problems) { validate(target, problems); };
  }
}

}  // namespace sluice::config
