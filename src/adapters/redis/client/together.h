// Several commands at once: they leave in one write, and the slowest says how long it takes.
#pragma once

#include <vector>

#include "runtime/task.h"

namespace sluice::redis {

// Runs the tasks on the caller's executor and returns when the last has ended; then throws the exception of the first
// failed task. Cancelled with the caller.
Task<> together(std::vector<Task<>> tasks);

}  // namespace sluice::redis
