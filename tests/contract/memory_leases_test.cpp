#include "adapters/memory/memory_leases.h"

#include "adapters/memory/memory_slots.h"
#include "runtime/system_clock.h"
#include "tests/contract/leases_suite.h"
#include "tests/contract/slots_suite.h"

namespace sluice::test {
namespace {

template <class Port, class Adapter>
class InMemory : public OpenPort<Port> {
 public:
  Port& port() override { return adapter_; }

  static std::unique_ptr<OpenPort<Port>> open(asio::io_context&) { return std::make_unique<InMemory>(); }

 private:
  SystemClock clock_;
  Adapter adapter_{clock_};
};

const PortEngine<coordination::Leases> leases{.name = "memory",
                                              .open = InMemory<coordination::Leases, memory::MemoryLeases>::open};
const PortEngine<coordination::Slots> slots{.name = "memory",
                                            .open = InMemory<coordination::Slots, memory::MemorySlots>::open};

}  // namespace

INSTANTIATE_TEST_SUITE_P(Memory, LeasesContract, testing::Values(leases), port_engine_name);
INSTANTIATE_TEST_SUITE_P(Memory, SlotsContract, testing::Values(slots), port_engine_name);

}  // namespace sluice::test
