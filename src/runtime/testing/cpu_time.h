// The processor time of this thread, for tests: measures work independent of how busy the machine is.
#pragma once

#include <ctime>

#include "base/time.h"

namespace sluice {

inline Duration thread_cpu_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);  // allowed: no time of day, and tests only
  return std::chrono::seconds(time.tv_sec) +
         std::chrono::duration_cast<Duration>(std::chrono::nanoseconds(time.tv_nsec));
}

template <class Work>
Duration cpu_time_of(Work work) {
  const Duration before = thread_cpu_time();
  work();
  return thread_cpu_time() - before;
}

}  // namespace sluice
