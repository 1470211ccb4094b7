#include "http/server/server_state.h"

#include <random>

#include <fmt/chrono.h>

namespace sluice::http {

namespace {

// The network that counts as one client.
Address counted(const Address& address) {
  if (address.is_v4()) return address;
  const asio::ip::address_v6 v6 = address.to_v6();
  if (v6.is_v4_mapped()) return asio::ip::make_address_v4(asio::ip::v4_mapped, v6);
  auto bytes = v6.to_bytes();
  std::fill(bytes.begin() + 8, bytes.end(), uint8_t{0});
  return asio::ip::address_v6(bytes);
}

}  // namespace

bool ConnectionSlots::Slot::count_for(const Address& address) {
  if (slots_->max_per_address_ == 0) return true;
  auto client = std::make_unique<Address>(counted(address));
  if (!slots_->add(*client)) return false;
  address_ = std::move(client);
  return true;
}

void ConnectionSlots::Slot::give_back() {
  if (!slots_) return;
  if (address_) slots_->remove(*address_);
  slots_->open_.fetch_sub(1, std::memory_order_relaxed);
  connections_gauge().add(-1);
  slots_.reset();
}

std::optional<ConnectionSlots::Slot> ConnectionSlots::take() {
  if (open_.fetch_add(1, std::memory_order_relaxed) >= max_) {
    open_.fetch_sub(1, std::memory_order_relaxed);
    return std::nullopt;
  }
  connections_gauge().add(1);
  return Slot(shared_from_this());
}

bool ConnectionSlots::add(const Address& address) {
  const std::lock_guard lock(mutex_);
  size_t& of_address = by_address_[address];
  if (of_address >= max_per_address_) {
    count_rejected("connections_per_address");
    return false;
  }
  ++of_address;
  return true;
}

void ConnectionSlots::remove(const Address& address) {
  const std::lock_guard lock(mutex_);
  const auto found = by_address_.find(address);
  if (--found->second == 0) by_address_.erase(found);
}

ServerState::ServerState(ServerConfig server_config, Router server_router, Clock& server_clock)
    : config(std::move(server_config)),
      router(std::move(server_router)),
      clock(server_clock),
      trusted_proxies(config.trusted_proxies),
      proxy_protocol_from(config.proxy_protocol_from),
      slots(std::make_shared<ConnectionSlots>(config.max_connections, config.max_connections_per_address)),
      body_memory(config.body_memory) {
  for (size_t i = 0; i < unmatched_.size(); ++i) {
    const std::string_view method = i < 7 ? name(static_cast<Method>(i)) : "OTHER";
    unmatched_[i] = std::make_unique<RouteMetrics>(method, "none");
  }
}

ThreadState::ThreadState(ServerState& server_state, asio::io_context& loop)
    : server(server_state),
      context(loop),
      wheel(server.config.tick),
      random(std::random_device{}()) {  // allowed: request ids must differ between processes
  refresh_date();
}

void ThreadState::refresh_date() {
  const auto second = std::chrono::floor<std::chrono::seconds>(server.clock.wall());
  if (second.time_since_epoch().count() == date_second_) return;
  date_second_ = second.time_since_epoch().count();
  date = fmt::format("Date: {:%a, %d %b %Y %H:%M:%S} GMT\r\n", fmt::gmtime(static_cast<std::time_t>(date_second_)));
}

Gzip& ThreadState::gzip() {
  if (!gzip_) gzip_ = std::make_unique<Gzip>();
  return *gzip_;
}

}  // namespace sluice::http
