#include <gtest/gtest.h>

#include "coordination/lease_keeper.h"
#include "runtime/errors.h"
#include "runtime/virtual_clock.h"

namespace sluice::coordination {
namespace {

// Leases of one process in virtual time, with an engine that can be made to fail. Only for testing the keeper: the real
// ones pass the contract suite.
class PretendLeases : public FencedLeases {
 public:
  explicit PretendLeases(Clock& clock) : clock_(clock) {}
  Task<std::optional<Fence>> acquire(std::string key, std::string owner, Duration ttl) override {
    LeaseHolder& holder = holders_[key];
    if (holder.until > clock_.wall()) co_return std::nullopt;
    holder = {owner, holder.fence + 1, clock_.wall() + ttl};
    co_return holder.fence;
  }
  Task<std::vector<HeldLease>> renew(std::vector<HeldLease> leases, Duration ttl) override {
    ++renewals;
    if (down) throw EngineUnavailable("test", "down");
    std::vector<HeldLease> renewed;
    for (const HeldLease& lease : leases) {
      LeaseHolder& holder = holders_[lease.key];
      if (holder.fence != lease.fence || holder.until <= clock_.wall()) continue;
      holder.until = clock_.wall() + ttl;
      renewed.push_back(lease);
    }
    co_return renewed;
  }
  Task<> release(HeldLease lease) override {
    LeaseHolder& holder = holders_[lease.key];
    if (holder.fence == lease.fence) holder.until = clock_.wall();
    co_return;
  }
  Task<std::optional<LeaseHolder>> holder(std::string key) override { co_return holders_[key]; }

  bool down = false;
  int renewals = 0;

 private:
  Clock& clock_;
  std::map<std::string, LeaseHolder> holders_;
};

struct KeeperTest : testing::Test {
  // Runs `task` and the keeper for `time`.
  void run_for(Duration time, Task<> task) {
    TaskScope scope(context.get_executor());
    keeper.start(scope);
    scope.spawn("task", std::move(task));
    clock.run(context, clock.now() + time);
    scope.cancel();
    context.restart();
    context.poll();
    ASSERT_EQ(scope.running(), 0U);
  }

  asio::io_context context;
  VirtualClock clock;
  PretendLeases leases{clock};
  LeaseKeeper keeper{leases, clock, "me", context.get_executor()};
  std::shared_ptr<KeptLease> lease;
};

Task<> acquire_into(LeaseKeeper& keeper, std::shared_ptr<KeptLease>& lease) {
  lease = co_await keeper.acquire("line", 30s);
}

TEST_F(KeeperTest, a_kept_lease_outlives_its_ttl) {
  run_for(5min, acquire_into(keeper, lease));
  ASSERT_TRUE(lease);
  EXPECT_FALSE(lease->lost().stop_requested());
  EXPECT_GE(leases.renewals, 28);
}

TEST_F(KeeperTest, work_is_told_to_stop_before_the_lease_can_be_lost) {
  leases.down = true;
  run_for(26s, acquire_into(keeper, lease));
  const std::stop_token lost = lease->lost();
  EXPECT_FALSE(lost.stop_requested());
  run_for(2s, acquire_into(keeper, lease));
  EXPECT_TRUE(lost.stop_requested());
  EXPECT_FALSE(lease) << "it is still held in the database when its work is told to stop";
}

TEST_F(KeeperTest, a_lease_nobody_uses_is_not_renewed) {
  run_for(5s, acquire_into(keeper, lease));
  lease.reset();
  run_for(31s, acquire_into(keeper, lease));
  EXPECT_FALSE(lease);
  EXPECT_EQ(leases.renewals, 0);
}

}  // namespace
}  // namespace sluice::coordination
