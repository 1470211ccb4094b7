// Problems that follow from an endpoint's input and role, in addition to those it declares itself.
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
