// The names of kinds that metrics have series for.
//
// Any name is a kind, and clients choose names: a series for each of them would use memory without end. Kinds that the
// program works on or that the configuration names always have series of their own. Of all others the first ones have,
// up to a bound; the rest share "other". Safe to share between threads.
#pragma once

#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

namespace sluice::jobs {

class KindLabels {
 public:
  static constexpr std::string_view other = "other";

  explicit KindLabels(size_t most_others) : most_others_(most_others) {}

  // `kind` has a series of its own from now on.
  void keep(std::string_view kind) {
    const std::lock_guard lock(mutex_);
    kept_.emplace(kind);
  }

  // `kind`, or "other".
  std::string_view of(std::string_view kind) {
    const std::lock_guard lock(mutex_);
    if (kept_.contains(kind) || others_.contains(kind)) return kind;
    if (others_.size() >= most_others_) return other;
    others_.emplace(kind);
    return kind;
  }

 private:
  using Names = std::set<std::string, std::less<>>;

  const size_t most_others_;
  std::mutex mutex_;
  Names kept_;
  Names others_;
};

}  // namespace sluice::jobs
