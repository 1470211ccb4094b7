// The copies of one origin's documents: in memory, shipped with the configuration, in the database.
//
// The nearest copy is served. A row made by forceRefresh outranks the static file. Changes by other instances are
// learned within seconds, so that no old copy in memory outlives them for long; this process's own fresh copies stay,
// because every copy has the number of the change that made it.
#pragma once

#include <optional>
#include <string>
#include <unordered_set>

#include "documents/memory_copies.h"
#include "documents/origin_parts.h"

namespace sluice::documents {

// Belongs to the origin's executor, except where a method says otherwise. Configuration and parts outlive it.
class OriginCopies {
 public:
  OriginCopies(const OriginConfig& config, const OriginParts& parts);

  // From any thread: the copy in memory while it is fresh, and all copies there with their forms.
  std::optional<Served> fresh_in_memory(const DocumentPath& path);
  MemoryCopies& in_memory() { return memory_; }

  // Memory, static file, database: the first copy that is usable and, if asked for, fresh.
  Task<std::optional<Served>> nearest(DocumentPath path, bool must_be_fresh);
  // The copy to serve when the document cannot be fetched, however old: the static file, else the last good copy, else
  // the static file that was outranked.
  Task<std::optional<Served>> last(DocumentPath path);
  // The same if the database is unavailable too.
  Task<std::optional<Served>> last_without_database(DocumentPath path);
  // The usable copy in the database.
  Task<DocumentPtr> stored(DocumentPath path);
  // Whether there is a copy anywhere, usable or not, or the operator listed it.
  Task<bool> knows(DocumentPath path);

  // A download of this process was stored.
  void remember(const DocumentPath& path, const DocumentPtr& document);
  Task<bool> purge(DocumentPath path);
  // Checks once for changes by other instances.
  Task<> learn_changes();
  // Records in the database which documents were requested since the last call, so that they are not removed.
  Task<> note_asked();

  bool fresh(const Document& document) const;

 private:
  bool usable(const Document& document) const;
  Task<std::optional<Served>> at_hand(DocumentPath path);
  Task<std::optional<Served>> outranked(DocumentPath path);
  // The usable static file unless it is outranked, and in any case.
  Task<DocumentPtr> static_copy(DocumentPath path);
  Task<DocumentPtr> shipped(DocumentPath path);
  void keep(const DocumentPath& path, const DocumentPtr& document, int64_t seen_change);
  void learn(const Change& change);
  DocumentKey key(const DocumentPath& path) const { return {config_.name, path}; }

  const OriginConfig& config_;
  const OriginParts& parts_;
  MemoryCopies memory_;
  std::unordered_set<std::string> outranks_static_;
  std::unordered_set<std::string> asked_;  // and found in the database
  int64_t known_change_ = 0;
};

}  // namespace sluice::documents
