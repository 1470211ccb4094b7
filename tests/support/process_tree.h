// Processes by their ids.
#pragma once

#include <vector>

#include <sys/types.h>

#include "base/time.h"

namespace sluice::test {

// `root` and all of its descendants, parents first.
std::vector<pid_t> process_tree(pid_t root);

// Waits until none of them runs any more (not their zombies); false when `timeout` passed first. They need not be
// children of this process.
bool wait_until_gone(const std::vector<pid_t>& pids, Duration timeout);

}  // namespace sluice::test
