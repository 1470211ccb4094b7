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
// field that is absent keeps its default. All fields are written, a std::optional without value as null, unless the
// field says omit_null().
//
// A struct that is only written may have fields of types that are not read, and fields whose value a function makes:
//
//   object.required("url", [](const Shop& shop) { return shop.host + shop.path; }).format("uri");
#pragma once

#include <concepts>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/json_field.h"

namespace sluice::json {

template <class T>
inline constexpr bool is_bare_type = std::is_arithmetic_v<T>;
template <class T>
inline constexpr bool is_bare_type<std::optional<T>> = is_bare_type<T>;

// Whether a T that is false is written as null.
template <class T>
inline constexpr bool is_nullable_type = std::is_pointer_v<T>;
template <class T>
inline constexpr bool is_nullable_type<std::optional<T>> = true;

template <class T>
class Object {
 public:
  // `access` is a pointer to a member of T or its base, or a function of a const T&. A reference that the function
  // returns is not copied.
  template <std::invocable<const T&> Access>
  Field& required(std::string name, Access access) {
    return add(std::move(name), std::move(access), true);
  }
  template <std::invocable<const T&> Access>
  Field& optional(std::string name, Access access) {
    return add(std::move(name), std::move(access), false);
  }

  void at_least_one_of(std::vector<std::string> names) { fields_.at_least_one_of = std::move(names); }

  // The description of T, made at first use.
  static const Fields& fields() {
    static const Object object = described();
    return object.fields_;
  }

 private:
  template <class Access>
  class FieldOf final : public Field {
    using Type = std::remove_cvref_t<std::invoke_result_t<const Access&, const T&>>;
    static constexpr bool readable = std::is_member_object_pointer_v<Access> && requires { &Codec<Type>::read; };

   public:
    FieldOf(std::string name, bool required, Access access)
        : Field(std::move(name), required), access_(std::move(access)) {}

    bool read(Decoder& decoder, Value value, void* object) const override {
      if constexpr (readable) {
        return Codec<Type>::read(decoder, value, limits_, static_cast<T*>(object)->*access_);
      } else {
        check_that(false, "field {} is only written", name());
        return false;
      }
    }
    void write(Writer& writer, const void* object) const override {
      const auto& value = std::invoke(access_, *static_cast<const T*>(object));
      if constexpr (is_nullable_type<Type>) {
        if (!value && omits_null()) return;
      }
      writer.plain_key(name());
      Codec<Type>::write(writer, value);
    }
    void schema(Writer& writer, SchemaOf what) const override {
      Limits limits = limits_;
      limits.output = what == SchemaOf::output;
      limits.never_null = what == SchemaOf::query || (limits.output && omits_null());
      check_that(readable || limits.output, "field {} is only written", name());
      if constexpr (readable) {
        if (!required() && !limits.output) {
          Writer fallback(limits.fallback);
          Codec<Type>::write(fallback, T{}.*access_);
        }
      }
      Codec<Type>::schema(writer, limits);
    }
    bool is_bare() const override { return is_bare_type<Type>; }

   private:
    Access access_;
  };

  template <class Access>
  Field& add(std::string name, Access access, bool required) {
    fields_.all.push_back(std::make_unique<FieldOf<Access>>(std::move(name), required, std::move(access)));
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
