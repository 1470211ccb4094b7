#include "lab/request_share.h"

namespace sluice::lab {
namespace {
constexpr auto late_after = 1ms;
constexpr size_t kept_tail = 256;  // of a document as JSON: the fields after its content are shorter

// The value of "source" at the end of a document as JSON; empty if there is none.
std::string_view source_in(std::string_view tail) {
  constexpr std::string_view key = R"("source":")";
  const size_t found = tail.rfind(key);
  if (found == std::string_view::npos) return {};
  tail.remove_prefix(found + key.size());
  return tail.substr(0, tail.find('"'));
}

}  // namespace

class RequestShare::Connection : public Wire::Listener {
 public:
  explicit Connection(RequestShare& share)
      : share_(share), wire_(share.setup_.context, *this, share.setup_.scratch, share.setup_.tally.traffic) {}

  bool active() const { return active_; }
  SteadyTime started() const { return started_; }

  void open() { wire_.open(share_.setup_.endpoint); }

  // `follow_up` is asked where the answer is 404; empty: nothing is.
  void ask(std::string_view request, std::string_view follow_up, SteadyTime intended, SteadyTime now) {
    active_ = true;
    follow_up_ = follow_up;
    intended_ = intended;
    started_ = now;
    wire_.ask(share_.setup_.endpoint, request, share_.setup_.head_requests);
  }

  void give_up(SteadyTime now) {
    wire_.close();
    share_.setup_.tally.latency.record(now - intended_);
    on_failure(LoadFailure::timeout);
  }

  void on_head(int status) override { status_ = status; }
  void on_body(std::string_view piece) override {
    if (share_.setup_.follow_ups.empty()) return;
    tail_.append(piece.substr(piece.size() - std::min(piece.size(), kept_tail)));
    if (tail_.size() > kept_tail) tail_.erase(0, tail_.size() - kept_tail);
  }
  void on_end() override {
    LoadTally& tally = share_.setup_.tally;
    const std::string tail = std::exchange(tail_, {});
    if (status_ == 404 && !follow_up_.empty()) {
      ++tally.misses;
      return wire_.ask(share_.setup_.endpoint, std::exchange(follow_up_, {}), false);
    }
    if (const std::string_view source = source_in(tail); !source.empty()) ++tally.sources[std::string(source)];
    const SteadyTime now = SteadyClock::now();
    tally.latency.record(now - intended_);
    tally.service.record(now - started_);
    ++tally.statuses[static_cast<size_t>(status_)];
    share_.setup_.live.answers.fetch_add(1, std::memory_order_relaxed);
    done(share_.free_);
  }
  void on_failure(LoadFailure failure) override {
    tail_.clear();
    ++share_.setup_.tally.failures[failure];
    share_.setup_.live.failures.fetch_add(1, std::memory_order_relaxed);
    done(failure == LoadFailure::connect ? share_.resting_ : share_.free_);
  }

 private:
  void done(std::vector<Connection*>& list) {
    active_ = false;
    list.push_back(this);
    share_.ended(*this);
  }

  RequestShare& share_;
  Wire wire_;
  bool active_ = false;
  int status_ = 0;
  std::string_view follow_up_;
  std::string tail_;
  SteadyTime intended_;
  SteadyTime started_;
};

RequestShare::RequestShare(ShareSetup setup, Arrivals::Plan plan)
    : setup_(std::move(setup)), plan_(std::move(plan)), arrivals_(plan_), timer_(setup_.context) {}

RequestShare::~RequestShare() = default;

void RequestShare::connect() {
  while (connections_.size() < setup_.connections) {
    connections_.push_back(std::make_unique<Connection>(*this));
    connections_.back()->open();
    free_.push_back(connections_.back().get());
  }
}

void RequestShare::start(SteadyTime start) {
  plan_.start = start;
  arrivals_ = Arrivals(plan_);
  pump();
}

void RequestShare::pump() {
  SteadyTime now = SteadyClock::now();
  while (!closed_) {
    const std::optional<SteadyTime> intended = arrivals_.due(now);
    if (!intended) break;
    Connection* connection = free_connection();
    if (connection == nullptr) {
      blocked_ = true;
      return;
    }
    begin(*connection, *intended, now);
    now = SteadyClock::now();
  }
  blocked_ = false;
  const std::optional<SteadyTime> next = arrivals_.next(now);
  if (!next || timer_armed_ || closed_) return;
  timer_armed_ = true;
  timer_.expires_at(*next);
  timer_.async_wait([this](const boost::system::error_code& error) {
    timer_armed_ = false;
    if (!error) pump();
  });
}

RequestShare::Connection* RequestShare::free_connection() {
  if (free_.empty() && connections_.size() < setup_.connections) {
    connections_.push_back(std::make_unique<Connection>(*this));
    return connections_.back().get();
  }
  if (free_.empty()) return nullptr;
  Connection* connection = free_.back();
  free_.pop_back();
  return connection;
}

void RequestShare::begin(Connection& connection, SteadyTime intended, SteadyTime now) {
  arrivals_.take();
  ++active_;
  ++setup_.tally.started;
  if (!blocked_) setup_.tally.lag.record(now - intended);
  if (now - intended > late_after) ++setup_.tally.late;
  const std::string& request = setup_.requests[rotation_];
  const std::string_view follow_up = setup_.follow_ups.empty() ? std::string_view{} : setup_.follow_ups[rotation_];
  rotation_ = (rotation_ + 1) % setup_.requests.size();
  connection.ask(request, follow_up, intended, now);
}

void RequestShare::ended(Connection&) {
  --active_;
  pump();
}

bool RequestShare::tick(SteadyTime now) {
  std::vector<Connection*> rested = std::move(resting_);
  resting_.clear();
  free_.insert(free_.end(), rested.begin(), rested.end());
  note_backlog(now);
  // Requests that are due when the schedule ends get the usual timeout.
  const bool over = now >= plan_.start + setup_.duration + setup_.timeout;
  if (over && !closed_) count_unsent(now);
  give_up(now, over);
  if (!closed_) pump();
  if (active_ > 0 || (!closed_ && !arrivals_.ended(now))) return true;
  setup_.tally.intended += arrivals_.taken();
  return false;
}

void RequestShare::give_up(SteadyTime now, bool all) {
  // By index: handling a free connection may append a new one.
  for (size_t i = 0; i < connections_.size(); ++i) {
    Connection& connection = *connections_[i];
    if (connection.active() && (all || now - connection.started() > setup_.timeout)) connection.give_up(now);
  }
}

void RequestShare::count_unsent(SteadyTime now) {
  closed_ = true;
  while (const auto intended = arrivals_.due(now)) {
    arrivals_.take();
    setup_.tally.latency.record(now - *intended);
    ++setup_.tally.failures[LoadFailure::unsent];
    setup_.live.failures.fetch_add(1, std::memory_order_relaxed);
  }
}

void RequestShare::note_backlog(SteadyTime now) {
  const uint64_t backlog = arrivals_.backlog(now);
  setup_.tally.backlog = std::max(setup_.tally.backlog, backlog);
  setup_.live.backlog.store(backlog, std::memory_order_relaxed);
}

}  // namespace sluice::lab
