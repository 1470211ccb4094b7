// A private Redis Cluster: three masters that share the slots evenly, each with a replica.
//
//   RedisCluster cluster;
//   connect(cluster.url());
//   RedisServer& master = cluster.master_of("some key");
//   master.kill();
//   cluster.fail_over(master);
//
// A replica takes over when the test says so, and by itself only after many seconds: a node that stands still for a
// while keeps its role.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/redis_server.h"

namespace sluice::test {

class RedisCluster {
 public:
  // Returns when every slot is served and every replica follows its master. `settings` as RedisOptions has them.
  explicit RedisCluster(std::vector<std::string> settings = {});

  // "redis://127.0.0.1:PORT,127.0.0.1:PORT,...": all six.
  std::string url() const;
  size_t size() const { return nodes_.size(); }
  RedisServer& node(size_t i) { return *nodes_[i]; }

  int slot_of(std::string_view key);
  // The master of the key, as seen by the nodes that answer.
  RedisServer& master_of(std::string_view key);
  RedisServer& master_of_slot(int slot);
  // Another master than this one.
  RedisServer& other_master(const RedisServer& master);
  // The node's name for itself, as CLUSTER commands take it.
  static std::string id_of(const RedisServer& node);

  // The replica of a lost master, or of one that should be, takes over. Returns when it serves the slots of the old
  // master, and every node that answers says so.
  void fail_over(const RedisServer& lost);
  // The same without an order: the others miss the lost master and elect its replica, which takes some seconds. For a
  // minute they vote for no other node that would take over from the lost one.
  void elect_successor_of(const RedisServer& lost);
  // Returns when every node runs, every slot is served and every replica follows its master.
  void wait_until_healthy();

 private:
  struct Row {
    std::string id;
    std::string master_id;  // "-" where it is a master
    uint16_t port = 0;
    bool master = false;
    bool failed = false;
    std::vector<std::pair<int, int>> slots;
  };

  void make_cluster();
  std::vector<RedisServer*> answering();
  static std::vector<Row> rows_seen_by(const RedisServer& node);
  void take_over_from(const RedisServer& lost);
  void wait_for_successor(const RedisServer& lost, const std::function<void()>& meanwhile);
  RedisServer& node_at(uint16_t port);

  std::vector<uint16_t> bus_ports_;
  std::vector<std::unique_ptr<RedisServer>> nodes_;
};

}  // namespace sluice::test
