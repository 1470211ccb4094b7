// A consumer group with everything going wrong that may: members that join, leave, crash and fall silent, a log
// that fails, handlers that fail, hang or find their engine down. A diary of every message is kept and checked.
#pragma once

#include <map>
#include <random>
#include <set>

#include "messaging/consumer.h"
#include "messaging/testing/pretend_log.h"
#include "runtime/virtual_clock.h"

namespace sluice::test {

class CutOffLog;

class ConsumerWorld {
 public:
  explicit ConsumerWorld(uint64_t seed);
  ~ConsumerWorld();

  enum class Weather { storm, calm, silence };  // silence: no messages are published
  // A tenth of a second in which faults happen or do not.
  void step(Weather weather);
  // All members leave.
  void stop();

  int published() const { return published_; }
  int finished() const;
  int letters() const { return letters_; }
  bool all_committed();
  int assignments() { return log_.assignments("group"); }
  // A violated promise; empty while there is none.
  const std::string& wrong() const { return wrong_; }

 private:
  struct Member;
  struct Story {  // of one key
    int published = 0;
    int finished = 0;
  };
  struct Stored {
    int64_t offset;
    std::string key;
    int number;
  };

  bool happens(double probability) { return std::bernoulli_distribution(probability)(chance_); }
  size_t below(size_t bound) { return std::uniform_int_distribution<size_t>(0, bound - 1)(chance_); }

  void disturb();
  void join();
  void leave(Member& member);
  void crash(Member& member);
  void publish();
  Task<> publish_until_it_is_there(messaging::Message message);
  Task<messaging::Handled> handle(Member& member, messaging::Delivery delivery);
  messaging::Handled verdict();
  void on_store(const messaging::Message& message, const messaging::Position& position);
  void on_commit(const messaging::Position& next);
  void finish(const std::string& key, int number);
  void blame(std::string what);

  std::mt19937_64 chance_;
  SeededRandom random_;
  asio::io_context io_;
  VirtualClock clock_;
  messaging::PretendLog log_{clock_, io_.get_executor()};
  messaging::ConsumerConfig config_;
  std::vector<std::unique_ptr<CutOffLog>> cut_off_;
  std::vector<std::unique_ptr<Member>> members_;
  TaskScope publishers_{io_.get_executor()};

  bool stormy_ = false;
  bool database_down_ = false;
  std::map<std::string, Story> stories_;
  std::map<int32_t, std::vector<Stored>> stored_;  // by partition
  std::map<int32_t, size_t> checked_;              // of those, found finished when they were committed
  int published_ = 0;
  int letters_ = 0;
  std::string wrong_;
};

}  // namespace sluice::test
