// The fixture of coalescing_contract.cpp, for the engines that run it.
#pragma once

#include <set>

#include "tests/contract/coalescing_fixture.h"

namespace sluice::test {

class CoalescingContract : public CoalescingFixture {};

}  // namespace sluice::test
