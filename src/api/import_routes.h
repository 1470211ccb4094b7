// Bookmarks over HTTP: importing them, watching and canceling an import, and looking at one's links.
#pragma once

#include "api/api.h"
#include "api/import_stream.h"
#include "flows/bookmark_imports.h"
#include "links/link_store.h"

namespace sluice::api {

// All must outlive the server.
void add_import_routes(Api& api, flows::BookmarkImports& imports, ImportStream& stream);

void add_link_routes(Api& api, links::LinkStore& links);

}  // namespace sluice::api
