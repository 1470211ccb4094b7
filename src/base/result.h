// Either a value or an outcome the caller must handle.
//
// Like std::expected, and converts from the error itself, so that a use case reads `co_return
// ReserveError::seat_taken;`. Only for outcomes of the rules; a failing engine is an exception (runtime/errors.h).
#pragma once

#include <concepts>
#include <expected>
#include <type_traits>
#include <utility>

namespace sluice {

template <class Value, class Error>
class [[nodiscard]] Result : public std::expected<Value, Error> {
  static_assert(!std::same_as<Value, Error>, "value and error of a Result must be different types");

 public:
  using std::expected<Value, Error>::expected;
  Result(std::expected<Value, Error> other) : std::expected<Value, Error>(std::move(other)) {}
  template <class Other>
    requires std::same_as<std::remove_cvref_t<Other>, Error>
  Result(Other&& error) : std::expected<Value, Error>(std::unexpected(std::forward<Other>(error))) {}
};

}  // namespace sluice
