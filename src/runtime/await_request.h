// Waiting for an engine's answer on the caller's own executor.
//
// A request that goes to another thread ends there, or its caller is cancelled first; which of the two is the request's
// to decide: it has `expect` (the caller to resume) and `leave` (the caller is gone).
#pragma once

#include <memory>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/async_result.hpp>

#include "runtime/waiting_caller.h"

namespace sluice {

// Calls `submit(request)` once the request can resume its caller, and returns when it was resumed.
template <class Request, class Submit>
Task<> await_request(std::shared_ptr<Request> request, Submit submit) {
  const Executor executor = co_await asio::this_coro::executor;
  auto initiate = [request, executor, submit](auto handler) {
    auto slot = asio::get_associated_cancellation_slot(handler);
    if (slot.is_connected()) {
      slot.assign([weak = std::weak_ptr(request)](asio::cancellation_type) {
        if (const auto left = weak.lock()) left->leave();
      });
    }
    request->expect({.executor = executor, .resume = std::move(handler)});
    submit(request);
  };
  co_await asio::async_initiate<decltype(asio::use_awaitable), void()>(initiate, asio::use_awaitable);
}

}  // namespace sluice
