#include "base/json_codecs.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace sluice {

void describe(json::Object<Money>& object) {
  object.required("amount", &Money::amount).about("Amount in the currency's smallest unit.");
  object.required("currency", &Money::currency);
}

namespace json {
namespace {

// No JSON with a NUL in it is read (json_reader.h).
constexpr std::string_view any_text_pattern = "^[^\\u0000]*$";

// Every whole number up to here is a double of its own.
constexpr double largest_exact = int64_t{1} << 53;

size_t count_characters(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

void string_schema(Writer& writer, const Limits& limits, std::string_view format) {
  begin_schema(writer, "string", limits);
  writer.field("format", format).end_object();
}

}  // namespace

void begin_schema(Writer& writer, std::string_view type, const Limits& limits) {
  writer.begin_object().key("type");
  if (limits.nullable) {
    writer.begin_array().string(type).string("null").end_array();
  } else {
    writer.string(type);
  }
  write_notes(writer, limits);
}

void write_notes(Writer& writer, const Limits& limits) {
  if (!limits.about.empty()) writer.field("description", limits.about);
  if (!limits.fallback.empty() && limits.fallback != "null") writer.key("default").raw(limits.fallback);
  if (!limits.example.empty()) writer.key("examples").begin_array().raw(limits.example).end_array();
}

bool Codec<bool>::read(Decoder& decoder, Value value, const Limits&, bool& out) {
  if (value.kind() != Kind::boolean) return decoder.wrong_type("must be true or false");
  out = value.boolean();
  return true;
}
void Codec<bool>::write(Writer& writer, bool value) {
  writer.boolean(value);
}
void Codec<bool>::schema(Writer& writer, const Limits& limits) {
  begin_schema(writer, "boolean", limits);
  writer.end_object();
}

bool Codec<int64_t>::read(Decoder& decoder, Value value, const Limits& limits, int64_t& out) {
  if (value.kind() == Kind::number) {
    const double number = value.number();
    if (number != std::trunc(number)) return decoder.wrong_type("must be a whole number");
    if (number < -largest_exact) return decoder.invalid(fmt::format("must be at least {}", limits.min));
    if (number > largest_exact) return decoder.invalid(fmt::format("must be at most {}", limits.max));
    out = static_cast<int64_t>(number);
  } else if (value.kind() == Kind::unsigned_integer) {
    return decoder.invalid(fmt::format("must be at most {}", limits.max));
  } else if (value.kind() != Kind::integer) {
    return decoder.wrong_type("must be a whole number");
  } else {
    out = value.integer();
  }
  if (out < limits.min) return decoder.invalid(fmt::format("must be at least {}", limits.min));
  if (out > limits.max) return decoder.invalid(fmt::format("must be at most {}", limits.max));
  return true;
}
void Codec<int64_t>::write(Writer& writer, int64_t value) {
  writer.integer(value);
}
void Codec<int64_t>::schema(Writer& writer, const Limits& limits) {
  begin_schema(writer, "integer", limits);
  writer.field("format", "int64");
  if (limits.min != Limits{}.min) writer.field("minimum", limits.min);
  if (limits.max != Limits{}.max) writer.field("maximum", limits.max);
  writer.end_object();
}

bool Codec<double>::read(Decoder& decoder, Value value, const Limits& limits, double& out) {
  const bool numeric =
      value.kind() == Kind::number || value.kind() == Kind::integer || value.kind() == Kind::unsigned_integer;
  if (!numeric) return decoder.wrong_type("must be a number");
  out = value.number();
  if (out < static_cast<double>(limits.min)) return decoder.invalid(fmt::format("must be at least {}", limits.min));
  if (out > static_cast<double>(limits.max) && limits.max != Limits{}.max) {
    return decoder.invalid(fmt::format("must be at most {}", limits.max));
  }
  return true;
}
void Codec<double>::write(Writer& writer, double value) {
  writer.number(value);
}
void Codec<double>::schema(Writer& writer, const Limits& limits) {
  begin_schema(writer, "number", limits);
  if (limits.min != Limits{}.min) writer.field("minimum", limits.min);
  if (limits.max != Limits{}.max) writer.field("maximum", limits.max);
  writer.end_object();
}

bool Codec<std::string>::read(Decoder& decoder, Value value, const Limits& limits, std::string& out) {
  if (value.kind() != Kind::string) return decoder.wrong_type("must be a string");
  const std::string_view text = value.string();
  const size_t length = count_characters(text);
  if (length < limits.min_length && limits.min_length == 1) return decoder.invalid("must not be empty");
  if (length < limits.min_length) {
    return decoder.invalid(fmt::format("must have at least {} characters", limits.min_length));
  }
  if (length > limits.max_length) {
    return decoder.invalid(fmt::format("must have at most {} characters", limits.max_length));
  }
  if (limits.form != nullptr && !limits.form->fits(text)) return decoder.invalid(std::string(limits.form->message));
  out = text;
  return true;
}
void Codec<std::string>::write(Writer& writer, const std::string& value) {
  writer.string(value);
}
void Codec<std::string>::schema(Writer& writer, const Limits& limits) {
  begin_schema(writer, "string", limits);
  if (limits.min_length > 0) writer.field("minLength", limits.min_length);
  if (limits.max_length != Limits{}.max_length) writer.field("maxLength", limits.max_length);
  if (!limits.format.empty()) writer.field("format", limits.format);
  if (limits.form != nullptr) {
    writer.field("pattern", limits.form->pattern);
  } else if (!limits.output) {
    writer.field("pattern", any_text_pattern);
  }
  writer.end_object();
}

void Codec<std::string_view>::write(Writer& writer, std::string_view value) {
  writer.string(value);
}
void Codec<std::string_view>::schema(Writer& writer, const Limits& limits) {
  Codec<std::string>::schema(writer, limits);
}

bool Codec<Uuid>::read(Decoder& decoder, Value value, const Limits&, Uuid& out) {
  const auto uuid = value.kind() == Kind::string ? Uuid::parse(value.string()) : std::nullopt;
  if (!uuid) return decoder.wrong_type("must be a UUID");
  out = *uuid;
  return true;
}
void Codec<Uuid>::write(Writer& writer, const Uuid& value) {
  writer.string(value.text());
}
void Codec<Uuid>::schema(Writer& writer, const Limits& limits) {
  string_schema(writer, limits, "uuid");
}

bool Codec<Time>::read(Decoder& decoder, Value value, const Limits&, Time& out) {
  const auto time = value.kind() == Kind::string ? parse_time(value.string()) : std::nullopt;
  if (!time) return decoder.wrong_type("must be a time such as \"2026-05-01T11:00:00.000Z\"");
  // An offset can carry a time out of the four digits that a year is written with.
  const std::chrono::year_month_day date{std::chrono::floor<std::chrono::days>(*time)};
  if (date.year() < std::chrono::year{0} || date.year() > std::chrono::year{9999}) {
    return decoder.invalid("must be a time in the years 0 to 9999");
  }
  out = *time;
  return true;
}
void Codec<Time>::write(Writer& writer, Time value) {
  writer.string(format_time(value));
}
void Codec<Time>::schema(Writer& writer, const Limits& limits) {
  string_schema(writer, limits, "date-time");
}

bool Codec<Currency>::read(Decoder& decoder, Value value, const Limits&, Currency& out) {
  if (value.kind() != Kind::string) return decoder.wrong_type("must be a string");
  const auto currency = Currency::parse(value.string());
  if (!currency) return decoder.invalid("must be a currency code such as KRW");
  out = *currency;
  return true;
}
void Codec<Currency>::write(Writer& writer, const Currency& value) {
  writer.string(value.code());
}
void Codec<Currency>::schema(Writer& writer, const Limits& limits) {
  begin_schema(writer, "string", limits);
  writer.field("pattern", "^[A-Z]{3}$").end_object();
}

}  // namespace json
}  // namespace sluice
