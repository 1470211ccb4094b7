// One field of a described struct: its name, its rules, and how it is read, written and documented.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_reader.h"
#include "base/json_writer.h"

namespace sluice::json {

// What a schema describes: a body or query that is read, or output that is written. In a body null may stand for an
// absent std::optional; in a query nothing can.
enum class SchemaOf { body, query, output };

class Field {
 public:
  Field(std::string name, bool required) : name_(std::move(name)), required_(required) {}
  virtual ~Field() = default;

  Field& length(size_t min, size_t max) {
    limits_.min_length = min;
    limits_.max_length = max;
    return *this;
  }
  Field& range(int64_t min, int64_t max) {
    limits_.min = min;
    limits_.max = max;
    return *this;
  }
  Field& at_least(int64_t min) {
    limits_.min = min;
    return *this;
  }
  Field& items(size_t min, size_t max) {
    limits_.min_items = min;
    limits_.max_items = max;
    return *this;
  }
  // Outlives the description.
  Field& form(const TextForm& form) {
    limits_.form = &form;
    return *this;
  }
  // A `format` of JSON Schema, shown and not checked.
  Field& format(std::string format) {
    limits_.format = std::move(format);
    return *this;
  }
  Field& about(std::string text) {
    limits_.about = std::move(text);
    return *this;
  }
  // As JSON: the schema shows it, and a client may send it.
  Field& example(std::string json) {
    limits_.example = std::move(json);
    return *this;
  }
  // Leaves the field out of the output instead of writing null.
  Field& omit_null() {
    omits_null_ = true;
    return *this;
  }

  const std::string& name() const { return name_; }
  // In input. In output every field is there, except null ones that are omitted.
  bool required() const { return required_; }
  bool omits_null() const { return omits_null_; }
  const std::string& about() const { return limits_.about; }
  // Whether its value is a number, true or false, which a URL's query writes like JSON; any other is a JSON string.
  virtual bool is_bare() const = 0;

  virtual bool read(Decoder& decoder, Value value, void* object) const = 0;
  // The key and the value, or nothing where a null is omitted.
  virtual void write(Writer& writer, const void* object) const = 0;
  virtual void schema(Writer& writer, SchemaOf what) const = 0;

 protected:
  Limits limits_;

 private:
  std::string name_;
  bool required_;
  bool omits_null_ = false;
};

struct Fields {
  std::vector<std::unique_ptr<Field>> all;
  std::vector<std::string> at_least_one_of;  // empty: none is needed

  auto begin() const { return all.begin(); }
  auto end() const { return all.end(); }
};

// The same for every struct; Object<T> only knows where the members are.
bool read_fields(const Fields& fields, Decoder& decoder, Value value, void* object);
void write_fields(const Fields& fields, Writer& writer, const void* object);
void schema_of_fields(const Fields& fields, Writer& writer, const Limits& limits);

}  // namespace sluice::json
