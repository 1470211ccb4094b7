// The fixture of import_ends_contract.cpp, for the engines that run it.
#pragma once

#include <gmock/gmock.h>

#include "tests/contract/link_stores_fixture.h"

namespace sluice::test {

class ImportEndsContract : public LinkStoresFixture {
 protected:
  using Places = std::vector<std::string>;

  Import begin_with(std::vector<Bookmark> bookmarks) {
    Import import = begin();
    EXPECT_TRUE(add(import, std::move(bookmarks)));
    return import;
  }
  void finish(const Import& import) {
    EXPECT_TRUE(run(imports_->end_reading(import.id, {})));
    tie_up(import);
  }
  void take_back(const Import& import) {
    EXPECT_TRUE(run(imports_->reject(import.id, "broken")));
    tie_up(import);
  }
  void tie_up(const Import& import) {
    while (run(imports_->tie_up(import.id, 2)) > 0) continue;
  }
  // Whatever its age.
  void forget_ended() {
    while (run(imports_->forget_ended(-1h, 2)) > 0) continue;
  }
  void forget_unused_links() { run(imports_->forget_unused_links(-1h, 100'000)); }

  int64_t count(sql::Statement statement, const Import& import) {
    return run(database().read(statement, sql::Params(import.id))).one().integer(0);
  }
  bool is_known(const std::string& path) {
    const sql::Rows rows =
        run(database().read("SELECT count(*) FROM link_canonicals WHERE id = $1", sql::Params(url(path).id())));
    return rows.one().integer(0) == 1;
  }
};

}  // namespace sluice::test
