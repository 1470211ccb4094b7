#include "tests/support/crash_guard.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"

namespace sluice::test {

CrashGuard::CrashGuard(const std::string& script, const std::vector<std::string>& arguments) {
  int ends[2];
  check(pipe2(ends, O_CLOEXEC) == 0, "pipe");
  const std::string whole = "trap '' INT TERM HUP; read -r dismissed && exit 0; " + script;
  std::vector<char*> argv = {const_cast<char*>("sh"), const_cast<char*>("-c"), const_cast<char*>(whole.c_str()),
                             const_cast<char*>("crash-guard")};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);

  const pid_t child = fork();
  check(child >= 0, "fork");
  if (child == 0) {
    // Twice, so that a kill of this process and its descendants does not reach the guard.
    setsid();
    if (fork() != 0) _exit(0);
    dup2(ends[0], 0);
    const int null = open("/dev/null", O_WRONLY);
    dup2(null, 1);
    dup2(null, 2);
    execv("/bin/sh", argv.data());
    _exit(127);
  }
  waitpid(child, nullptr, 0);
  close(ends[0]);
  pipe_ = ends[1];
}

CrashGuard::~CrashGuard() {
  [[maybe_unused]] const ssize_t written = write(pipe_, "dismissed\n", 10);
  close(pipe_);
}

}  // namespace sluice::test
