// Tables that fill the elements of a std::vector or a std::map.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runtime/config_table.h"

namespace sluice::config {

// In config_section.h.
template <class T>
void describe_table(Table& table, T& target);

// The place of a group's tables, without the other content of the enclosing table.
inline Table place_of(const Table& table) {
  Table place;
  place.path = table.path;
  place.header = table.header;
  return place;
}

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

}  // namespace sluice::config
