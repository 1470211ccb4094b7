// Ids derived from the content they identify, so that no database lookup is needed.
#pragma once

#include <memory>
#include <string_view>

#include "base/id.h"

namespace sluice {

// The same for the same text, wherever it is computed; different texts have different ids (SHA-256).
Uuid hashed_uuid(std::string_view text);

// `hashed_uuid` of a text that comes in pieces, wherever it is cut.
class PiecewiseHash {
 public:
  PiecewiseHash();
  ~PiecewiseHash();
  PiecewiseHash(const PiecewiseHash&) = delete;
  PiecewiseHash& operator=(const PiecewiseHash&) = delete;

  void add(std::string_view piece);
  // Of all pieces; called once.
  Uuid uuid();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sluice
