// The routes of documents.
#pragma once

#include "api/api.h"
#include "documents/documents.h"
#include "runtime/clock.h"

namespace sluice::api {

// `documents` and `clock` outlive the server.
void add_document_routes(Api& api, documents::Documents& documents, const Clock& clock);

}  // namespace sluice::api
