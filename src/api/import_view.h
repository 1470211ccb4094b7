// An import as clients see it: in answers and in its event stream.
#pragma once

#include "base/json.h"
#include "links/import.h"

namespace sluice::links {

void describe(json::Object<Import>& object);

}  // namespace sluice::links
