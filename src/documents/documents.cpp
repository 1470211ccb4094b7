#include "documents/documents.h"

#include <boost/asio/co_spawn.hpp>

#include "runtime/retry.h"

namespace sluice::documents {

Documents::Documents(DocumentStore& store, Clock& clock, Random& random, TaskScope& scope, Executor executor)
    : store_(store), clock_(clock), random_(random), scope_(scope), executor_(std::move(executor)) {}

void Documents::add(OriginConfig config, OriginParts parts) {
  shortest_claim_ = std::min(shortest_claim_, config.claim_ttl);
  const std::string name = config.name;
  origins_.emplace(name, std::make_unique<OriginDocuments>(std::move(config), std::move(parts), scope_, executor_));
}

void Documents::start() {
  for (const auto& [name, origin] : origins_) origin->start();
  if (origins_.empty()) return;
  scope_.spawn("document claims", run_forever("document-sweep", clock_, random_, [this] { return sweep(); }));
}

// Of all origins at once: that is what a store sweeps.
Task<> Documents::sweep() {
  co_await store_.sweep();
  co_await clock_.sleep_for(shortest_claim_);
}

Task<Lookup> Documents::get(std::string origin_name, DocumentPath path, bool fetch, Deadline deadline) {
  OriginDocuments& from = origin(origin_name);
  if (std::optional<Served> copy = from.in_memory(path)) co_return std::move(*copy);
  co_return co_await from.get(std::move(path), fetch, deadline);
}

Task<Lookup> Documents::refresh(std::string origin_name, RefreshRequest request, Deadline deadline) {
  return origin(origin_name).refresh(std::move(request), deadline);
}

Task<bool> Documents::purge(std::string origin_name, DocumentPath path) {
  OriginDocuments& from = origin(origin_name);
  co_return co_await asio::co_spawn(executor_, from.purge(std::move(path)), asio::use_awaitable);
}

void Documents::keep_gzip(const std::string& origin_name, const DocumentPath& path, const DocumentPtr& document,
                          http::SharedBytes gzip) {
  origin(origin_name).keep_gzip(path, document, std::move(gzip));
}

}  // namespace sluice::documents
