#include "runtime/metrics.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/check.h"

namespace sluice::metrics {
namespace {

// A function's own static: families in other files register during start, in any order.
struct Registry {
  struct ByName {
    bool operator()(const Family* a, const Family* b) const { return a->description().name < b->description().name; }
  };
  std::mutex mutex;
  std::set<Family*, ByName> families;
};
Registry& registry() {
  static Registry instance;
  return instance;
}

std::string escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

std::string braced(const std::string& labels) {
  return labels.empty() ? "" : fmt::format("{{{}}}", labels);
}

void expose_head(std::string& out, const Description& d) {
  fmt::format_to(std::back_inserter(out), "# HELP {} {}\n# TYPE {} {}\n", d.name, d.help, d.name, d.type);
}

}  // namespace

size_t shard() {
  static std::atomic<size_t> next{0};
  thread_local const size_t mine = next.fetch_add(1, std::memory_order_relaxed) % shards;
  return mine;
}

uint64_t CounterCell::value() const {
  uint64_t sum = 0;
  for (const Slot& slot : slots_) sum += slot.value.load(std::memory_order_relaxed);
  return sum;
}

HistogramCell::HistogramCell(const std::vector<double>& bounds) : bounds_(bounds) {
  for (Slot& slot : slots_) slot.buckets = std::make_unique<std::atomic<uint64_t>[]>(bounds.size() + 1);
}

void HistogramCell::observe(double value) {
  const auto bucket = static_cast<size_t>(std::ranges::lower_bound(bounds_, value) - bounds_.begin());
  Slot& slot = slots_[shard()];
  slot.buckets[bucket].fetch_add(1, std::memory_order_relaxed);
  slot.sum.fetch_add(value, std::memory_order_relaxed);
}

uint64_t HistogramCell::in_bucket(size_t i) const {
  uint64_t sum = 0;
  for (const Slot& slot : slots_) sum += slot.buckets[i].load(std::memory_order_relaxed);
  return sum;
}

uint64_t HistogramCell::count() const {
  uint64_t sum = 0;
  for (size_t i = 0; i <= bounds_.size(); ++i) sum += in_bucket(i);
  return sum;
}

double HistogramCell::sum() const {
  double sum = 0;
  for (const Slot& slot : slots_) sum += slot.sum.load(std::memory_order_relaxed);
  return sum;
}

Family::Family(std::string_view name, std::string_view help, std::string_view type,
               std::initializer_list<std::string_view> labels)
    : description_{std::string(name), std::string(help), std::string(type), {labels.begin(), labels.end()}} {
  const std::lock_guard lock(registry().mutex);
  const bool is_new = registry().families.insert(this).second;
  check_that(is_new, "metric {} is declared twice", name);
}

Family::~Family() {
  const std::lock_guard lock(registry().mutex);
  registry().families.erase(this);
}

template <class Cell, class Make>
Cell& Family::cell(Cells<Cell>& cells, std::initializer_list<std::string_view> values, Make make) const {
  check_that(values.size() == description_.labels.size(), "metric {} has {} labels, not {}", description_.name,
             description_.labels.size(), values.size());
  std::vector<std::string> key(values.begin(), values.end());
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Cell>& slot = cells[std::move(key)];
  if (!slot) slot = make();
  return *slot;
}

std::string Family::label_text(const std::vector<std::string>& values) const {
  std::string out;
  for (size_t i = 0; i < values.size(); ++i) {
    fmt::format_to(std::back_inserter(out), "{}{}=\"{}\"", i == 0 ? "" : ",", description_.labels[i],
                   escape(values[i]));
  }
  return out;
}

void Family::expose(std::string& out) const {
  const std::lock_guard lock(mutex_);
  expose_head(out, description_);
  expose_cells(out);
}

template <class Cell>
void Family::expose_values(std::string& out, const Cells<Cell>& cells) const {
  for (const auto& [values, cell] : cells) {
    fmt::format_to(std::back_inserter(out), "{}{} {}\n", description_.name, braced(label_text(values)), cell->value());
  }
}

Counter::Counter(std::string_view name, std::string_view help, std::initializer_list<std::string_view> labels)
    : Family(name, help, "counter", labels) {}

CounterCell& Counter::with(std::initializer_list<std::string_view> values) const {
  return cell(cells_, values, [] { return std::make_unique<CounterCell>(); });
}

void Counter::expose_cells(std::string& out) const {
  expose_values(out, cells_);
}

Gauge::Gauge(std::string_view name, std::string_view help, std::initializer_list<std::string_view> labels)
    : Family(name, help, "gauge", labels) {}

GaugeCell& Gauge::with(std::initializer_list<std::string_view> values) const {
  return cell(cells_, values, [] { return std::make_unique<GaugeCell>(); });
}

void Gauge::expose_cells(std::string& out) const {
  expose_values(out, cells_);
}

std::vector<double> latency_bounds() {
  return {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};
}

Histogram::Histogram(std::string_view name, std::string_view help, std::initializer_list<std::string_view> labels,
                     std::vector<double> bounds)
    : Family(name, help, "histogram", labels), bounds_(std::move(bounds)) {}

HistogramCell& Histogram::with(std::initializer_list<std::string_view> values) const {
  return cell(cells_, values, [this] { return std::make_unique<HistogramCell>(bounds_); });
}

void Histogram::expose_cells(std::string& out) const {
  const auto to = std::back_inserter(out);
  for (const auto& [values, cell] : cells_) {
    const std::string labels = label_text(values);
    const std::string_view comma = labels.empty() ? "" : ",";
    uint64_t below = 0;
    for (size_t i = 0; i < bounds_.size(); ++i) {
      below += cell->in_bucket(i);
      fmt::format_to(to, "{}_bucket{{{}{}le=\"{}\"}} {}\n", description_.name, labels, comma, bounds_[i], below);
    }
    below += cell->in_bucket(bounds_.size());
    fmt::format_to(to, "{}_bucket{{{}{}le=\"+Inf\"}} {}\n", description_.name, labels, comma, below);
    fmt::format_to(to, "{0}_sum{1} {2}\n{0}_count{1} {3}\n", description_.name, braced(labels), cell->sum(), below);
  }
}

std::string expose() {
  std::string out;
  const std::lock_guard lock(registry().mutex);
  for (const Family* family : registry().families) family->expose(out);
  return out;
}

std::vector<Description> families() {
  std::vector<Description> out;
  const std::lock_guard lock(registry().mutex);
  for (const Family* family : registry().families) out.push_back(family->description());
  return out;
}

}  // namespace sluice::metrics
