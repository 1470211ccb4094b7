#include "tests/support/process.h"

#include <stdexcept>

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "tests/support/process_tree.h"

extern char** environ;

namespace sluice::test {
namespace {

// Children are looked up when the time comes: a server's come and go. A stopped process dies of KILL too.
constexpr const char* kill_tree_script = R"(
tree=$1 parents=$1
while [ -n "$parents" ]; do
  children=
  for stat in /proc/[0-9]*/stat; do
    read -r pid name state its_parent rest <"$stat" || continue
    case " $parents " in *" $its_parent "*) children="$children $pid" ;; esac
  done 2>/dev/null
  tree="$tree$children" parents=$children
done
kill -KILL $tree
)";

std::vector<std::string> merged_environment(const std::map<std::string, std::string>& added) {
  std::vector<std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (!added.contains(std::string(text.substr(0, text.find('='))))) merged.emplace_back(text);
  }
  for (const auto& [name, value] : added) merged.push_back(name + "=" + value);
  return merged;
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

int file_holding(const std::string& input) {
  const int file = memfd_create("input", MFD_CLOEXEC);
  check(file >= 0 && write(file, input.data(), input.size()) == static_cast<ssize_t>(input.size()), "input");
  lseek(file, 0, SEEK_SET);
  return file;
}

// Our end of a new terminal, and the name of the other.
std::pair<int, std::string> open_terminal() {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  check(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0, "terminal");
  return {terminal, ptsname(terminal)};
}

}  // namespace

Process::Process(ProcessOptions options) : options_(std::move(options)) {
  const std::vector<std::string> environment = merged_environment(options_.environment);
  const std::vector<char*> argv = pointers(options_.arguments);
  const std::vector<char*> envp = pointers(environment);
  const passwd* user = options_.user.empty() ? nullptr : getpwnam(options_.user.c_str());
  check_that(user != nullptr || options_.user.empty(), "there is no user {}", options_.user);
  const int input = file_holding(options_.input);
  std::string terminal_name;
  if (options_.terminal) std::tie(terminal_, terminal_name) = open_terminal();
  int ends[2];
  check(pipe2(ends, O_CLOEXEC) == 0, "pipe");

  pid_ = fork();
  check(pid_ >= 0, "fork");
  if (pid_ == 0) {
    // Its own process group: Ctrl-C on the test's terminal reaches the test, which then stops its servers in order. The
    // first terminal that the leader of a session opens becomes its terminal.
    options_.terminal ? setsid() : setpgid(0, 0);
    dup2(options_.terminal ? open(terminal_name.c_str(), O_RDWR) : input, 0);
    dup2(ends[1], 1);
    dup2(ends[1], 2);
    const bool is_user =
        user == nullptr || (setgroups(0, nullptr) == 0 && setgid(user->pw_gid) == 0 && setuid(user->pw_uid) == 0);
    if (is_user && chdir(options_.working_folder.c_str()) == 0) execvpe(argv[0], argv.data(), envp.data());
    _exit(127);
  }
  close(input);
  close(ends[1]);
  output_ = ends[0];
  stop_reading_ = eventfd(0, EFD_CLOEXEC);
  guard_.emplace(kill_tree_script, std::vector{std::to_string(pid_)});
  reader_ = std::thread([this] { read_output(); });
}

Process::~Process() {
  kill();
  const uint64_t one = 1;
  check(write(stop_reading_, &one, sizeof one) == sizeof one, "eventfd");
  reader_.join();
  close(stop_reading_);
  close(output_);
  close_terminal();
}

void Process::close_terminal() {
  if (terminal_ >= 0) close(std::exchange(terminal_, -1));
}

void Process::read_output() {
  std::string unfinished;
  char buffer[4096];
  while (true) {
    pollfd both[] = {{output_, POLLIN, 0}, {stop_reading_, POLLIN, 0}};
    poll(both, 2, -1);
    if (both[0].revents == 0) break;
    const ssize_t size = read(output_, buffer, sizeof buffer);
    if (size <= 0) break;
    unfinished.append(buffer, static_cast<size_t>(size));
    for (size_t end; (end = unfinished.find('\n')) != std::string::npos; unfinished.erase(0, end + 1)) {
      keep(unfinished.substr(0, end));
    }
  }
  if (!unfinished.empty()) keep(std::move(unfinished));
  const std::lock_guard lock(mutex_);
  ended_ = true;
  line_or_end_.notify_all();
}

void Process::keep(std::string line) {
  const std::lock_guard lock(mutex_);
  lines_.push_back(std::move(line));
  if (lines_.size() > options_.lines_kept) {
    lines_.pop_front();
    if (taken_ > 0) --taken_;
  }
  line_or_end_.notify_all();
}

std::optional<std::string> Process::next_line(Duration timeout) {
  std::unique_lock lock(mutex_);
  line_or_end_.wait_for(lock, timeout, [this] { return taken_ < lines_.size() || ended_; });
  if (taken_ == lines_.size()) return std::nullopt;
  return lines_[taken_++];
}

std::string Process::wait_for_line(std::string_view text, Duration timeout) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  while (true) {
    const auto left = std::chrono::ceil<Duration>(end - std::chrono::steady_clock::now());
    const auto line = next_line(std::max(Duration{0}, left));
    if (!line) break;
    if (line->find(text) != std::string::npos) return *line;
  }
  throw std::runtime_error(
      fmt::format("{} did not say \"{}\". What it said:\n{}", options_.arguments.at(0), text, output()));
}

std::string Process::output() const {
  const std::lock_guard lock(mutex_);
  std::string all;
  for (const std::string& line : lines_) all += line + "\n";
  return all;
}

bool Process::running() {
  return !wait_until_gone(0s);
}

bool Process::wait_until_gone(Duration timeout) {
  if (reaped_) return true;
  if (!test::wait_until_gone({pid_}, timeout)) return false;
  int status = 0;
  waitpid(pid_, &status, 0);
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  reaped_ = true;
  guard_.reset();
  return true;
}

void Process::signal(int number) const {
  if (!reaped_) ::kill(pid_, number);
}

void Process::signal_tree(int number) const {
  if (reaped_) return;
  for (const pid_t pid : process_tree(pid_)) ::kill(pid, number);
}

void Process::kill() {
  if (reaped_) return;
  const std::vector<pid_t> tree = process_tree(pid_);
  for (const pid_t pid : tree) ::kill(pid, SIGKILL);
  check(test::wait_until_gone(tree, 30s), "a killed process lives on");
  wait_until_gone(0s);
}

int Process::wait(Duration timeout) {
  if (!wait_until_gone(timeout)) {
    throw std::runtime_error(fmt::format("{} still runs. What it said:\n{}", options_.arguments.at(0), output()));
  }
  // The last output may still be on its way. The wait is bounded: descendants may hold the output open.
  std::unique_lock lock(mutex_);
  line_or_end_.wait_for(lock, 10s, [this] { return ended_; });
  return exit_code_;
}

std::string binary(const std::string& name) {
  const char* folder = std::getenv("SLUICE_BIN");
  check(folder != nullptr, "SLUICE_BIN does not say where the programs are");
  return std::string(folder) + "/" + name;
}

std::string run_program(ProcessOptions options, Duration timeout) {
  Process process(std::move(options));
  const int code = process.wait(timeout);
  while (process.next_line()) {
  }  // up to the end of its output
  if (code != 0) throw std::runtime_error(fmt::format("exit code {}:\n{}", code, process.output()));
  return process.output();
}

}  // namespace sluice::test
