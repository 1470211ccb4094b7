// A page of links as their owner sees it.
#pragma once

#include "base/json.h"
#include "links/link_store.h"

namespace sluice::links {

void describe(json::Object<LinkPage>& object);

}  // namespace sluice::links
