// Looks up host names, with threads, a bound and a memory of its own.
//
// The system's resolver blocks for as long as a name server is silent, and cannot be interrupted. Code that looks up
// names chosen by strangers (links) has its own resolver, so that their name servers cannot stall other code.
#pragma once

#include <atomic>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <boost/asio/ip/address.hpp>

#include "runtime/clock.h"
#include "runtime/look_up.h"
#include "runtime/offload.h"
#include "runtime/wakeup.h"

namespace sluice {

// The addresses of a name, or the reason why there are none.
using Addresses = std::expected<std::vector<asio::ip::address>, std::string>;

// Asks the system; blocks.
Addresses ask_system(const std::string& host);

struct ResolverOptions {
  unsigned threads = 2;      // names looked up at once
  size_t max_waiting = 256;  // names in line; further ones are refused
  size_t max_remembered = 1000;
  Duration remember_found = 30s;
  Duration remember_missing = 5s;
  std::function<Addresses(const std::string& host)> ask = ask_system;  // called on the threads
};

// Belongs to one executor. Destroying it waits for lookups that are under way, which the system ends in its own time.
class Resolver {
 public:
  Resolver(Executor executor, const Clock& clock, ResolverOptions options);
  ~Resolver();
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  // Every address of `host`, in the order in which the system wants them tried; an address resolves to itself.
  // Concurrent callers of one name share one lookup. Throws HostNotFound, and Overloaded if too many names are queued.
  // A name whose callers have all left is removed from the queue.
  Task<std::vector<asio::ip::address>> look_up(std::string host);

 private:
  struct Search;
  struct Memory;

  std::shared_ptr<Search> join(const std::string& host);
  void begin(const std::string& host, const std::shared_ptr<Search>& search);

  Executor executor_;
  std::shared_ptr<Memory> memory_;  // outlives the resolver for as long as results are on their way to the executor
  std::shared_ptr<std::atomic<bool>> closed_;
  std::unique_ptr<Offload> threads_;  // started with the first name: many clients only ever see addresses
};

}  // namespace sluice
