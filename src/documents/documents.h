// Documents: one download, however many readers.
//
// The door to all origins. Whoever asks waits on their own thread, and a hit in memory is answered there; what needs a
// database, a file or an origin is done on the executor that the origins live on.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "documents/origin_documents.h"

namespace sluice::documents {

// Safe to call from any thread once started.
class Documents {
 public:
  // Everything given outlives it.
  Documents(DocumentStore& store, Clock& clock, Random& random, TaskScope& scope, Executor executor);

  // Before start, with the same store.
  void add(OriginConfig config, OriginParts parts);
  // Learns of changes by other instances, ends expired claims and forgets what nobody asks for, for as long as the
  // scope lasts. On the executor.
  void start();

  bool knows(const std::string& origin) const { return origins_.contains(origin); }

  // The origin must be known.
  Task<Lookup> get(std::string origin, DocumentPath path, bool fetch, Deadline deadline = {});
  Task<Lookup> refresh(std::string origin, RefreshRequest request, Deadline deadline = {});
  Task<bool> purge(std::string origin, DocumentPath path);
  // Has the body of `document` kept compressed beside the copy in memory, for the next one to be served with it.
  void keep_gzip(const std::string& origin, const DocumentPath& path, const DocumentPtr& document,
                 http::SharedBytes gzip);

 private:
  OriginDocuments& origin(const std::string& name) const { return *origins_.at(name); }

  Task<> sweep();

  DocumentStore& store_;
  Clock& clock_;
  Random& random_;
  TaskScope& scope_;
  Executor executor_;
  Duration shortest_claim_ = Duration::max();
  std::map<std::string, std::unique_ptr<OriginDocuments>> origins_;
};

}  // namespace sluice::documents
