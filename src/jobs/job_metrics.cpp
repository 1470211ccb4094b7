#include "jobs/job_metrics.h"

#include "jobs/kind_labels.h"
#include "runtime/metrics.h"

namespace sluice::jobs {
namespace {

const metrics::Counter claimed_total{"job_claimed_total", "Jobs claimed by workers of this process and over HTTP."};
const metrics::Histogram duration_seconds{
    "job_duration_seconds",
    "Duration of tries: in Sluice's own workers, or from claim to end over HTTP, through any instance. "
    "After the first 200 kinds without settings, further ones are counted as \"other\".",
    {"kind", "outcome"},
    {0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 600}};

// Names of kinds come from clients.
constexpr size_t most_other_kinds = 200;

KindLabels& kind_labels() {
  static KindLabels labels(most_other_kinds);
  return labels;
}

}  // namespace

void count_claimed(size_t jobs) {
  claimed_total.add(jobs);
}

void keep_kind(std::string_view kind) {
  kind_labels().keep(kind);
}

void observe_duration(std::string_view kind, std::string_view outcome, Duration duration) {
  duration_seconds.with({kind_labels().of(kind), outcome}).observe(std::chrono::duration<double>(duration).count());
}

}  // namespace sluice::jobs
