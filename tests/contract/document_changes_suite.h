// The fixture of document_changes_contract.cpp, for the engines that run it.
#pragma once

#include "tests/contract/document_store_suite.h"

namespace sluice::test {

class DocumentChangesContract : public DocumentStoreContract {};

}  // namespace sluice::test
