#include "lab/load_run.h"

#include <condition_variable>
#include <thread>

#include <sys/resource.h>

#include "lab/request_share.h"
#include "lab/sse_share.h"

namespace sluice::lab {
namespace {

constexpr auto tick_interval = 20ms;
constexpr auto head_start = 20ms;  // for the threads to be there before the first request is due
constexpr auto settling = 200ms;   // for the server to accept the connections

Duration cpu_time() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto duration = [](const timeval& time) {
    return std::chrono::seconds{time.tv_sec} + std::chrono::microseconds{time.tv_usec};
  };
  return duration(usage.ru_utime) + duration(usage.ru_stime);
}

// Part `index` of `parts` of a whole number, the parts differing by one at most.
uint64_t share(uint64_t whole, uint64_t index, uint64_t parts) {
  return whole * (index + 1) / parts - whole * index / parts;
}

// One thread with its shares.
class Worker {
 public:
  Worker(const LoadOptions& options, const std::vector<LoadTarget>& targets, unsigned index)
      : scratch_(64 * 1024), timer_(context_) {
    size_t earlier_urls = 0;
    for (const LoadTarget& target : targets) {
      add_share(options, target, index, earlier_urls);
      earlier_urls += target.urls.size();
    }
  }

  // Opens every connection before the run. A connection that takes too long is opened when it is needed.
  void connect(Duration timeout) {
    for (const auto& share : shares_) share->connect();
    context_.run_for(timeout);
    context_.restart();
  }

  void run(SteadyTime start) {
    for (const auto& share : shares_) {
      running_.push_back(share.get());
      share->start(start);
    }
    tick();
    context_.run();
  }

  LoadTally tally;
  LiveCounts live;
  unsigned connections = 0;

 private:
  void add_share(const LoadOptions& options, const LoadTarget& target, unsigned index, size_t earlier_urls) {
    const size_t urls = options.urls.size();
    const size_t slot = options.threads * urls;
    const size_t first = index * urls + earlier_urls;
    const auto share_of = [&](uint64_t whole) {
      uint64_t sum = 0;
      for (size_t i = 0; i < target.urls.size(); ++i) sum += share(whole, first + i, slot);
      return sum;
    };
    ShareSetup setup{.context = context_,
                     .scratch = scratch_,
                     .tally = tally,
                     .live = live,
                     .endpoint = target.endpoint,
                     .requests = {},
                     .head_requests = options.method == http::Method::head,
                     .connections = static_cast<unsigned>(std::max<uint64_t>(1, share_of(options.connections))),
                     .timeout = options.timeout,
                     .duration = options.duration};
    for (const http::Url& url : target.urls) {
      setup.requests.push_back(prepare_request(options, url));
      if (options.follow_up) setup.follow_ups.push_back(options.follow_up(url));
    }
    connections += setup.connections;
    if (options.sse) {
      shares_.push_back(std::make_unique<SseShare>(std::move(setup), options.reconnect));
      return;
    }
    Arrivals::Plan plan{.duration = options.duration, .limit = share_of(options.requests)};
    if (options.requests != 0 && plan.limit == 0) return;  // fewer requests than shares
    if (options.rate) {
      const double part = static_cast<double>(target.urls.size()) / static_cast<double>(slot);
      plan.rate = *options.rate * part;
      plan.ramp = options.ramp.times(part);
      plan.phase = static_cast<double>(first) / static_cast<double>(slot);
    }
    shares_.push_back(std::make_unique<RequestShare>(std::move(setup), plan));
  }

  void tick() {
    const SteadyTime now = SteadyClock::now();
    std::erase_if(running_, [now](LoadShare* share) { return !share->tick(now); });
    if (running_.empty()) return context_.stop();
    timer_.expires_after(tick_interval);
    timer_.async_wait([this](const boost::system::error_code&) { tick(); });
  }

  boost::asio::io_context context_{1};
  std::vector<char> scratch_;
  boost::asio::steady_timer timer_;
  std::vector<std::unique_ptr<LoadShare>> shares_;
  std::vector<LoadShare*> running_;
};

// Waits for the threads and reports every second until then.
class Watch {
 public:
  explicit Watch(size_t running) : running_(running) {}

  void one_ended() {
    const std::lock_guard lock(mutex_);
    --running_;
    changed_.notify_all();
  }

  void wait(const std::function<void()>& every_second) {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, 1s, [this] { return running_ == 0; })) {
      lock.unlock();
      every_second();
      lock.lock();
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t running_;
};

using Workers = std::vector<std::unique_ptr<Worker>>;

Workers make_workers(const LoadOptions& options, const std::vector<LoadTarget>& targets) {
  Workers workers;
  for (unsigned i = 0; i < options.threads; ++i) workers.push_back(std::make_unique<Worker>(options, targets, i));
  return workers;
}

void connect_all(const Workers& workers, Duration timeout) {
  std::vector<std::jthread> threads;
  for (const auto& worker : workers) threads.emplace_back([&worker, timeout] { worker->connect(timeout); });
}

}  // namespace

LoadResult run_load(const LoadOptions& options, const std::vector<LoadTarget>& targets,
                    const std::function<void(const LoadProgress&)>& on_second) {
  const Workers workers = make_workers(options, targets);
  if (options.connect_first) connect_all(workers, options.timeout);
  const SteadyTime start = SteadyClock::now() + (options.connect_first ? settling : head_start);
  const Duration cpu_before = cpu_time();
  Watch watch(workers.size());
  std::vector<std::jthread> threads;
  for (const auto& worker : workers) {
    threads.emplace_back([&worker, &watch, start] {
      worker->run(start);
      watch.one_ended();
    });
  }
  const auto elapsed = [start] {
    return std::max(Duration{0}, std::chrono::floor<Duration>(SteadyClock::now() - start));
  };
  watch.wait([&] {
    LoadProgress progress{.elapsed = elapsed(), .answers = 0, .failures = 0, .backlog = 0};
    for (const auto& worker : workers) {
      progress.answers += worker->live.answers.load(std::memory_order_relaxed);
      progress.failures += worker->live.failures.load(std::memory_order_relaxed);
      progress.backlog += worker->live.backlog.load(std::memory_order_relaxed);
    }
    on_second(progress);
  });
  LoadResult result{.tally = {}, .elapsed = elapsed(), .cpu = cpu_time() - cpu_before};
  threads.clear();
  for (const auto& worker : workers) {
    result.tally.merge(worker->tally);
    result.connections += worker->connections;
  }
  return result;
}

}  // namespace sluice::lab
