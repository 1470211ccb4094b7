// Other queues on PostgreSQL, by the programs of bench/peers.
#pragma once

#include <string>
#include <vector>

namespace sluice::bench {

// How to start one; a database's URL and a number of jobs are added to it.
struct JobPeer {
  std::string name;
  std::string database;
  std::vector<std::string> command;
};

struct PeerSpeed {
  double added = 0;   // jobs a second
  double worked = 0;  // jobs a second, added ones until the last is completed
};

// Those that bench/peers/install put into `folder`.
std::vector<JobPeer> job_peers(const std::string& folder);

// Adds so many no-op jobs and works them off. Throws std::runtime_error with the program's output when it fails.
PeerSpeed run_peer(const JobPeer& peer, const std::string& url, size_t jobs);

}  // namespace sluice::bench
