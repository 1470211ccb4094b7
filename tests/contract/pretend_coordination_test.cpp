// The ports of coordination that unit tests pretend, held to the promises of the real ones.
#include "coordination/testing/pretend_fenced_leases.h"
#include "runtime/system_clock.h"
#include "tests/contract/fenced_leases_suite.h"

namespace sluice::test {
namespace {

// A pretended port that needs a clock only.
template <class Port, class Pretended>
class OpenPretended : public OpenPort<Port> {
 public:
  Port& port() override { return port_; }

  static PortEngine<Port> engine() {
    return {.name = "pretend", .open = [](asio::io_context&) { return std::make_unique<OpenPretended>(); }};
  }

 private:
  SystemClock clock_;
  Pretended port_{clock_};
};

const auto fenced_leases = OpenPretended<coordination::FencedLeases, coordination::PretendFencedLeases>::engine();
INSTANTIATE_TEST_SUITE_P(Pretend, FencedLeasesContract, testing::Values(fenced_leases), port_engine_name);

}  // namespace
}  // namespace sluice::test
