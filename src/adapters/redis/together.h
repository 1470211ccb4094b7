// Several commands at once: they leave in one write, and the slowest says how long it takes.
#pragma once

#include <vector>

#include "runtime/task.h"

namespace sluice::redis {

// Runs the tasks on the caller's executor and returns when the last has ended; then throws what the first of them that
// failed threw. Cancelled with the caller.
Task<> together(std::vector<Task<>> tasks);

}  // namespace sluice::redis
