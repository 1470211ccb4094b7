#include "coordination/lease_keeper.h"

#include <gtest/gtest.h>

#include "coordination/testing/pretend_fenced_leases.h"
#include "runtime/virtual_clock.h"

namespace sluice::coordination {
namespace {

// A cluster one of whose nodes, the one with "away", stops answering after it gave a lease.
class PartlyAway : public Leases {
 public:
  explicit PartlyAway(Clock& clock) : clock_(clock) {}
  Task<std::optional<LeaseToken>> acquire(std::string, std::string, Duration) override { co_return 1; }
  Task<Renewal<Lease>> renew(std::vector<Lease> leases, Duration) override {
    co_await clock_.sleep_for(10ms);
    Renewal<Lease> renewal;
    for (const Lease& lease : leases) (lease.key == "away" ? renewal.unknown : renewal.renewed).push_back(lease);
    co_return renewal;
  }
  Task<> release(Lease) override { co_return; }
  Task<std::optional<LeaseHolder>> holder(std::string) override { co_return std::nullopt; }

 private:
  Task<std::optional<LeaseHolder>> end_any(std::string) override { co_return std::nullopt; }

  Clock& clock_;
};

Task<> acquire_hint(LeaseKeeper<Leases>& keeper, std::shared_ptr<KeptLease<Leases>>& lease, std::string key) {
  lease = co_await keeper.acquire(key, 30s);
}

using Keeper = LeaseKeeper<FencedLeases>;
using Kept = std::shared_ptr<Keeper::Kept>;

Task<> acquire_into(Keeper& keeper, Kept& lease, std::string key = "line") {
  lease = co_await keeper.acquire(key, 30s);
}

// The fate of a caller that waited for the lease.
struct Waiter {
  bool needs_it = true;
  Kept lease;
  std::optional<NotKept> refused;
  Instant ended{};
};

Task<bool> asks(bool& needed) {
  co_return needed;
}

Task<> wait_for_lease(Keeper& keeper, Clock& clock, Waiter& waiter, Duration patience) {
  const Deadline deadline = Deadline::after(clock, patience);
  const Keeper::StillNeeded still_needed = [&waiter] { return asks(waiter.needs_it); };
  const auto got = co_await keeper.acquire_within("line", 30s, deadline, still_needed);
  if (got) {
    waiter.lease = *got;
  } else {
    waiter.refused = got.error();
  }
  waiter.ended = clock.now();
}

Task<> release_after(Keeper& keeper, Clock& clock, Kept& lease, Duration time) {
  co_await clock.sleep_for(time);
  Kept held = std::move(lease);
  co_await keeper.release(held);
}

struct LeaseKeeperTest : testing::Test {
  ~LeaseKeeperTest() override {
    scope.cancel();
    context.restart();
    context.poll();
    EXPECT_EQ(scope.running(), 0U);
  }

  void spawn(Task<> task) { scope.spawn("test", std::move(task)); }
  void run_for(Duration time) { clock.run(context, clock.now() + time); }

  asio::io_context context;
  VirtualClock clock;
  SeededRandom random{1};
  PretendFencedLeases leases{clock};
  Keeper keeper{leases, clock, random, "me", context.get_executor()};
  Keeper other{leases, clock, random, "another process", context.get_executor()};
  TaskScope scope{context.get_executor()};
  Kept lease;
  Waiter first, second, third;

