// Running a task to its end on this thread, for commands that do one thing and exit.
//
// `here` must outlive the engines: their threads may still be on their way out of posting an answer that was taken
// already.
#pragma once

#include <exception>
#include <optional>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "runtime/task.h"

namespace sluice::server {

template <class Value>
Value run_blocking(asio::io_context& here, Task<Value> task) {
  here.restart();
  std::exception_ptr thrown;
  bool ended = false;
  const auto run = [&here, &ended] {
    while (!ended) here.run_one();  // loops that live here may go on
  };
  if constexpr (std::is_void_v<Value>) {
    asio::co_spawn(here, std::move(task), [&](std::exception_ptr error) {
      thrown = std::move(error);
      ended = true;
    });
    run();
    if (thrown) std::rethrow_exception(thrown);
  } else {
    std::optional<Value> result;
    asio::co_spawn(here, std::move(task), [&](std::exception_ptr error, Value value) {
      thrown = std::move(error);
      if (!thrown) result.emplace(std::move(value));
      ended = true;
    });
    run();
    if (thrown) std::rethrow_exception(thrown);
    return std::move(*result);
  }
}

}  // namespace sluice::server
