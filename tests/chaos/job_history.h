// The runs of job_worker processes, read from the files they left.
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
  int64_t attempt = 0;
  Duration start{};
  Duration end = Duration::max();  // of a run that was cut off: when its process was gone
  bool ended = false;              // by itself
};

class JobHistory {
 public:
  // A process ended at `gone`; runs that had not ended then were cut off.
  void add(const std::filesystem::path& file, Duration gone) {
    std::ifstream lines(file);
    std::map<std::pair<std::string, int64_t>, JobRun> runs;
    std::string what, job, key;
    int64_t time = 0;
    int64_t attempt = 0;
    while (lines >> what >> time >> job >> key >> attempt) {
      const std::pair id(job, attempt);
      if (what == "start") {
        if (runs.contains(id)) runs_.push_back(runs.at(id));  // the same attempt again, which must not happen
        runs[id] = {.job = job, .key = key, .attempt = attempt, .start = Duration(time), .end = gone};
      } else {
        runs.at(id).end = Duration(time);
        runs.at(id).ended = true;
        last_end_ = std::max(last_end_, Duration(time));
      }
    }
    for (auto& [id, run] : runs) runs_.push_back(std::move(run));
  }

  Duration last_end() const { return last_end_; }
  // Whether a process was gone in the middle of a run.
  bool cut_off() const { return !std::ranges::all_of(runs_, &JobRun::ended); }

  // A contradiction between the runs and the number of attempts of each job: a run that was no attempt, an attempt that
  // ran twice, or a success that never ran to its end. Nothing if there is none. An attempt without a run is one whose
  // process was killed before the handler began.
  std::optional<std::string> contradiction(const std::map<std::string, int64_t>& attempts) const {
    std::map<std::pair<std::string, int64_t>, const JobRun*> runs;
    for (const JobRun& run : runs_) {
      const auto known = attempts.find(run.job);
      if (known == attempts.end() || run.attempt < 1 || run.attempt > known->second) return "no attempt: " + run.job;
      if (!runs.try_emplace({run.job, run.attempt}, &run).second) return "one attempt ran twice: " + run.job;
    }
    for (const auto& [job, count] : attempts) {
      const auto last = runs.find({job, count});
      if (last == runs.end() || !last->second->ended) return "succeeded without a run: " + job;
    }
    return std::nullopt;
  }

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
  std::vector<JobRun> runs_;
  Duration last_end_{};
};

}  // namespace sluice::test