 private:
  void SetUp() override {
    keeper.start(scope);
    other.start(scope);
  }
};

TEST_F(LeaseKeeperTest, a_kept_lease_outlives_its_ttl) {
  spawn(acquire_into(keeper, lease));
  run_for(5min);
  ASSERT_TRUE(lease);
  EXPECT_EQ(lease->held(), (FencedLease{"line", 1}));
  EXPECT_FALSE(lease->lost().stop_requested());
  EXPECT_GE(leases.renewals, 28);
}

TEST_F(LeaseKeeperTest, work_is_told_to_stop_before_the_lease_can_be_lost) {
  leases.down = true;
  spawn(acquire_into(keeper, lease));
  run_for(26s);
  const std::stop_token lost = lease->lost();
  EXPECT_FALSE(lost.stop_requested());
  run_for(2s);
  EXPECT_TRUE(lost.stop_requested());
  spawn(acquire_into(other, lease));
  run_for(1s);
  EXPECT_FALSE(lease) << "it is still held in the database when its work is told to stop";
}

TEST_F(LeaseKeeperTest, work_is_told_to_stop_also_while_a_renewal_hangs) {
  leases.hanging = true;
  spawn(acquire_into(keeper, lease));
  run_for(28s);
  EXPECT_TRUE(lease->lost().stop_requested());
}

TEST_F(LeaseKeeperTest, an_engine_that_was_away_for_a_moment_costs_no_lease) {
  leases.down = true;
  spawn(acquire_into(keeper, lease));
  run_for(20s);
  leases.down = false;
  run_for(5min);
  EXPECT_FALSE(lease->lost().stop_requested());
}

TEST_F(LeaseKeeperTest, an_engine_that_refused_for_a_moment_costs_no_lease) {
  leases.refuses = true;
  spawn(acquire_into(keeper, lease));
  run_for(20s);
  leases.refuses = false;
  run_for(5min);
  EXPECT_FALSE(lease->lost().stop_requested());
}

TEST_F(LeaseKeeperTest, leases_whose_node_answers_do_not_suffer_from_another_that_is_away) {
  PartlyAway cluster(clock);
  LeaseKeeper<Leases> hints(cluster, clock, random, "me", context.get_executor());
  hints.start(scope);
  std::vector<std::shared_ptr<KeptLease<Leases>>> kept(2);
  spawn(acquire_hint(hints, kept[0], "here"));
  spawn(acquire_hint(hints, kept[1], "away"));
  run_for(28s);
  EXPECT_FALSE(kept[0]->lost().stop_requested());
  EXPECT_TRUE(kept[1]->lost().stop_requested());
  run_for(5min);
  EXPECT_FALSE(kept[0]->lost().stop_requested());
  scope.cancel();
  context.poll();
}

TEST_F(LeaseKeeperTest, a_lease_taken_away_is_known_to_be_lost_at_the_next_renewal) {
  Kept kept;
  spawn(acquire_into(keeper, lease));
  spawn(acquire_into(keeper, kept, "other line"));
  run_for(1s);
  leases.take_away("line");
  run_for(10s);
  EXPECT_TRUE(lease->lost().stop_requested());
  EXPECT_FALSE(kept->lost().stop_requested());
}

TEST_F(LeaseKeeperTest, a_lease_nobody_uses_is_not_renewed) {
  spawn(acquire_into(keeper, lease));
  run_for(5s);
  lease.reset();
  run_for(31s);
  EXPECT_EQ(leases.renewals, 0);
}

TEST_F(LeaseKeeperTest, a_released_lease_is_free_at_once_and_its_work_is_told) {
  spawn(acquire_into(keeper, lease));
  run_for(1s);
  const std::stop_token lost = lease->lost();
  spawn(release_after(keeper, clock, lease, 0s));
  spawn(acquire_into(other, lease));
  run_for(1s);
  EXPECT_TRUE(lost.stop_requested());
  EXPECT_EQ(lease->held().fence, 2);
}

TEST_F(LeaseKeeperTest, thousands_of_leases_cost_a_few_calls) {
  std::vector<Kept> kept(2'000);
  for (size_t i = 0; i < kept.size(); ++i) {
    spawn(acquire_into(keeper, kept[i], fmt::format("key {}", i)));
    run_for(2ms);
  }
  run_for(10min);
  for (const Kept& one : kept) ASSERT_FALSE(one->lost().stop_requested());
  EXPECT_LE(leases.largest, 500U);
  EXPECT_LE(leases.renewals, 6 * 62) << "600 s are 60 thirds of a ttl";
}

TEST_F(LeaseKeeperTest, leases_acquired_one_by_one_are_soon_renewed_together) {
  std::vector<Kept> kept(10);
  for (size_t i = 0; i < kept.size(); ++i) {
    spawn(acquire_into(keeper, kept[i], fmt::format("key {}", i)));
    run_for(1s);
  }
  run_for(5min);
  leases.renewals = 0;
  run_for(5min);
  EXPECT_LE(leases.renewals, 4 * 31);
  EXPECT_EQ(kept.front()->lost().stop_requested(), false);
}

TEST_F(LeaseKeeperTest, waiting_callers_of_a_process_are_served_in_turn) {
  spawn(acquire_into(keeper, lease));
  run_for(1s);
  for (Waiter* waiter : {&first, &second}) spawn(wait_for_lease(keeper, clock, *waiter, 1min));
  spawn(release_after(keeper, clock, lease, 5s));
  run_for(5s);
  ASSERT_TRUE(first.lease) << "a release here wakes the next one at once";
  EXPECT_FALSE(second.lease);
  spawn(release_after(keeper, clock, first.lease, 5s));
  run_for(5s);
  EXPECT_TRUE(second.lease);
}

TEST_F(LeaseKeeperTest, a_lease_of_another_process_is_polled_by_the_first_in_line_only) {
  spawn(acquire_into(other, lease));
  run_for(1s);
  for (Waiter* waiter : {&first, &second, &third}) spawn(wait_for_lease(keeper, clock, *waiter, 1min));
  leases.asked = 0;
  run_for(10s);
  EXPECT_GE(leases.asked, 20);
  EXPECT_LE(leases.asked, 100);
  spawn(release_after(other, clock, lease, 0s));
  run_for(500ms);
  EXPECT_TRUE(first.lease);
}

TEST_F(LeaseKeeperTest, waiting_ends_at_the_deadline) {
  spawn(acquire_into(other, lease));
  run_for(1s);
  const Instant began = clock.now();
  for (Waiter* waiter : {&first, &second}) spawn(wait_for_lease(keeper, clock, *waiter, 5s));
  run_for(1min);
  for (const Waiter* waiter : {&first, &second}) {
    EXPECT_EQ(waiter->refused, NotKept::too_late);
    EXPECT_EQ(waiter->ended, began + 5s);
  }
}

TEST_F(LeaseKeeperTest, who_finds_the_work_done_gives_the_lease_to_the_next) {
  spawn(acquire_into(other, lease));
  run_for(1s);
  first.needs_it = false;
  for (Waiter* waiter : {&first, &second}) spawn(wait_for_lease(keeper, clock, *waiter, 1min));
  spawn(release_after(other, clock, lease, 0s));
  run_for(1s);
  EXPECT_EQ(first.refused, NotKept::not_needed);
  EXPECT_TRUE(second.lease);
}

}  // namespace
}  // namespace sluice::coordination
