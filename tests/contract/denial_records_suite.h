// The fixture of denial_records_contract.cpp, for the engines that run it.
#pragma once

#include "coordination/denial_records.h"
#include "tests/contract/port_fixture.h"

namespace sluice::test {

class DenialRecordsContract : public PortFixture<coordination::DenialRecords> {
 protected:
  using Denial = coordination::Denial;
  using DenialMark = coordination::DenialMark;
  using DenialPage = coordination::DenialPage;

  void SetUp() override {
    PortFixture::SetUp();
    now_ = run(port().read({}, 1)).now;
    token_ = unique("token");
  }

  void deny(const std::string& token, Time until) { run(port().deny({token, until})); }
  bool denied(const std::string& token) { return run(port().denied(token)); }
  DenialPage read(DenialMark after, int64_t limit = 1000) { return run(port().read(std::move(after), limit)); }
  // The position behind all records.
  DenialMark end() { return {read({}, 1).now, {}}; }
  static std::vector<std::string> tokens(const DenialPage& page) {
    std::vector<std::string> found;
    for (const Denial& denial : page.denials) found.push_back(denial.token);
    return found;
  }

  Time now_;
  std::string token_;
};

}  // namespace sluice::test
