// Amounts of money: whole numbers of the currency's smallest unit. Never a floating point number.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>

namespace sluice {

// ISO 4217: three capital letters.
class Currency {
 public:
  constexpr Currency() = default;  // KRW
  static constexpr std::optional<Currency> parse(std::string_view code) {
    if (code.size() != 3) return std::nullopt;
    Currency currency;
    for (size_t i = 0; i < 3; ++i) {
      if (code[i] < 'A' || code[i] > 'Z') return std::nullopt;
      currency.code_[i] = code[i];
    }
    return currency;
  }

  constexpr std::string_view code() const { return {code_.data(), code_.size()}; }
  friend auto operator<=>(const Currency&, const Currency&) = default;

 private:
  std::array<char, 3> code_{'K', 'R', 'W'};
};

struct Money {
  int64_t amount = 0;
  Currency currency;

  friend bool operator==(const Money&, const Money&) = default;
};

// Nothing where the currencies differ or the sum does not fit.
constexpr std::optional<Money> add(Money a, Money b) {
  Money sum{0, a.currency};
  if (a.currency != b.currency || __builtin_add_overflow(a.amount, b.amount, &sum.amount)) return std::nullopt;
  return sum;
}

constexpr std::optional<Money> times(Money price, int64_t count) {
  Money product{0, price.currency};
  if (__builtin_mul_overflow(price.amount, count, &product.amount)) return std::nullopt;
  return product;
}

}  // namespace sluice
