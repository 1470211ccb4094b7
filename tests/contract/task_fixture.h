// Runs tasks of a test.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "runtime/task.h"

namespace sluice::test {

// Runs tasks on the test's thread.
class TaskFixture : public testing::Test {
 protected:
  // The result of a task run on this thread; its exceptions pass through.
  template <class Value>
  Value run(Task<Value> task) {
    std::vector<Task<Value>> tasks;
    tasks.push_back(std::move(task));
    auto outcomes = run_all(std::move(tasks));
    if (outcomes[0].error) std::rethrow_exception(outcomes[0].error);
    if constexpr (!std::is_void_v<Value>) return std::move(*outcomes[0].value);
  }

  template <class Value>
  struct Outcome {
    std::exception_ptr error;
    std::optional<Value> value;
  };
  template <>
  struct Outcome<void> {
    std::exception_ptr error;
  };

  // Runs the tasks at the same time, on this thread; returns when all have ended.
  template <class Value>
  std::vector<Outcome<Value>> run_all(std::vector<Task<Value>> tasks) {
    std::vector<Outcome<Value>> outcomes(tasks.size());
    size_t running = tasks.size();
    for (size_t i = 0; i < tasks.size(); ++i) {
      Outcome<Value>& outcome = outcomes[i];
      if constexpr (std::is_void_v<Value>) {
        asio::co_spawn(io_, std::move(tasks[i]), [&outcome, &running](std::exception_ptr error) {
          outcome.error = std::move(error);
          --running;
        });
      } else {
        asio::co_spawn(io_, std::move(tasks[i]), [&outcome, &running](std::exception_ptr error, Value value) {
          outcome.error = std::move(error);
          outcome.value = std::move(value);
          --running;
        });
      }
    }
    io_.restart();
    while (running > 0) io_.run_one();
    return outcomes;
  }

  // Asks repeatedly until `holds`; false after a minute. For changes that only an engine's own clock causes.
  template <class Condition>
  bool eventually(Condition holds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (std::chrono::steady_clock::now() < end) {
      if (holds()) return true;
    }
    return false;
  }

  // The values of concurrent tasks; exceptions pass through.
  template <class Value>
  std::vector<Value> values_of(std::vector<Task<Value>> tasks) {
    std::vector<Value> values;
    for (auto& outcome : run_all(std::move(tasks))) {
      if (outcome.error) std::rethrow_exception(outcome.error);
      values.push_back(std::move(*outcome.value));
    }
    return values;
  }

  // A name that no other test of this program uses: engines outlast tests.
  static std::string unique(const std::string& name) {
    static int count = 0;
    return fmt::format("{}-{}", name, ++count);
  }

  asio::io_context io_;
};

}  // namespace sluice::test
