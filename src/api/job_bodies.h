// Request bodies of the job routes. Part of add_job_routes.
#pragma once

#include <string>
#include <vector>

#include "api/problems.h"
#include "base/json.h"
#include "jobs/job_request.h"
#include "jobs/job_store.h"
#include "jobs/outside_try.h"

namespace sluice::api {

inline constexpr size_t largest_job_batch = 10'000;

struct EnqueueBody {
  std::vector<jobs::JobRequest> jobs;

  static void describe(json::Object<EnqueueBody>& object);
};

struct ClaimBody {
  std::string worker;
  std::vector<std::string> kinds;
  int64_t limit = 10;
  int64_t wait_ms = 0;

  static void describe(json::Object<ClaimBody>& object);
};

// A job as its worker names it. A token that is not the present one, or none at all, is a stale lock.
struct LockItem {
  jobs::JobId id;
  std::string lock_token;

  template <class Item>
  static void describe_lock(json::Object<Item>& object) {
    object.required("id", &Item::id);
    object.required("lockToken", &Item::lock_token)
        .length(1, 4'000)
        .about("The `lockToken` returned by the claim.")
        .example(R"("7")");
  }
  static void describe(json::Object<LockItem>& object) { describe_lock(object); }
  jobs::LockedJob lock() const { return {id, outside_try().token}; }
  jobs::OutsideTry outside_try() const;
};

struct CompletionItem : LockItem {
  std::optional<json::Raw> result;

  static void describe(json::Object<CompletionItem>& object);
};

struct FailureItem : LockItem {
  std::string error;
  bool permanent = false;

  static void describe(json::Object<FailureItem>& object);
};

template <class Item>
struct ItemsBody {
  std::vector<Item> jobs;

  static void describe(json::Object<ItemsBody>& object) {
    object.required("jobs", &ItemsBody::jobs).items(1, largest_job_batch);
  }
};

// The jobs of a request, or the problem response that names the invalid job: all or nothing.
std::expected<std::vector<jobs::NewJob>, http::Response> new_jobs(const http::Request& request,
                                                                  Result<EnqueueBody, json::DecodeError> body);

template <class Item>
std::vector<jobs::OutsideTry> outside_tries(const std::vector<Item>& items) {
  std::vector<jobs::OutsideTry> tries;
  for (const Item& item : items) tries.push_back(item.outside_try());
  return tries;
}

}  // namespace sluice::api
