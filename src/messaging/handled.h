// The result of handling a message.
#pragma once

#include <functional>
#include <string>

#include "messaging/message.h"
#include "runtime/task.h"

namespace sluice::messaging {

struct Handled {
  enum class Kind { done, retry, dead, later };

  Kind kind = Kind::done;
  std::string reason{};  // one word, by which dead letters are grouped
  std::string error{};   // for people
  Duration delay{0};

  static Handled done() { return {}; }
  // Try it again after a while; when the tries are used up it becomes a dead letter.
  static Handled retry(std::string reason, std::string error = {}) {
    return {Kind::retry, std::move(reason), std::move(error)};
  }
  // Trying again is of no use.
  static Handled dead(std::string reason, std::string error = {}) {
    return {Kind::dead, std::move(reason), std::move(error)};
  }
  // Not now, through no fault of the message: it comes again after `delay`, and this was no try.
  static Handled later(Duration delay) { return {.kind = Kind::later, .delay = delay}; }
};

// Runs on the consumer's executor. It is cancelled when its time is up. EngineUnavailable stops the whole consumer for
// a while and is no try; any other exception is one, under the reason HANDLER_FAILED.
using Handler = std::function<Task<Handled>(Delivery)>;

}  // namespace sluice::messaging
