#include "jobs/slot_plan.h"

#include <algorithm>

namespace sluice::jobs {
namespace {

std::vector<int64_t> free_numbers(const SlotNeeds& needs) {
  std::vector<bool> taken(static_cast<size_t>(needs.slots));
  for (const SlotHolder& holder : needs.holders) {
    if (holder.slot <= needs.slots) taken[static_cast<size_t>(holder.slot) - 1] = true;
  }
  std::vector<int64_t> numbers;
  for (int64_t number = 1; number <= needs.slots; ++number) {
    if (!taken[static_cast<size_t>(number) - 1]) numbers.push_back(number);
  }
  // After the number of slots was lowered those beyond it still count while they run.
  const int64_t left = std::max<int64_t>(needs.slots - static_cast<int64_t>(needs.holders.size()), 0);
  if (numbers.size() > static_cast<size_t>(left)) numbers.resize(static_cast<size_t>(left));
  if (!numbers.empty()) std::ranges::rotate(numbers, numbers.begin() + needs.turn % std::ssize(numbers));
  return numbers;
}

// How many of the free slots may be given now.
size_t allowed_of(size_t free, const SlotNeeds& needs) {
  if (!needs.one_by_one) return free;
  const bool unclaimed = std::ranges::any_of(needs.holders, [](const SlotHolder& holder) { return !holder.running; });
  return unclaimed ? 0 : std::min<size_t>(free, 1);
}

void take_back_surplus(SlotNeeds& needs, SlotPlan& plan) {
  const auto surplus = std::ranges::partition(
      needs.holders, [&](const SlotHolder& holder) { return holder.running || holder.slot <= needs.slots; });
  plan.taken_back.assign(surplus.begin(), surplus.end());
  needs.holders.erase(surplus.begin(), surplus.end());
}

}  // namespace

bool has_room(const SlotNeeds& needs) {
  return static_cast<int64_t>(needs.holders.size()) < needs.slots ||
         !std::ranges::all_of(needs.holders, &SlotHolder::running);
}

SlotPlan plan_slots(SlotNeeds needs) {
  SlotPlan plan;
  take_back_surplus(needs, plan);
  const std::vector<int64_t> numbers = free_numbers(needs);
  const size_t allowed = allowed_of(numbers.size(), needs);
  size_t next = 0;
  for (; next < allowed && next < needs.seekers.size(); ++next) {
    plan.gifts.push_back({needs.seekers[next].id, numbers[next], needs.seekers[next].stored});
  }
  if (next < numbers.size()) plan.next_look = next < allowed ? NextLook::when_due : NextLook::in_case;

  std::erase_if(needs.holders, [](const SlotHolder& holder) { return holder.running; });
  std::ranges::sort(needs.holders, std::greater{},
                    [](const SlotHolder& holder) { return std::pair(holder.priority, holder.id); });
  for (const SlotHolder& worst : needs.holders) {
    if (next == needs.seekers.size() || needs.seekers[next].priority >= worst.priority) break;
    plan.taken_back.push_back(worst);
    plan.gifts.push_back({needs.seekers[next].id, worst.slot, needs.seekers[next].stored});
    ++next;
  }
  return plan;
}

void drop_kept_slots(SlotPlan& plan, const std::set<JobId>& freed) {
  for (const SlotHolder& holder : plan.taken_back) {
    if (freed.contains(holder.id)) continue;
    const auto of_holder = std::ranges::find(plan.gifts, holder.slot, &SlotGift::slot);
    if (of_holder != plan.gifts.end()) {
      plan.gifts.erase(of_holder);
    } else if (!plan.gifts.empty()) {
      plan.gifts.pop_back();  // its slot is beyond their number, and it runs in place of another
    }
  }
}

Duration pause_before(NextLook look, Duration gap) {
  constexpr Duration in_case = 10s;
  return look == NextLook::in_case ? gap + in_case : Duration{0};
}

}  // namespace sluice::jobs
