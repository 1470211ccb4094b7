// The problems that an endpoint answers for what it takes and asks for, beside those it names itself.
#pragma once

#include <map>
#include <vector>

#include "api/endpoint.h"

namespace sluice::api {

// By status.
using Problems = std::map<int, std::vector<ProblemAnswer>>;

// All of them, its own first.
Problems problems_of(const Endpoint& endpoint);

// The statuses that mean the same wherever they are answered, with all their codes; the document describes them once.
const Problems& common_problems();

}  // namespace sluice::api
