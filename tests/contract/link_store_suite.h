// The fixture of link_store_contract.cpp, for the engines that run it.
#pragma once

#include "tests/contract/link_stores_fixture.h"

namespace sluice::test {

class LinkStoreContract : public LinkStoresFixture {};

}  // namespace sluice::test
