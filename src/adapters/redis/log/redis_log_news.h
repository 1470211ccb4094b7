// Carries word of new messages and of changes in groups to the subscriptions of this process.
//
// Redis does not store its messages, so a listener that hears nothing polls now and then; it polls more often while the
// connection is down.
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "adapters/redis/client/subscriber.h"
#include "runtime/wakeup.h"

namespace sluice::redis {

// Safe to use from any thread.
class LogNews final : public Listener {
 public:
  static constexpr const char* channel = "sluice:log:news";

  struct Heard {
    bool everything = false;  // anything may have been missed
    std::set<std::string> subjects{};
  };

  // One subscription's; belongs to its executor.
  class Ear : public std::enable_shared_from_this<Ear> {
   public:
    Ear(Executor executor, std::set<std::string> topics, std::string group);

    // The notifications since the last call.
    Heard take();
    // Returns when there is something to take, or at `when`.
    Task<> wait_until(Clock& clock, Instant when);
    // Ends a wait that is under way.
    void nudge() { woken_.notify_all(); }

   private:
    friend class LogNews;
    bool cares_for(std::string_view subject) const;
    void hear(std::string_view subject);
    void hear_everything();
    void wake();

    const Executor executor_;
    const std::set<std::string> topics_;
    const std::string group_;
    Wakeup woken_;
    std::mutex mutex_;
    Heard heard_;        // guarded by mutex_
    bool told_ = false;  // guarded by mutex_: a wakeup is on its way
  };

  // Hears of these topics' partitions and of this group.
  std::shared_ptr<Ear> listen(Executor executor, std::set<std::string> topics, std::string_view group);
  // Whether news arrive.
  bool listening() const { return listening_; }

  void on_listening() override;
  void on_interrupted() override;
  void on_message(std::string_view channel, std::string_view message) override;

 private:
  template <class Tell>
  void tell_all(Tell tell);

  std::atomic<bool> listening_ = false;
  std::mutex mutex_;
  std::list<std::weak_ptr<Ear>> ears_;  // guarded by mutex_
};

}  // namespace sluice::redis
