// Metrics: counters, gauges and histograms in Prometheus' form.
//
// A family is declared where it is counted, as a constant of its file:
//
//   const metrics::Counter refused{"rate_limiter_rejected_total", "Requests refused by a limit.", {"priority"}};
//   ...
//   refused.with({"HIGH"}).add();
//
// Every family in the program is known to `expose` (GET /metrics) and `families` (`sluice metrics docs`). `with` looks
// the labels up; code that runs for every request keeps the reference it returns, which stays valid for ever. Counting
// is a relaxed add on a cache line of the thread's own. Safe to use from any thread.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::metrics {

inline constexpr size_t shards = 4;
// Which shard this thread counts in.
size_t shard();

class CounterCell {
 public:
  void add(uint64_t count = 1) { slots_[shard()].value.fetch_add(count, std::memory_order_relaxed); }
  uint64_t value() const;

 private:
  struct alignas(64) Slot {
    std::atomic<uint64_t> value{0};
  };
  std::array<Slot, shards> slots_;
};

class GaugeCell {
 public:
  void set(double value) { value_.store(value, std::memory_order_relaxed); }
  void add(double amount) { value_.fetch_add(amount, std::memory_order_relaxed); }
  double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_{0};
};

class HistogramCell {
 public:
  explicit HistogramCell(const std::vector<double>& bounds);

  void observe(double value);
  uint64_t count() const;
  double sum() const;
  // The number of observations in bucket `i` alone (the last bucket has those above every bound).
  uint64_t in_bucket(size_t i) const;

 private:
  struct alignas(64) Slot {
    std::unique_ptr<std::atomic<uint64_t>[]> buckets;
    std::atomic<double> sum{0};
  };
  const std::vector<double>& bounds_;
  std::array<Slot, shards> slots_;
};

// Name, type, labels and meaning of a family.
struct Description {
  std::string name;
  std::string help;
  std::string type;
  std::vector<std::string> labels;
};

// Shared by the three kinds; not used directly.
class Family {
 public:
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;
  const Description& description() const { return description_; }
  void expose(std::string& out) const;

 protected:
  // By label values.
  template <class Cell>
  using Cells = std::map<std::vector<std::string>, std::unique_ptr<Cell>>;

  Family(std::string_view name, std::string_view help, std::string_view type,
         std::initializer_list<std::string_view> labels);
  virtual ~Family();

  // The cell of these label values, made by `make` the first time. `Cell` lives as long as the family.
  template <class Cell, class Make>
  Cell& cell(Cells<Cell>& cells, std::initializer_list<std::string_view> values, Make make) const;
  std::string label_text(const std::vector<std::string>& values) const;
  // The lines behind the head; called under the mutex.
  virtual void expose_cells(std::string& out) const = 0;
  template <class Cell>
  void expose_values(std::string& out, const Cells<Cell>& cells) const;

  Description description_;
  mutable std::mutex mutex_;
};

class Counter : public Family {
 public:
  Counter(std::string_view name, std::string_view help, std::initializer_list<std::string_view> labels = {});
  CounterCell& with(std::initializer_list<std::string_view> values) const;
  void add(uint64_t count = 1) const { with({}).add(count); }

 private:
  void expose_cells(std::string& out) const override;

  mutable Cells<CounterCell> cells_;
};

class Gauge : public Family {
 public:
  Gauge(std::string_view name, std::string_view help, std::initializer_list<std::string_view> labels = {});
  GaugeCell& with(std::initializer_list<std::string_view> values) const;
  void set(double value) const { with({}).set(value); }

 private:
  void expose_cells(std::string& out) const override;

  mutable Cells<GaugeCell> cells_;
};

// From half a millisecond to ten seconds: fits most requests.
std::vector<double> latency_bounds();

class Histogram : public Family {
 public:
  Histogram(std::string_view name, std::string_view help, std::initializer_list<std::string_view> labels = {},
            std::vector<double> bounds = latency_bounds());
  HistogramCell& with(std::initializer_list<std::string_view> values) const;
  void observe(double value) const { with({}).observe(value); }

 private:
  void expose_cells(std::string& out) const override;

  std::vector<double> bounds_;
  mutable Cells<HistogramCell> cells_;
};

// Everything counted so far, in Prometheus' text format.
std::string expose();

// Every family in the program, by name.
std::vector<Description> families();

}  // namespace sluice::metrics
