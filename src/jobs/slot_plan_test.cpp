#include "jobs/slot_plan.h"

#include <gtest/gtest.h>

namespace sluice::jobs {
namespace {

JobId job(uint8_t number) {
  Uuid uuid;
  uuid.bytes[15] = number;
  return JobId(uuid);
}
SlotHolder running(uint8_t id, int64_t slot) {
  return {job(id), slot, 0, true};
}
SlotHolder unclaimed(uint8_t id, int64_t slot, int64_t priority) {
  return {job(id), slot, priority, false};
}

SlotSeeker waiting(uint8_t id, int64_t priority) {
  return {.priority = priority, .id = job(id)};
}

TEST(SlotPlan, free_slots_go_to_the_first_in_line) {
  const SlotPlan plan = plan_slots({.slots = 3, .holders = {running(1, 2)}, .seekers = {waiting(2, 0), waiting(3, 5)}});
  ASSERT_EQ(plan.gifts.size(), 2U);
  EXPECT_EQ(plan.gifts[0].id, job(2));
  EXPECT_EQ(plan.gifts[0].slot, 1);
  EXPECT_EQ(plan.gifts[1].slot, 3);
  EXPECT_EQ(plan.next_look, NextLook::none);
}

TEST(SlotPlan, a_full_key_gives_nothing) {
  const SlotPlan plan = plan_slots({.slots = 1, .holders = {running(1, 1)}, .seekers = {waiting(2, -9)}});
  EXPECT_TRUE(plan.gifts.empty());
  EXPECT_TRUE(plan.taken_back.empty());
  EXPECT_EQ(plan.next_look, NextLook::none);
}

TEST(SlotPlan, a_free_slot_is_for_the_next_job_that_becomes_due) {
  EXPECT_EQ(plan_slots({.slots = 2, .holders = {running(1, 1)}}).next_look, NextLook::when_due);
}

TEST(SlotPlan, a_better_priority_takes_the_worst_unclaimed_slot) {
  const SlotPlan plan = plan_slots(
      {.slots = 2, .holders = {unclaimed(1, 1, 5), unclaimed(2, 2, 7)}, .seekers = {waiting(3, 1), waiting(4, 6)}});
  ASSERT_EQ(plan.taken_back.size(), 1U);
  EXPECT_EQ(plan.taken_back[0].id, job(2));
  ASSERT_EQ(plan.gifts.size(), 1U);
  EXPECT_EQ(plan.gifts[0].id, job(3));
  EXPECT_EQ(plan.gifts[0].slot, 2);
}

TEST(SlotPlan, among_equals_who_has_a_slot_keeps_it) {
  EXPECT_TRUE(plan_slots({.slots = 1, .holders = {unclaimed(9, 1, 5)}, .seekers = {waiting(1, 5)}}).taken_back.empty());
}

TEST(SlotPlan, after_the_number_was_lowered_nobody_starts_before_enough_have_ended) {
  const SlotPlan plan = plan_slots(
      {.slots = 2, .holders = {running(1, 2), running(2, 4), unclaimed(3, 3, 0)}, .seekers = {waiting(4, 9)}});
  ASSERT_EQ(plan.taken_back.size(), 1U);
  EXPECT_EQ(plan.taken_back[0].id, job(3));
  EXPECT_TRUE(plan.gifts.empty());
}

TEST(SlotPlan, spaced_starts_are_prepared_one_by_one) {
  SlotNeeds needs{.slots = 5, .one_by_one = true, .seekers = {waiting(1, 0), waiting(2, 0)}};
  EXPECT_EQ(plan_slots(needs).gifts.size(), 1U);
  needs.holders = {unclaimed(3, 1, 0)};
  EXPECT_TRUE(plan_slots(needs).gifts.empty());
  needs.holders = {running(3, 1)};
  EXPECT_EQ(plan_slots(needs).gifts.size(), 1U);
}

TEST(SlotPlan, a_spaced_key_is_looked_at_only_while_slots_are_free) {
  SlotNeeds needs{
      .slots = 2, .one_by_one = true, .holders = {running(3, 1)}, .seekers = {waiting(1, 0), waiting(2, 0)}};
  EXPECT_EQ(plan_slots(needs).next_look, NextLook::none);
  needs.slots = 3;
  EXPECT_EQ(plan_slots(needs).next_look, NextLook::in_case);
  needs.seekers.clear();
  EXPECT_EQ(plan_slots(needs).next_look, NextLook::when_due);
}

TEST(SlotPlan, seekers_stand_in_line_by_priority_then_by_time) {
  const SlotSeeker first{.priority = -1, .run_after = Time{9s}, .id = job(9)};
  const SlotSeeker second{.priority = 0, .run_after = Time{3s}, .id = job(2)};
  const SlotSeeker third{.priority = 0, .run_after = Time{4s}, .id = job(1)};
  EXPECT_LT(first, second);
  EXPECT_LT(second, third);
}

TEST(SlotPlan, free_slots_are_given_in_turn) {
  SlotNeeds needs{.slots = 3, .seekers = {waiting(1, 0)}};
  std::set<int64_t> given;
  for (needs.turn = 7; needs.turn < 10; ++needs.turn) given.insert(plan_slots(needs).gifts.at(0).slot);
  EXPECT_EQ(given, (std::set<int64_t>{1, 2, 3}));
}

TEST(SlotPlan, a_slot_that_was_claimed_meanwhile_is_not_given) {
  SlotPlan plan = plan_slots(
      {.slots = 2, .holders = {unclaimed(1, 1, 9), unclaimed(2, 2, 8)}, .seekers = {waiting(3, 0), waiting(4, 0)}});
  ASSERT_EQ(plan.gifts.size(), 2U);
  drop_kept_slots(plan, {job(2)});
  ASSERT_EQ(plan.gifts.size(), 1U);
  EXPECT_EQ(plan.gifts[0].slot, 2);
}

TEST(SlotPlan, a_job_claimed_beyond_the_lowered_number_runs_in_place_of_another) {
  SlotPlan plan = plan_slots({.slots = 2, .holders = {unclaimed(1, 3, 0)}, .seekers = {waiting(2, 0), waiting(3, 0)}});
  ASSERT_EQ(plan.gifts.size(), 2U);
  drop_kept_slots(plan, {});
  ASSERT_EQ(plan.gifts.size(), 1U);
  EXPECT_EQ(plan.gifts[0].id, job(2));
}

TEST(SlotPlan, a_spaced_key_is_left_alone_for_longer_than_its_gap) {
  EXPECT_GT(pause_before(NextLook::in_case, 3s), 3s);
  EXPECT_EQ(pause_before(NextLook::when_due, 3s), 0s);
}

}  // namespace
}  // namespace sluice::jobs
