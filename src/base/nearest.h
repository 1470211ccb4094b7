// Spelling suggestions: the known name closest to a mistyped one.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sluice {

// The fewest insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
size_t edit_distance(std::string_view a, std::string_view b);

// The candidate nearest to `text`; nothing where none is near enough to be a typing mistake (a third of its letters).
std::optional<std::string> nearest(std::string_view text, std::span<const std::string> candidates);

// The remedy for an unknown name: "did you mean serve?", or "known here: serve, migrate" where none is near, or "remove
// it" where none is known.
std::string suggest(std::string_view text, std::span<const std::string> known);

}  // namespace sluice
