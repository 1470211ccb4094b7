#include "coordination/denylist.h"

#include <algorithm>

#include <boost/asio/post.hpp>

#include "runtime/errors.h"
#include "runtime/log.h"
#include "runtime/metrics.h"
#include "runtime/retry.h"

namespace sluice::coordination {
namespace {

const metrics::Gauge held{"denylist_tokens", "Denied tokens in the memory of this process."};
const metrics::Counter database_asked{"denylist_database_asked_total", "Lookups answered by the database."};
const metrics::Counter fills{"denylist_fills_total", "Times the shared copy was reloaded from the database."};

constexpr int64_t page_size = 5000;
// A transaction that began earlier may commit later; none of ours lasts half a minute.
constexpr Duration overlap = 30s;
// Clocks of instances differ a little: an id is kept beyond its end.
constexpr Duration margin = 1min;

}  // namespace

Denylist::Denylist(DenialRecords& records, DenialCopy* shared, Clock& clock, Random& random, Executor executor,
                   DenylistOptions options)
    : records_(records),
      shared_(shared),
      clock_(clock),
      random_(random),
      executor_(executor),
      options_(options),
      fill_wanted_(executor) {}

void Denylist::start(TaskScope& scope) {
  const auto loop = [&](const std::string& name, Task<> (Denylist::*round)()) {
    const Backoff backoff{.first = options_.follow_every, .max = options_.trust_for};
    scope.spawn(name, run_forever(name, clock_, random_, [this, round] { return (this->*round)(); }, backoff));
  };
  loop("denylist", &Denylist::follow_round);
  loop("denylist tidying", &Denylist::tidy_round);
  if (shared_ != nullptr) loop("denylist fill", &Denylist::fill_round);
}

Task<> Denylist::deny(std::string token, Time until) {
  const std::vector<Denial> denial{{token, until}};
  co_await records_.deny(denial.front());
  remember(denial);
  if (shared_ != nullptr) co_await shared_->add(denial);
}

Task<bool> Denylist::denied(std::string token) {
  if (remembers(token)) co_return true;
  if (shared_ != nullptr) co_return co_await ask_shared(std::move(token));
  if (up_to_date()) co_return false;
  database_asked.add();
  co_return co_await records_.denied(std::move(token));
}

Task<bool> Denylist::ask_shared(std::string token) {
  Denied answer = Denied::unknown;
  try {
    answer = co_await shared_->ask(token);
    if (answer == Denied::unknown) want_fill();
  } catch (const EngineUnavailable&) {
    // The database knows as well; it is asked until the copy is back.
  }
  if (answer != Denied::unknown) co_return answer == Denied::yes;
  database_asked.add();
  co_return co_await records_.denied(std::move(token));
}

void Denylist::want_fill() {
  if (filling_wanted_.exchange(true)) return;
  asio::post(executor_, [this] { fill_wanted_.notify_all(); });
}

Task<> Denylist::follow_round() {
  co_await clock_.sleep_for(options_.follow_every);
  co_await catch_up();
}

Task<> Denylist::catch_up() {
  const Instant began = clock_.now();
  DenialPage page = co_await records_.read(mark_, page_size);
  const Time as_of = page.now;
  remember(page.denials);
  while (std::ssize(page.denials) == page_size) {
    page = co_await records_.read(page.mark, page_size);
    remember(page.denials);
  }
  mark_ = {as_of - overlap, {}};
  const std::scoped_lock lock(mutex_);
  caught_up_at_ = began;
}

Task<> Denylist::fill_round() {
  while (!filling_wanted_.exchange(false)) co_await fill_wanted_.wait();
  const uint64_t filler = random_.next();
  co_await shared_->begin_fill(filler);
  DenialPage page;
  do {
    page = co_await records_.read(page.mark, page_size);
    std::vector<Denial> denials = page.denials;
    co_await shared_->add(std::move(denials));
  } while (std::ssize(page.denials) == page_size);
  co_await shared_->end_fill(filler);
  fills.add();
}

Task<> Denylist::tidy_round() {
  co_await clock_.sleep_for(1min);
  {
    const std::scoped_lock lock(mutex_);
    const Time now = clock_.wall();
    std::erase_if(memory_, [now](const auto& kept) { return kept.second + margin < now; });
    held.set(static_cast<double>(memory_.size()));
  }
  int64_t removed = page_size;
  while (removed == page_size) removed = co_await records_.purge(page_size);
}

void Denylist::remember(const std::vector<Denial>& denials) {
  const std::scoped_lock lock(mutex_);
  for (const Denial& denial : denials) {
    Time& until = memory_[denial.token];
    until = std::max(until, denial.until);
  }
  held.set(static_cast<double>(memory_.size()));
}

bool Denylist::remembers(const std::string& token) const {
  const std::scoped_lock lock(mutex_);
  return memory_.contains(token);
}

bool Denylist::up_to_date() const {
  const std::scoped_lock lock(mutex_);
  return caught_up_at_ && clock_.now() - *caught_up_at_ < options_.trust_for;
}

}  // namespace sluice::coordination
