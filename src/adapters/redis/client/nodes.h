// The nodes of a Redis, and the slots they serve.
//
// A single server, or its master, counts as a cluster of one that serves every slot. The masters of a real cluster are
// known from the last query; a node that serves no slots is removed. Belongs to one executor.
#pragma once

#include <array>
#include <list>
#include <map>
#include <memory>
#include <vector>

#include "adapters/redis/client/hash_slots.h"
#include "adapters/redis/client/node.h"

namespace sluice::redis {

class Nodes {
 public:
  // `seeds`: the nodes to ask while no others are known. References must outlive it.
  Nodes(const NodeContext& context, std::vector<Address> seeds, bool cluster);

  void start();
  Task<> close();

  // False until a cluster's slots were told.
  bool known() const { return known_; }
  // The server of the slot; null if there is none.
  Node* of_slot(uint16_t slot) { return by_slot_[slot]; }
  // A connected one, if there is any.
  Node& any();
  // Connects to it, if it is not among them yet. Throws EngineUnavailable where a cluster makes us know too many.
  Node& at(const Address& address);

  // The nodes to ask for the slots: connected ones first, then the seeds.
  std::vector<Address> whom_to_ask() const;
  // How they are shared now.
  void assign(const std::vector<SlotRange>& ranges);
  // A node told that another has this slot.
  void assign(uint16_t slot, const Address& master);

  void flush();
  // See Node::expire.
  Instant expire(Instant now);

 private:
  using Leaving = std::list<std::unique_ptr<Node>>;
  Task<> let_go(Leaving::iterator node);

  const NodeContext& context_;
  const std::vector<Address> seeds_;
  const bool cluster_;
  bool known_ = false;
  std::map<Address, std::unique_ptr<Node>> nodes_;
  Leaving leaving_;  // serve nothing any more, but may have replies under way
  std::array<Node*, slot_count> by_slot_{};
  TaskScope scope_;
};

}  // namespace sluice::redis
