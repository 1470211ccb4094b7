// The yardstick of the embedded database: a bare loop that commits 64 inserts at a time, with the pragmas of
// sqlite::Connection but for one: it leaves checkpoints to SQLite, every 1,000 pages. Then its WAL is written over
// again and again, as ours is; without checkpoints the WAL only grows, and the same loop makes a third fewer commits.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runtime/clock.h"

namespace sluice::bare {

inline constexpr int rows_per_commit = 64;
inline constexpr const char* make_table = "CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT;";
inline constexpr const char* insert_note = "INSERT INTO notes (id, body) VALUES ($1, $2)";
inline const std::string body(100, 'n');

// Rows a second, from the time `count` rows took since `start`.
double rate(const Clock& clock, Instant start, int count);

// The rate of so many commits.
double commit_loop(const std::filesystem::path& folder, int commits);

// The result of `run` in a new folder.
double in_fresh_folder(double (*run)(const std::filesystem::path& folder, int commits), int commits);

double median(std::vector<double> values);

// Rounds of the bare loop and of `ours`, in rotation; the arguments are [ROUNDS] [COMMITS]. Prints each round and the
// medians, with `who` for ours, and returns a program's exit code: 0 where the ratio reaches the bar.
int against_bare_loop(int count, char** arguments, const char* who,
                      double (*ours)(const std::filesystem::path& folder, int commits));

}  // namespace sluice::bare
