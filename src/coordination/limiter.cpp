#include "coordination/limiter.h"

#include "base/check.h"
#include "runtime/log.h"

namespace sluice::coordination {
namespace {

const metrics::Counter acquired{"rate_limiter_acquired_total", "Permits given to callers.", {"priority"}};
const metrics::Counter rejected{"rate_limiter_rejected_total",
                                "Callers told to retry later, or refused because too many were waiting.",
                                {"priority"}};
const metrics::Counter thrown_away{
    "rate_limiter_void_total", "Permits that arrived from the engine too late to be used.", {"priority"}};

// Shortest Retry-After: the engine answers in microseconds, callers wait in milliseconds.
constexpr Duration shortest_wait = 1ms;

}  // namespace

Limiter::Limiter(Parts parts, const Executor& executor, size_t most_waiting)
    : limit_(parts.limit),
      days_(parts.days),
      clock_(parts.clock),
      random_(parts.random),
      executor_(executor),
      most_waiting_(most_waiting),
      changed_(executor) {
  for (size_t i = 0; i < plan().priority.size(); ++i) lines_.push_back(make_line(i));
}

Limiter::Line Limiter::make_line(size_t priority) const {
  const LimitPriority& described = plan().priority[priority];
  check_that(described.days.empty() || days_ != nullptr, "{} uses days, but there are no budgets", described.name);
  Line line{.callers = {},
            .has_days = !described.days.empty(),
            .taking_chunk = false,
            .next_chunk = {},
            .chunk_error = {},
            .chunk = 1,
            .acquired = acquired.with({described.name}),
            .rejected = rejected.with({described.name}),
            .thrown_away = thrown_away.with({described.name})};
  int64_t smallest = std::numeric_limits<int64_t>::max();
  for (const size_t at : plan().days_of(priority)) smallest = std::min(smallest, plan().day[at].most);
  if (line.has_days) line.chunk = std::max<int64_t>(1, smallest / (24 * 60 * 60));
  return line;
}

void Limiter::start(TaskScope& scope) {
  scope_ = &scope;
  shown_at_ = clock_.now();
  scope.spawn("first window of " + plan().name, make_known(limit_));
  scope.spawn("limiter of " + plan().name, serve_loop());
  scope.spawn("gauges of limiter " + plan().name, show_loop());
}

size_t Limiter::waiting() const {
  size_t count = 0;
  for (const Line& line : lines_) count += line.callers.size();
  return count;
}

Task<Result<Permit, Duration>> Limiter::acquire(size_t priority, Deadline deadline) {
  return join(priority, deadline.at);
}

Task<Result<Permit, Duration>> Limiter::try_acquire(size_t priority) {
  return join(priority, clock_.now());
}

Task<Result<Permit, Duration>> Limiter::join(size_t priority, Instant until) {
  Line& line = lines_.at(priority);
  if (const Duration blocked = blocked_for(priority); blocked > 0us && clock_.now() + blocked > until) {
    line.rejected.add();
    co_return std::max(shortest_wait, blocked);
  }
  if (waiting() >= most_waiting_) {
    line.rejected.add();
    throw Overloaded("limit " + plan().name, std::max(shortest_wait, blocked_for(priority)));
  }
  const auto me = std::make_shared<Caller>(executor_, until);
  line.callers.push_back(me);
  // While its priority is blocked the server of the line knows when to look again.
  if (blocked_for(priority) == 0us || waiting() == 1) changed_.notify_all();
  std::exception_ptr cancelled;
  try {
    while (!me->is_settled()) co_await me->settled.wait();
  } catch (...) {
    cancelled = std::current_exception();
  }
  leave(priority, me);
  if (cancelled) std::rethrow_exception(cancelled);
  co_return outcome(priority, *me);
}

Result<Permit, Duration> Limiter::outcome(size_t priority, const Caller& caller) {
  Line& line = lines_[priority];
  if (caller.error) std::rethrow_exception(caller.error);
  if (caller.permit) {
    line.acquired.add();
    return *caller.permit;
  }
  line.rejected.add();
  return std::max(shortest_wait, *caller.refused);
}

void Limiter::leave(size_t priority, const std::shared_ptr<Caller>& caller) {
  if (!caller->is_settled()) std::erase(lines_[priority].callers, caller);
}

std::optional<size_t> Limiter::next_line() const {
  for (size_t i = 0; i < lines_.size(); ++i) {
    if (!lines_[i].callers.empty()) return i;
  }
  return std::nullopt;
}

Duration Limiter::blocked_for(size_t priority) const {
  if (priority < blocked_line_) return Duration{0};
  return std::max(Duration{0}, std::chrono::ceil<Duration>(blocked_until_ - clock_.now()));
}

Task<> Limiter::serve_loop() {
  while (true) {
    const std::optional<size_t> priority = next_line();
    if (!priority) {
      co_await changed_.wait();
      continue;
    }
    refuse_overdue(*priority + 1, clock_.now());
    std::exception_ptr error;
    try {
      co_await serve(*priority);
    } catch (const EngineUnavailable&) {
      error = std::current_exception();
    }
    if (!error) continue;
    for (size_t i = 0; i < lines_.size(); ++i) fail(i, error);
  }
}

Task<> Limiter::serve(size_t priority) {
  Line& line = lines_[priority];
  const auto wanted = static_cast<int64_t>(line.callers.size());
  const int64_t most = slow_ ? 1 : std::min(wanted, plan().most_at_once(priority));
  const Drawn drawn = co_await limit_.draw(priority, 1, most);
  take_chunk_if_low(priority, drawn.credit);
  if (drawn.given > 0) {
    hand_out(priority, drawn);
  } else if (drawn.lacks_credit) {
    co_await wait_for_credit(priority);
  } else {
    const Instant next = clock_.now() + drawn.wait;
    co_await wait_until(priority, next);
  }
}

void Limiter::hand_out(size_t priority, const Drawn& drawn) {
  Line& line = lines_[priority];
  const Permit permit{drawn.sent + plan().permit_life};
  slow_ = !permit.good(clock_);
  if (slow_) {
    line.thrown_away.add(static_cast<uint64_t>(drawn.given));
    refuse_overdue(priority, clock_.now());
    return;
  }
  given_ += drawn.given;
  // Fewer than were asked for are left where callers gave up meanwhile: those permits are spent for nothing.
  for (int64_t i = 0; i < drawn.given && !line.callers.empty(); ++i) {
    const std::shared_ptr<Caller> caller = std::move(line.callers.front());
    line.callers.pop_front();
    caller->permit = permit;
    caller->settled.notify_all();
  }
}

// Until `when` callers of this priority and worse ones are not served; better ones are.
Task<> Limiter::wait_until(size_t priority, Instant when) {
  blocked_line_ = priority;
  blocked_until_ = when;
  refuse_overdue(priority, when);
  while (clock_.now() < when) {
    const std::optional<size_t> next = next_line();
    if (!next || *next < priority) co_return;
    co_await changed_.wait_until(clock_, when);
  }
}

void Limiter::refuse_overdue(size_t first, Instant when) {
  const Duration wait = std::chrono::ceil<Duration>(when - clock_.now());
  for (size_t i = first; i < lines_.size(); ++i) {
    std::erase_if(lines_[i].callers, [when, wait](const std::shared_ptr<Caller>& caller) {
      if (caller->until >= when) return false;
      caller->refused = wait;
      caller->settled.notify_all();
      return true;
    });
  }
}

void Limiter::fail(size_t priority, const std::exception_ptr& error) {
  for (const std::shared_ptr<Caller>& caller : std::exchange(lines_[priority].callers, {})) {
    caller->error = error;
    caller->settled.notify_all();
  }
}

}  // namespace sluice::coordination
