// Documents: one download for any number of readers.
//
// The entry to all origins. Callers wait on their own thread, and a hit in memory is answered there; work with a
// database, a file or an origin is done on the origins' executor.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "documents/origin_documents.h"
#include "runtime/offload.h"

namespace sluice::documents {

// Safe to call from any thread once started.
class Documents {
 public:
  // Everything given outlives it.
  Documents(DocumentStore& store, Clock& clock, Random& random, TaskScope& scope, Executor executor,
            Offload& form_threads);

  // Before start, with the same store.
  void add(OriginConfig config, OriginParts parts);
  // Follows changes by other instances, ends expired claims and removes unused documents, for as long as the scope
  // lasts. On the executor.
  void start();

  bool knows(const std::string& origin) const { return origins_.contains(origin); }
  std::vector<std::string> names() const;

  // The origin must be known. `traceparent` is that of the reader's request, for the origin to see.
  Task<Lookup> get(std::string origin, DocumentPath path, bool fetch, Deadline deadline = {},
                   std::string traceparent = {});
  Task<Lookup> refresh(std::string origin, RefreshRequest request, Deadline deadline = {});
  Task<bool> purge(std::string origin, DocumentPath path);

  // A copy as it is sent: compressed, or as JSON.
  struct Form {
    DocumentPtr document;
    std::string name;                   // forms of one document with the same name are the same bytes
    std::function<std::string()> make;  // owns everything it uses
  };
  // The form, made once for all callers, on separate threads, and kept beside the copy in memory.
  Task<http::SharedBytes> form(std::string origin, DocumentPath path, Form form);

 private:
  OriginDocuments& origin(const std::string& name) const { return *origins_.at(name); }

  Task<> sweep();
  Task<http::SharedBytes> make_form(MemoryCopies& copies, DocumentPath path, Form form);

  DocumentStore& store_;
  Clock& clock_;
  Random& random_;
  TaskScope& scope_;
  Executor executor_;
  Offload& form_threads_;
  coordination::SingleFlight<http::SharedBytes> forms_;  // being made
  Duration shortest_claim_ = Duration::max();
  std::map<std::string, std::unique_ptr<OriginDocuments>> origins_;
};

}  // namespace sluice::documents
