#include "api/job_answers.h"

namespace sluice::jobs {

static void describe(json::Object<Enqueued>& object) {
  object.required("id", &Enqueued::id);
  object.required("duplicate", &Enqueued::duplicate);
}

}  // namespace sluice::jobs

namespace sluice::api {
namespace {

using jobs::Verdict;

// Every verdict but accepted.
enum class LockRefusal { stale_lock, not_running, unknown };

constexpr auto enum_names(LockRefusal) {
  return std::to_array<EnumName<LockRefusal>>({{LockRefusal::stale_lock, "stale-lock"},
                                               {LockRefusal::not_running, "not-running"},
                                               {LockRefusal::unknown, "unknown"}});
}

bool accepted(const ItemVerdict& item) {
  return item.verdict == Verdict::accepted;
}

std::optional<LockRefusal> reason(const ItemVerdict& item) {
  switch (item.verdict) {
    case Verdict::accepted: break;
    case Verdict::stale_lock: return LockRefusal::stale_lock;
    case Verdict::not_running: return LockRefusal::not_running;
    case Verdict::unknown: return LockRefusal::unknown;
  }
  return std::nullopt;
}

}  // namespace

void EnqueuedJobs::describe(json::Object<EnqueuedJobs>& object) {
  object.required("jobs", &EnqueuedJobs::jobs);
}

void ClaimedView::describe(json::Object<ClaimedView>& object) {
  using Text = const std::string&;
  using OptionalText = const std::optional<std::string>&;
  object.required("id", [](const ClaimedView& view) { return view.job->id; });
  object.required("kind", [](const ClaimedView& view) -> Text { return view.job->kind; });
  object.required("payload", [](const ClaimedView& view) { return json::RawView{view.job->payload}; });
  object.required("attempt", [](const ClaimedView& view) { return view.job->attempt; }).at_least(1);
  object.required("lockToken", [](const ClaimedView& view) { return to_text(*view.outside_try); });
  object.required("lockExpiresAt", [](const ClaimedView& view) { return view.job->lock_expires_at; });
  object.required("throttleKey", [](const ClaimedView& view) -> OptionalText { return view.job->throttle_key; });
}

ClaimedJobs ClaimedJobs::of(const std::vector<jobs::ClaimedJob>& claimed, const std::vector<jobs::OutsideTry>& tries) {
  ClaimedJobs answer;
  answer.jobs.reserve(claimed.size());
  for (size_t i = 0; i < claimed.size(); ++i) answer.jobs.push_back({&claimed[i], &tries[i]});
  return answer;
}

void ClaimedJobs::describe(json::Object<ClaimedJobs>& object) {
  object.required("jobs", &ClaimedJobs::jobs);
}

void ItemVerdict::describe(json::Object<ItemVerdict>& object) {
  object.required("id", &ItemVerdict::id);
  object.required("accepted", accepted);
  object.optional("reason", reason).omit_null();
}

void Verdicts::describe(json::Object<Verdicts>& object) {
  object.required("results", &Verdicts::results);
}

}  // namespace sluice::api
