#include "documents/documents.h"

#include <boost/asio/co_spawn.hpp>
#include <fmt/format.h>

#include "runtime/retry.h"

namespace sluice::documents {
namespace {

const metrics::Counter forms_made{"document_forms_made_total", "Documents compressed or encoded as JSON."};

}  // namespace

Documents::Documents(DocumentStore& store, Clock& clock, Random& random, TaskScope& scope, Executor executor,
                     Offload& form_threads)
    : store_(store),
      clock_(clock),
      random_(random),
      scope_(scope),
      executor_(std::move(executor)),
      form_threads_(form_threads),
      forms_(scope_, executor_) {}

std::vector<std::string> Documents::names() const {
  std::vector<std::string> names;
  for (const auto& [name, documents] : origins_) names.push_back(name);
  return names;
}

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

// For all origins at once, as the store sweeps.
Task<> Documents::sweep() {
  int64_t ended = 1;
  while (ended > 0) ended = co_await store_.sweep();
  co_await clock_.sleep_for(shortest_claim_);
}

Task<Lookup> Documents::get(std::string origin_name, DocumentPath path, bool fetch, Deadline deadline,
                            std::string traceparent) {
  OriginDocuments& from = origin(origin_name);
  if (std::optional<Served> copy = from.in_memory(path)) co_return std::move(*copy);
  co_return co_await from.get(std::move(path), fetch, deadline, std::move(traceparent));
}

Task<Lookup> Documents::refresh(std::string origin_name, RefreshRequest request, Deadline deadline) {
  return origin(origin_name).refresh(std::move(request), deadline);
}

Task<bool> Documents::purge(std::string origin_name, DocumentPath path) {
  OriginDocuments& from = origin(origin_name);
  co_return co_await asio::co_spawn(executor_, from.purge(std::move(path)), asio::use_awaitable);
}

Task<http::SharedBytes> Documents::form(std::string origin_name, DocumentPath path, Form form) {
  MemoryCopies& copies = origin(origin_name).copies_in_memory();
  if (http::SharedBytes kept = copies.find_form(path.text(), form.document, form.name)) co_return kept;
  // The flight holds the document, so that its address is not reused meanwhile.
  std::string flight = fmt::format("{} of {}", form.name, static_cast<const void*>(form.document.get()));
  const auto work = [&] { return make_form(copies, std::move(path), std::move(form)); };
  co_return co_await forms_.run(std::move(flight), work);
}

Task<http::SharedBytes> Documents::make_form(MemoryCopies& copies, DocumentPath path, Form form) {
  // It may have been made since it was looked for.
  if (http::SharedBytes kept = copies.find_form(path.text(), form.document, form.name)) co_return kept;
  std::string bytes = co_await form_threads_.run(std::move(form.make));
  forms_made.with({}).add();
  http::SharedBytes made = std::make_shared<const std::string>(std::move(bytes));
  copies.keep_form(path.text(), form.document, std::move(form.name), made);
  co_return made;
}

}  // namespace sluice::documents
