// How a contract suite gets an implementation of its port: memory, a database, Redis, a cluster.
//
//   class SlotsContract : public PortFixture<coordination::Slots> {};
//   TEST_P(SlotsContract, of_many_callers_exactly_n_get_one) { ... run(port().take(...)) ... }
//
//   INSTANTIATE_TEST_SUITE_P(Memory, SlotsContract, testing::Values(memory_slots), port_engine_name);
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "tests/contract/task_fixture.h"

namespace sluice::test {

// A port's implementation, opened for one test.
template <class Port>
class OpenPort {
 public:
  virtual ~OpenPort() = default;
  virtual Port& port() = 0;
  // Before it is destroyed; everything it does is over afterwards.
  virtual Task<> close() { co_return; }
};

// An engine under test. Its records may outlast a test: suites use `unique` names.
template <class Port>
struct PortEngine {
  std::string name;
  std::function<std::unique_ptr<OpenPort<Port>>(asio::io_context& io)> open;

  friend void PrintTo(const PortEngine& engine, std::ostream* out) { *out << engine.name; }
};

template <class Port>
class PortFixture : public TaskFixture, public testing::WithParamInterface<PortEngine<Port>> {
 protected:
  void SetUp() override { open_ = this->GetParam().open(io_); }
  void TearDown() override {
    if (!open_) return;
    run(open_->close());
    open_.reset();
  }
  Port& port() { return open_->port(); }

 private:
  std::unique_ptr<OpenPort<Port>> open_;
};

inline constexpr auto port_engine_name = [](const auto& info) { return info.param.name; };

}  // namespace sluice::test
