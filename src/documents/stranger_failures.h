// Paths without a document that the origin was asked for lately, and how they are answered until it is asked again.
//
// Kept in memory and bounded, never in the database: a crowd of invented paths must not grow a table. Another instance
// may ask the origin once more; the strangers' rate bounds that.
#pragma once

#include <list>
#include <optional>
#include <string>
#include <unordered_map>

#include "documents/document.h"
#include "runtime/clock.h"

namespace sluice::documents {

// Belongs to one executor.
class StrangerFailures {
 public:
  // Each is kept for `kept`, and at most `most` at once: the oldest goes first.
  StrangerFailures(const Clock& clock, Duration kept, size_t most) : clock_(clock), kept_(kept), most_(most) {}

  void add(const std::string& path, Refused refused);
  std::optional<Refused> find(const std::string& path);
  void erase(const std::string& path);
  size_t size() const { return oldest_first_.size(); }

 private:
  struct Failure {
    std::string path;
    Refused refused;
    Instant until{};
  };
  using Failures = std::list<Failure>;

  void drop_ended();
  void drop(Failures::iterator failure);

  const Clock& clock_;
  Duration kept_;
  size_t most_;
  Failures oldest_first_;
  std::unordered_map<std::string_view, Failures::iterator> by_path_;
};

}  // namespace sluice::documents
