// A Coalescing with metrics. Wrapped around the adapter where it is created.
#pragma once

#include "coordination/coalescing.h"

namespace sluice::coordination {

// As thread-safe as the wrapped object, which must outlive it.
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
