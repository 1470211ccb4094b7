// What the job routes answer to producers and workers. Part of add_job_routes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "jobs/job_store.h"
#include "jobs/outside_try.h"

namespace sluice::api {

struct EnqueuedJobs {
  std::vector<jobs::Enqueued> jobs;

  static void describe(json::Object<EnqueuedJobs>& object);
};

// A view: what it refers to outlives it.
struct ClaimedView {
  const jobs::ClaimedJob* job = nullptr;
  const jobs::OutsideTry* outside_try = nullptr;

  static void describe(json::Object<ClaimedView>& object);
};

struct ClaimedJobs {
  std::vector<ClaimedView> jobs;

  // `tries` are those of the jobs, in the same order.
  static ClaimedJobs of(const std::vector<jobs::ClaimedJob>& claimed, const std::vector<jobs::OutsideTry>& tries);
  static void describe(json::Object<ClaimedJobs>& object);
};

struct ItemVerdict {
  jobs::JobId id;
  jobs::Verdict verdict = jobs::Verdict::unknown;

  static void describe(json::Object<ItemVerdict>& object);
};

struct Verdicts {
  std::vector<ItemVerdict> results;

  static void describe(json::Object<Verdicts>& object);
};

}  // namespace sluice::api
