// A struct's fields, described once, for reading, writing and the schema alike.
//
//   struct NewJob {
//     std::string kind;
//     json::Raw payload;
//     std::optional<std::string> unique_key;
//     int64_t priority = 0;
//
//     static void describe(json::Object<NewJob>& object) {
//       object.required("kind", &NewJob::kind).length(1, 100);
//       object.required("payload", &NewJob::payload);
//       object.optional("uniqueKey", &NewJob::unique_key).length(1, 200);
//       object.optional("priority", &NewJob::priority).range(-100, 100).about("Higher runs first.");
//     }
//   };
//
// At least one of several fields may be needed: object.at_least_one_of({"id", "topic", "all"}) refuses an object in
// which each of them is absent, null or false.
//
// A type one does not own is described by a free function describe(json::Object<T>&) in its namespace. An optional
// field that is absent keeps its default. All fields are written, a std::optional without value as null.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/json_reader.h"
#include "base/json_writer.h"

namespace sluice::json {

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
  Field& about(std::string text) {
    limits_.about = std::move(text);
    return *this;
  }
  // As JSON: the schema shows it, and a client may send it.
  Field& example(std::string json) {
    limits_.example = std::move(json);
    return *this;
  }

  const std::string& name() const { return name_; }
  bool required() const { return required_; }
  const std::string& about() const { return limits_.about; }
  // Whether its value is a number, true or false, which a URL's query writes like JSON; any other is a JSON string.
  virtual bool is_bare() const = 0;

  virtual bool read(Decoder& decoder, Value value, void* object) const = 0;
  virtual void write(Writer& writer, const void* object) const = 0;
  // In a body null may stand for an absent std::optional; in a query nothing can.
  virtual void schema(Writer& writer, bool may_be_null) const = 0;

 protected:
  Limits limits_;

 private:
  std::string name_;
  bool required_;
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

template <class T>
inline constexpr bool is_bare_type = std::is_arithmetic_v<T>;
template <class T>
inline constexpr bool is_bare_type<std::optional<T>> = is_bare_type<T>;

template <class T>
class Object {
 public:
  template <class Member>
  Field& required(std::string name, Member T::* member) {
    return add(std::move(name), member, true);
  }
  template <class Member>
  Field& optional(std::string name, Member T::* member) {
    return add(std::move(name), member, false);
  }

  void at_least_one_of(std::vector<std::string> names) { fields_.at_least_one_of = std::move(names); }

  // The description of T, made at first use.
  static const Fields& fields() {
    static const Object object = described();
    return object.fields_;
  }

 private:
  template <class Member>
  class MemberField final : public Field {
   public:
    MemberField(std::string name, bool required, Member T::* member)
        : Field(std::move(name), required), member_(member) {}

    bool read(Decoder& decoder, Value value, void* object) const override {
      return Codec<Member>::read(decoder, value, limits_, static_cast<T*>(object)->*member_);
    }
    void write(Writer& writer, const void* object) const override {
      Codec<Member>::write(writer, static_cast<const T*>(object)->*member_);
    }
    void schema(Writer& writer, bool may_be_null) const override {
      Limits limits = limits_;
      limits.never_null = !may_be_null;
      if (!required()) {
        Writer fallback(limits.fallback);
        Codec<Member>::write(fallback, T{}.*member_);
      }
      Codec<Member>::schema(writer, limits);
    }
    bool is_bare() const override { return is_bare_type<Member>; }

   private:
    Member T::* member_;
  };

  template <class Member>
  Field& add(std::string name, Member T::* member, bool required) {
    fields_.all.push_back(std::make_unique<MemberField<Member>>(std::move(name), required, member));
    return *fields_.all.back();
  }

  static Object described() {
    Object object;
    if constexpr (requires { T::describe(object); }) {
      T::describe(object);
    } else {
      describe(object);
    }
    return object;
  }

  Fields fields_;
};

template <class T>
concept Described =
    std::is_class_v<T> &&
    (requires(Object<T>& object) { T::describe(object); } || requires(Object<T>& object) { describe(object); });

}  // namespace sluice::json
