// A Coalescing whose answers are counted. Wrapped around the adapter where it is made.
#pragma once

#include "coordination/coalescing.h"

namespace sluice::coordination {

// As safe to share as what it wraps, which must outlive it.
class CountedCoalescing : public Coalescing {
 public:
  explicit CountedCoalescing(Coalescing& coalescing) : coalescing_(coalescing) {}

  Task<RefreshAnswer> request(RefreshRequest request) override;
  Task<bool> unpublish(std::string item, RefreshAnswer answer) override;
  Task<FetchAnswer> look(FetchRequest request) override;
  Task<FetchAnswer> begin(FetchRequest request) override;
  Task<> finish(std::string item, std::string owner, Version covers) override;
  Task<> abandon(std::string item, std::string owner, std::optional<Version> given_up) override;

 private:
  Coalescing& coalescing_;
};

}  // namespace sluice::coordination
