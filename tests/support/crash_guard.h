// Cleaning up after a test that crashed.
//
// A destructor does not run when a test is killed. A guard is a small shell in a session of its own, parented to init,
// that holds the other end of a pipe: when this process is gone without having dismissed it, the shell runs its script.
// (PR_SET_PDEATHSIG would not do: it fires when the thread that started the child ends.)
#pragma once

#include <string>
#include <vector>

namespace sluice::test {

class CrashGuard {
 public:
  // `script` is for sh; the arguments are its $1, $2, ...
  CrashGuard(const std::string& script, const std::vector<std::string>& arguments);
  // Dismisses the guard: the script will not run.
  ~CrashGuard();
  CrashGuard(const CrashGuard&) = delete;
  CrashGuard& operator=(const CrashGuard&) = delete;

 private:
  int pipe_ = -1;
};

}  // namespace sluice::test
