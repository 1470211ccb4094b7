#include "adapters/redis/client/nodes.h"

#include <set>

#include "adapters/redis/client/redis.h"

namespace sluice::redis {
namespace {

constexpr size_t max_nodes = 1000;

}  // namespace

Nodes::Nodes(const NodeContext& context, std::vector<Address> seeds, bool cluster)
    : context_(context), seeds_(std::move(seeds)), cluster_(cluster), scope_(context.executor) {}

void Nodes::start() {
  if (cluster_) return;
  assign({{0, slot_count - 1, seeds_.front()}});
}

Task<> Nodes::close() {
  co_await scope_.close();
  for (const auto& node : leaving_) co_await node->close();
  for (const auto& [address, node] : nodes_) co_await node->close();
}

Node& Nodes::at(const Address& address) {
  auto found = nodes_.find(address);
  if (found == nodes_.end()) {
    if (nodes_.size() >= max_nodes) throw EngineUnavailable(engine_name, "the cluster reports too many nodes");
    found = nodes_.emplace(address, std::make_unique<Node>(address, context_)).first;
    found->second->start();
  }
  return *found->second;
}

Node& Nodes::any() {
  std::vector<Node*> connected;
  for (const auto& [address, node] : nodes_) {
    if (node->connected()) connected.push_back(node.get());
  }
  if (!connected.empty()) return *connected[context_.random.below(connected.size())];
  return nodes_.empty() ? at(seeds_.front()) : *nodes_.begin()->second;
}

std::vector<Address> Nodes::whom_to_ask() const {
  std::vector<Address> addresses;
  for (const auto& [address, node] : nodes_) {
    if (node->connected()) addresses.push_back(address);
  }
  // Not always the same: one of them may be wrong about the others.
  if (!addresses.empty()) {
    std::ranges::rotate(addresses, addresses.begin() + static_cast<ptrdiff_t>(context_.random.below(addresses.size())));
  }
  for (const Address& seed : seeds_) {
    if (std::ranges::find(addresses, seed) == addresses.end()) addresses.push_back(seed);
  }
  return addresses;
}

void Nodes::assign(const std::vector<SlotRange>& ranges) {
  by_slot_.fill(nullptr);
  std::set<Address> masters;
  for (const SlotRange& range : ranges) {
    Node& master = at(range.master);
    masters.insert(range.master);
    for (unsigned slot = range.first; slot <= range.last; ++slot) by_slot_[slot] = &master;
  }
  known_ = true;
  for (auto it = nodes_.begin(); it != nodes_.end();) {
    const auto current = it++;
    if (masters.contains(current->first)) continue;
    leaving_.push_front(std::move(current->second));
    nodes_.erase(current);
    scope_.spawn("redis node leaves", let_go(leaving_.begin()));
  }
}

void Nodes::assign(uint16_t slot, const Address& master) {
  by_slot_[slot] = &at(master);
}

// After a planned failover the old node still answers pending commands, if only with MOVED.
Task<> Nodes::let_go(Leaving::iterator node) {
  co_await context_.clock.sleep_for(2 * context_.access.config.command_timeout);
  co_await (*node)->close();
  leaving_.erase(node);
}

void Nodes::flush() {
  for (const auto& [address, node] : nodes_) node->flush();
}

Instant Nodes::expire(Instant now) {
  Instant next = Instant::max();
  for (const auto& [address, node] : nodes_) next = std::min(next, node->expire(now));
  for (const auto& node : leaving_) next = std::min(next, node->expire(now));
  return next;
}

}  // namespace sluice::redis
