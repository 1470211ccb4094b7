// What job_worker processes did, read from the files they left.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"

namespace sluice::test {

// One run of a job in one process, on the machine's monotonic clock.
struct JobRun {
  std::string job;
  std::string key;
  Duration start{};
  Duration end = Duration::max();  // of a run that was cut off: when its process was gone
  bool done = false;
};

class JobHistory {
 public:
  // A process ended at `gone`; what had not ended then was cut off.
  void add(const std::filesystem::path& file, Duration gone) {
    std::ifstream lines(file);
    std::map<std::string, JobRun> open;
    std::string what, job, key;
    int64_t time = 0;
    while (lines >> what >> time >> job >> key) {
      if (what == "start") {
        finish(open, job);
        open[job] = {.job = job, .key = key, .start = Duration(time), .end = gone};
      } else if (what == "end") {
        open.at(job).end = Duration(time);
      } else {
        open.at(job).done = true;
        last_done_ = std::max(last_done_, Duration(time));
      }
    }
    for (auto& [id, run] : open) runs_.push_back(std::move(run));
  }

  size_t done() const { return static_cast<size_t>(std::ranges::count(runs_, true, &JobRun::done)); }
  size_t size() const { return runs_.size(); }
  Duration last_done() const { return last_done_; }

  // A job that began again before it had ended; nothing where there is none.
  std::optional<std::string> ran_twice_at_once() const {
    std::vector<JobRun> runs = runs_;
    std::ranges::sort(runs, {}, [](const JobRun& run) { return std::pair(run.job, run.start); });
    for (size_t i = 1; i < runs.size(); ++i) {
      if (runs[i].job == runs[i - 1].job && runs[i].start < runs[i - 1].end) return runs[i].job;
    }
    return std::nullopt;
  }

  // The most that ran at one instant of any key.
  int most_of_a_key() const {
    struct Event {
      Duration at;
      int change;
      std::string key;
    };
    std::vector<Event> events;
    for (const JobRun& run : runs_) {
      events.push_back({run.start, 1, run.key});
      events.push_back({run.end, -1, run.key});
    }
    std::ranges::sort(events, {}, [](const Event& event) { return std::pair(event.at, event.change); });
    std::map<std::string, int> running;
    int most = 0;
    for (const Event& event : events) most = std::max(most, running[event.key] += event.change);
    return most;
  }

 private:
  void finish(std::map<std::string, JobRun>& open, const std::string& job) {
    const auto found = open.find(job);
    if (found == open.end()) return;
    runs_.push_back(std::move(found->second));
    open.erase(found);
  }

  std::vector<JobRun> runs_;
  Duration last_done_{};
};

}  // namespace sluice::test
