// A program started by a test: its output by the line, signals, and its end.
//
//   Process sluice({.arguments = {binary("sluice"), "serve", "--listen", "127.0.0.1:0"}});
//   const std::string line = sluice.wait_for_line("listening on");
//   sluice.signal(SIGTERM);
//   EXPECT_EQ(sluice.wait(), 0);
//
// Standard output and standard error are read together by a thread, so the program never blocks on a full pipe; the
// last lines are kept. The program dies with this object, and also when the test crashes. For one thread, unless said
// otherwise.
#pragma once

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <sys/types.h>

#include "base/time.h"
#include "tests/support/crash_guard.h"

namespace sluice::test {

struct ProcessOptions {
  // The program (looked up in $PATH) and its arguments.
  std::vector<std::string> arguments;
  // On top of this process's environment.
  std::map<std::string, std::string> environment = {};
  // The user to become first; needs root. Empty: the current user.
  std::string user = {};
  std::filesystem::path working_folder = "/";
  // The content of standard input.
  std::string input = {};
  // Standard input is a terminal instead, which the program controls.
  bool terminal = false;
  // How many lines of output are kept.
  size_t lines_kept = 20'000;
};

class Process {
 public:
  explicit Process(ProcessOptions options);
  // Kills it and all of its descendants, if it still runs.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  bool running();

  // The next unread line of output; nothing once it has ended or `timeout` has passed.
  std::optional<std::string> next_line(Duration timeout = 60s);
  // Takes lines up to the first that contains `text` and returns it. Throws std::runtime_error with all output when the
  // program ends or `timeout` passes first.
  std::string wait_for_line(std::string_view text, Duration timeout = 60s);
  // The output kept so far, whether taken or not. Safe from any thread.
  std::string output() const;

  void signal(int number) const;
  // The same to it and all of its descendants (a server's children may have left its process group).
  void signal_tree(int number) const;
  // Closes its terminal, as a window that is closed does.
  void close_terminal();
  // SIGKILL to it and all descendants; returns when all of them are gone.
  void kill();

  // Its exit code, or 128 + the signal that ended it; its output is complete then. Throws std::runtime_error when it
  // still runs after `timeout`.
  int wait(Duration timeout = 60s);

 private:
  void read_output();
  void keep(std::string line);
  bool wait_until_gone(Duration timeout);

  ProcessOptions options_;
  pid_t pid_ = -1;
  int exit_code_ = -1;
  bool reaped_ = false;
  int terminal_ = -1;  // our end
  int output_ = -1;
  int stop_reading_ = -1;
  std::optional<CrashGuard> guard_;

  mutable std::mutex mutex_;
  std::condition_variable line_or_end_;
  std::deque<std::string> lines_;
  size_t taken_ = 0;  // how many of lines_ next_line has given out
  bool ended_ = false;
  std::thread reader_;
};

// The path of a program of the build ("sluice"): in $SLUICE_BIN, which ctest sets.
std::string binary(const std::string& name);

// Runs a program to its end. Throws std::runtime_error with its output unless it exits with 0.
std::string run_program(ProcessOptions options, Duration timeout = 60s);

}  // namespace sluice::test
