#include "lab/origin_counts.h"

#include <algorithm>

#include "base/json.h"

namespace sluice::lab {
namespace {
constexpr size_t most_paths = 10'000;
constexpr const char* other_paths = "(others)";
}  // namespace

void OriginCounts::Tally::begin() {
  ++requests;
  most = std::max(most, ++in_flight);
}

void OriginCounts::Tally::reset() {
  requests = 0;
  most = in_flight;
}

OriginCounts::Open::Open(OriginCounts& counts, std::string path) : counts_(counts), path_(std::move(path)) {
  if (counts_.by_path_.size() >= most_paths && !counts_.by_path_.contains(path_)) path_ = other_paths;
  counts_.all_.begin();
  counts_.by_path_[path_].begin();
}

OriginCounts::Open::~Open() {
  --counts_.all_.in_flight;
  --counts_.by_path_[path_].in_flight;
}

void OriginCounts::reset() {
  all_.reset();
  std::erase_if(by_path_, [](const auto& entry) { return entry.second.in_flight == 0; });
  for (auto& [path, tally] : by_path_) tally.reset();
}

std::string OriginCounts::to_json() const {
  std::string text;
  json::Writer writer(text);
  const auto write = [&writer](const Tally& tally) {
    writer.field("requests", tally.requests).field("inFlight", tally.in_flight).field("maxConcurrency", tally.most);
  };
  writer.begin_object();
  write(all_);
  writer.key(by_).begin_object();
  for (const auto& [path, tally] : by_path_) {
    writer.key(path).begin_object();
    write(tally);
    writer.end_object();
  }
  writer.end_object().end_object();
  return text;
}

}  // namespace sluice::lab
