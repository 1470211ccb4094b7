#include "tests/support/redis_cluster.h"

#include <sstream>

#include <fmt/ranges.h>

#include "base/check.h"
#include "tests/support/free_port.h"

namespace sluice::test {
namespace {

constexpr int slots = 16384;
constexpr size_t masters = 3;
// While nodes meet, while they elect, and at other times.
constexpr const char* short_node_timeout = "1000";
constexpr const char* election_node_timeout = "2000";
constexpr const char* long_node_timeout = "30000";

// Asking a node takes a process of its own, so looking again and again is slow enough by itself.
template <class Condition>
void wait_until(const std::string& what, Condition holds) {
  const auto end = std::chrono::steady_clock::now() + 60s;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) throw std::runtime_error("the Redis Cluster " + what);
  }
}

bool says(const RedisServer& node, std::vector<std::string> command, std::string_view text) {
  try {
    return node.cli(std::move(command)).contains(text);
  } catch (const std::runtime_error&) {
    return false;
  }
}

}  // namespace

RedisCluster::RedisCluster(std::vector<std::string> settings) {
  for (size_t i = 0; i < 2 * masters; ++i) {
    // By default the bus takes port + 10000, which may not exist.
    bus_ports_.push_back(free_port());
    RedisOptions options{.durable = true, .settings = settings};
    options.settings.insert(
        options.settings.end(),
        {"cluster-enabled yes", fmt::format("cluster-port {}", bus_ports_.back()),
         fmt::format("cluster-node-timeout {}", short_node_timeout), "cluster-replica-validity-factor 0",
         "repl-diskless-sync-delay 0", "repl-ping-replica-period 1"});
    nodes_.push_back(std::make_unique<RedisServer>(std::move(options)));
  }
  make_cluster();
}

