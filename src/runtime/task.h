// A coroutine that is awaited.
//
// Task is Asio's awaitable under our name: it starts when it is awaited, runs on the executor of its caller and is
// cancelled with it. A loop that is not awaited is spawned in a TaskScope (runtime/task_scope.h), never detached.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace sluice {

namespace asio = boost::asio;

template <class Value = void>
using Task = asio::awaitable<Value>;

using Executor = asio::any_io_executor;

}  // namespace sluice
