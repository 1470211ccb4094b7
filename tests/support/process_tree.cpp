#include "tests/support/process_tree.h"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sluice::test {
namespace {

std::multimap<pid_t, pid_t> children_by_parent() {
  std::multimap<pid_t, pid_t> children;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    pid_t pid = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), pid).ec != std::errc{}) continue;
    std::ifstream file(entry.path() / "stat");
    std::string stat;
    std::getline(file, stat);
    const size_t end_of_name = stat.rfind(')');  // "pid (name) state parent ...", and a name may hold anything
    if (end_of_name == std::string::npos || stat.size() < end_of_name + 5) continue;
    children.emplace(std::stoi(stat.substr(end_of_name + 4)), pid);
  }
  return children;
}

}  // namespace

std::vector<pid_t> process_tree(pid_t root) {
  const auto children = children_by_parent();
  std::vector<pid_t> tree = {root};
  for (size_t i = 0; i < tree.size(); ++i) {
    const auto [begin, end] = children.equal_range(tree[i]);
    for (auto it = begin; it != end; ++it) tree.push_back(it->second);
  }
  return tree;
}

bool wait_until_gone(const std::vector<pid_t>& pids, Duration timeout) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  for (const pid_t pid : pids) {
    const int descriptor = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
    if (descriptor < 0) continue;  // gone already
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    pollfd gone{descriptor, POLLIN, 0};
    const int ready = poll(&gone, 1, static_cast<int>(std::max<int64_t>(0, left.count())));
    close(descriptor);
    if (ready == 0) return false;
  }
  return true;
}

}  // namespace sluice::test
