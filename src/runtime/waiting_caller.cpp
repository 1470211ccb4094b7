#include "runtime/waiting_caller.h"

#include <algorithm>

#include <boost/asio/post.hpp>

namespace sluice {
namespace {

// The callers of one executor; run there.
struct Group {
  Executor executor;
  std::vector<std::move_only_function<void()>> resumes;
  size_t next = 0;

  void operator()() {
    try {
      while (next < resumes.size()) resumes[next++]();
    } catch (...) {
      const Executor same = executor;
      asio::post(same, std::move(*this));
      throw;
    }
  }
};

}  // namespace

void resume_all(std::vector<WaitingCaller> callers) {
  std::vector<Group> groups;
  for (WaitingCaller& caller : callers) {
    auto group = std::ranges::find(groups, caller.executor, &Group::executor);
    if (group == groups.end()) {
      group = groups.insert(groups.end(), Group{.executor = std::move(caller.executor), .resumes = {}});
      group->resumes.reserve(callers.size());
    }
    group->resumes.push_back(std::move(caller.resume));
  }
  for (Group& group : groups) {
    const Executor executor = group.executor;
    asio::post(executor, std::move(group));
  }
}

void resume(WaitingCaller caller) {
  asio::post(caller.executor, std::move(caller.resume));
}

}  // namespace sluice
