#include "lab/origin_settings.h"

#include <algorithm>

#include "base/json.h"

namespace sluice::lab {
namespace {

constexpr int64_t largest_size = 64 << 20;

// As JSON has it: everything may be left out.
struct Form {
  std::optional<std::string> latency;
  std::optional<std::string> jitter;
  std::optional<double> failure_rate;
  std::optional<double> html_rate;
  std::optional<double> disguised_rate;
  std::optional<double> stall_rate;
  std::optional<double> truncate_rate;
  std::optional<int64_t> size;
  std::optional<std::string> unknown;

  static void describe(json::Object<Form>& object) {
    object.optional("latency", &Form::latency);
    object.optional("jitter", &Form::jitter);
    object.optional("failureRate", &Form::failure_rate);
    object.optional("htmlRate", &Form::html_rate);
    object.optional("disguisedRate", &Form::disguised_rate);
    object.optional("stallRate", &Form::stall_rate);
    object.optional("truncateRate", &Form::truncate_rate);
    object.optional("size", &Form::size).range(0, largest_size);
    object.optional("unknown", &Form::unknown);
  }
};

constexpr std::array<std::pair<UnknownAnswer, std::string_view>, 3> unknown_answers{
    {{UnknownAnswer::not_found, "404"}, {UnknownAnswer::failure, "500"}, {UnknownAnswer::html, "html"}}};

bool set_duration(const std::optional<std::string>& text, Duration& duration) {
  if (!text) return true;
  const auto parsed = parse_duration(*text);
  if (parsed) duration = *parsed;
  return parsed.has_value();
}

}  // namespace

std::optional<std::string> OriginSettings::fault() const {
  double sum = 0;
  for (const double rate : {rates.failure, rates.html, rates.disguised, rates.stall, rates.truncate}) {
    if (!(rate >= 0 && rate <= 1)) return "a rate must be between 0 and 1";
    sum += rate;
  }
  if (sum > 1.0 + 1e-9) return "the sum of the rates must not exceed 1";
  if (jitter > latency) return "the jitter must not exceed the latency";
  return std::nullopt;
}

Fate OriginSettings::draw_fate(Random& random) const {
  constexpr uint64_t steps = uint64_t{1} << 53;
  double drawn = static_cast<double>(random.below(steps)) / static_cast<double>(steps);
  for (const auto& [rate, fate] : {std::pair{rates.failure, Fate::failure}, std::pair{rates.html, Fate::html},
                                   std::pair{rates.disguised, Fate::disguised}, std::pair{rates.stall, Fate::stall},
                                   std::pair{rates.truncate, Fate::truncation}}) {
    if (drawn < rate) return fate;
    drawn -= rate;
  }
  return Fate::document;
}

Duration OriginSettings::draw_latency(Random& random) const {
  const auto spread = static_cast<uint64_t>(jitter.count()) * 2 + 1;
  return latency - jitter + Duration{static_cast<int64_t>(random.below(spread))};
}

std::string OriginSettings::to_json() const {
  return json::encode(Form{.latency = format_duration(latency),
                           .jitter = format_duration(jitter),
                           .failure_rate = rates.failure,
                           .html_rate = rates.html,
                           .disguised_rate = rates.disguised,
                           .stall_rate = rates.stall,
                           .truncate_rate = rates.truncate,
                           .size = static_cast<int64_t>(size),
                           .unknown = std::string(unknown_answers.at(static_cast<size_t>(unknown)).second)});
}

Result<OriginSettings, std::string> OriginSettings::changed_by(std::string_view json) const {
  const auto form = json::decode<Form>(json);
  if (!form) return form.error().text();
  OriginSettings changed = *this;
  if (!set_duration(form->latency, changed.latency) || !set_duration(form->jitter, changed.jitter)) {
    return std::string("a duration must be written as 250ms, 10s or 5m");
  }
  if (form->unknown) {
    const auto* const found =
        std::ranges::find(unknown_answers, *form->unknown, &std::pair<UnknownAnswer, std::string_view>::second);
    if (found == unknown_answers.end()) return std::string("unknown must be 404, 500 or html");
    changed.unknown = found->first;
  }
  changed.rates.failure = form->failure_rate.value_or(rates.failure);
  changed.rates.html = form->html_rate.value_or(rates.html);
  changed.rates.disguised = form->disguised_rate.value_or(rates.disguised);
  changed.rates.stall = form->stall_rate.value_or(rates.stall);
  changed.rates.truncate = form->truncate_rate.value_or(rates.truncate);
  changed.size = static_cast<size_t>(form->size.value_or(static_cast<int64_t>(size)));
  if (auto wrong = changed.fault()) return std::move(*wrong);
  return changed;
}

}  // namespace sluice::lab
