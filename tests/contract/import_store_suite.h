// The fixture of import_store_contract.cpp, for the engines that run it.
#pragma once

#include <gmock/gmock.h>

#include "tests/contract/link_stores_fixture.h"
#include "tests/support/run_length.h"

namespace sluice::test {

class ImportStoreContract : public LinkStoresFixture {
 protected:
  std::vector<ImportId> loose_ends() { return run(imports_->with_loose_ends(ImportId(), 100'000)); }
  // Checks all waiting links.
  void settle_waits() {
    imports_.emplace(database(), kinds_, clock_, random_, 1'000'000);
    run(imports_->end_vain_waits());
  }
  void tie_up(const Import& import) {
    while (run(imports_->tie_up(import.id, 2)) > 0) continue;
  }
};

using Places = std::vector<std::string>;

}  // namespace sluice::test
