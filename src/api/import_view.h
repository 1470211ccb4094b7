// An import as clients see it: in answers and in its event stream.
#pragma once

#include <string>
#include <string_view>

#include "links/import.h"

namespace sluice::api {

std::string import_json(const links::Import& import);
extern const std::string_view import_schema;

}  // namespace sluice::api
