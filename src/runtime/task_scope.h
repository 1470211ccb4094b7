// Owns coroutines that are not awaited.
//
// A loop that is started and forgotten outlives the objects it uses. A scope knows every task it started; `close`
// cancels them and returns when the last one has ended, so the objects they refer to may be destroyed afterwards.
#pragma once

#include <list>
#include <string>

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/steady_timer.hpp>

#include "runtime/task.h"

namespace sluice {

// Belongs to one executor: all methods are called on its thread.
class TaskScope {
 public:
  explicit TaskScope(Executor executor);
  // The scope must have been closed, or have nothing running.
  ~TaskScope();
  TaskScope(const TaskScope&) = delete;
  TaskScope& operator=(const TaskScope&) = delete;

  // Starts `task`. An exception other than cancellation is a bug and aborts with `name`: a loop handles failures of
  // engines and networks itself (runtime/retry.h has such a loop). Spawning in a closed scope does nothing.
  void spawn(std::string name, Task<> task);

  // Cancels everything without waiting; nothing can be spawned afterwards.
  void cancel();

  // Cancels and waits for the last to end. Calling it again is harmless.
  Task<> close();

  // Waits until nothing runs any more, without cancelling.
  Task<> join();

  size_t running() const { return running_.size(); }
  bool closed() const { return closed_; }

 private:
  struct Running {
    std::string name;
    asio::cancellation_signal cancel;
  };

  Executor executor_;
  std::list<Running> running_;
  asio::steady_timer empty_;  // never fires; cancelled when the last task ends
  bool closed_ = false;
};

}  // namespace sluice