void RedisCluster::make_cluster() {
  for (size_t i = 0; i < masters; ++i) {
    const size_t first = i * slots / masters;
    const size_t last = (i + 1) * slots / masters - 1;
    node(i).cli({"CLUSTER", "ADDSLOTSRANGE", std::to_string(first), std::to_string(last)});
  }
  for (size_t i = 0; i < size(); ++i) {
    node(i).cli({"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(i + 1)});
  }
  // Again until it succeeds: a node forgets another that does not answer within cluster-node-timeout.
  const auto have_met = [](const RedisServer& each) {
    return says(each, {"CLUSTER", "INFO"}, "cluster_known_nodes:6");
  };
  const auto meet = [this](size_t i) {
    node(0).cli({"CLUSTER", "MEET", "127.0.0.1", std::to_string(node(i).port()), std::to_string(bus_ports_[i])});
  };
  for (size_t i = 1; i < size(); ++i) meet(i);
  for (size_t i = 0; i < size(); ++i) {
    wait_until("did not meet", [&] {
      if (have_met(node(i))) return true;
      for (size_t other = 1; other < size(); ++other) meet(other);
      return have_met(node(i));
    });
  }
  for (size_t i = masters; i < size(); ++i) {
    const std::string master = id_of(node(i - masters));
    wait_until("did not take its replicas", [&] { return says(node(i), {"CLUSTER", "REPLICATE", master}, "OK"); });
  }
  wait_until_healthy();
}

std::string RedisCluster::url() const {
  std::vector<std::string> seeds;
  for (const auto& each : nodes_) seeds.push_back(fmt::format("127.0.0.1:{}", each->port()));
  return fmt::format("redis://{}", fmt::join(seeds, ","));
}

std::string RedisCluster::id_of(const RedisServer& node) {
  return node.cli({"CLUSTER", "MYID"});
}

int RedisCluster::slot_of(std::string_view key) {
  return std::stoi(answering().front()->cli({"CLUSTER", "KEYSLOT", std::string(key)}));
}

RedisServer& RedisCluster::master_of(std::string_view key) {
  return master_of_slot(slot_of(key));
}

RedisServer& RedisCluster::master_of_slot(int slot) {
  for (const Row& row : rows_seen_by(*answering().front())) {
    for (const auto& [first, last] : row.slots) {
      if (first <= slot && slot <= last) return node_at(row.port);
    }
  }
  throw std::runtime_error(fmt::format("no node serves slot {}", slot));
}

RedisServer& RedisCluster::other_master(const RedisServer& master) {
  for (const Row& row : rows_seen_by(*answering().front())) {
    if (row.master && !row.failed && row.port != master.port()) return node_at(row.port);
  }
  throw std::runtime_error("there is no other master");
}

void RedisCluster::take_over_from(const RedisServer& lost) {
  for (RedisServer* each : answering()) {
    if (each == &lost) continue;
    const std::vector<Row> rows = rows_seen_by(*each);
    const auto its_row = std::ranges::find(rows, lost.port(), &Row::port);
    const auto replica = its_row == rows.end() ? its_row : std::ranges::find(rows, its_row->id, &Row::master_id);
    if (replica == rows.end()) continue;
    says(node_at(replica->port), {"CLUSTER", "FAILOVER", "TAKEOVER"}, "OK");
    return;
  }
}

void RedisCluster::fail_over(const RedisServer& lost) {
  wait_for_successor(lost, [&] { take_over_from(lost); });
}

void RedisCluster::elect_successor_of(const RedisServer& lost) {
  for (RedisServer* node : answering()) node->cli({"CONFIG", "SET", "cluster-node-timeout", election_node_timeout});
  wait_for_successor(lost, [] {});
  for (RedisServer* node : answering()) node->cli({"CONFIG", "SET", "cluster-node-timeout", long_node_timeout});
}

void RedisCluster::wait_for_successor(const RedisServer& lost, const std::function<void()>& meanwhile) {
  wait_until("did not fail over", [&] {
    meanwhile();
    for (RedisServer* node : answering()) {
      if (node == &lost) continue;
      if (!says(*node, {"CLUSTER", "INFO"}, "cluster_state:ok")) return false;
      for (const Row& row : rows_seen_by(*node)) {
        if (row.port == lost.port() && row.master && !row.slots.empty()) return false;
      }
    }
    return true;
  });
}

void RedisCluster::wait_until_healthy() {
  for (const auto& each : nodes_) {
    wait_until("did not get well", [&] {
      return says(*each, {"CLUSTER", "INFO"}, "cluster_state:ok") &&
             (says(*each, {"ROLE"}, "connected") || says(*each, {"INFO", "replication"}, "connected_slaves:1"));
    });
  }
  for (const auto& each : nodes_) {
    wait_until("did not agree", [&] {
      const std::vector<Row> rows = rows_seen_by(*each);
      return std::ranges::count_if(rows, [](const Row& row) { return row.master && !row.failed; }) == masters &&
             std::ranges::none_of(rows, &Row::failed);
    });
  }
  // A node that was started again has the short one.
  for (const auto& each : nodes_) each->cli({"CONFIG", "SET", "cluster-node-timeout", long_node_timeout});
}

std::vector<RedisServer*> RedisCluster::answering() {
  std::vector<RedisServer*> nodes;
  for (const auto& each : nodes_) {
    if (each->running() && !each->paused()) nodes.push_back(each.get());
  }
  check(!nodes.empty(), "no node of the Redis Cluster runs");
  return nodes;
}

// "ID IP:PORT@BUS,NAME FLAGS MASTER PING PONG EPOCH LINK SLOT SLOT-SLOT [SLOT->-ID] ..."
std::vector<RedisCluster::Row> RedisCluster::rows_seen_by(const RedisServer& node) {
  std::vector<Row> rows;
  std::istringstream lines(node.cli({"CLUSTER", "NODES"}));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::vector<std::string> fields;
    for (std::string word; words >> word;) fields.push_back(word);
    if (fields.size() < 8) continue;
    const size_t colon = fields[1].rfind(':', fields[1].find('@'));
    Row row{.id = fields[0],
            .master_id = fields[3],
            .port = static_cast<uint16_t>(std::stoi(fields[1].substr(colon + 1))),
            .master = fields[2].contains("master"),
            .failed = fields[2].contains("fail"),
            .slots = {}};
    for (size_t i = 8; i < fields.size() && fields[i][0] != '['; ++i) {
      const size_t dash = fields[i].find('-');
      const int first = std::stoi(fields[i].substr(0, dash));
      row.slots.emplace_back(first, dash == std::string::npos ? first : std::stoi(fields[i].substr(dash + 1)));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

RedisServer& RedisCluster::node_at(uint16_t port) {
  const auto found = std::ranges::find_if(nodes_, [port](const auto& each) { return each->port() == port; });
  check_that(found != nodes_.end(), "no node listens on {}", port);
  return **found;
}

}  // namespace sluice::test
