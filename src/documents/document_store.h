// Stores fetched documents, and decides which instance may fetch one.
//
// Of any number of instances exactly one downloads a document. `claim` decides in one conditional statement; the token
// it returns grows with every claim, and `complete` stores only under the current one, so that a slow owner whose claim
// was taken over writes nothing. Claiming never destroys a copy that could be served. All times are the database's.
//
// A document that was never stored and not listed is there only while it is claimed: nothing is left of it after a
// failed download.
//
// Every implementation passes tests/contract/document_store_contract.cpp and document_changes_contract.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "documents/document.h"
#include "documents/document_path.h"
#include "runtime/task.h"

namespace sluice::documents {

struct DocumentKey {
  std::string origin;
  DocumentPath path;
};

struct DownloadClaim {
  DocumentKey key;
  std::string owner;
  Duration ttl{};
  Duration fresh_for{};
  bool over_fresh = false;        // also where a fresh copy exists
  bool during_hold_down = false;  // also where the last download has failed just now
  bool listed = false;            // by the operator: known from now on, also without a copy
};

struct Acquired {
  int64_t token = 0;
};
struct Cached {};       // a fresh copy is there
struct Downloading {};  // the claim of another owner is live
struct HeldDown {       // the last download failed; not to be tried before
  Time until;
};
using ClaimOutcome = std::variant<Acquired, Cached, Downloading, HeldDown>;

// The state of another owner's download, without the body: polled while waiting.
enum class DownloadState {
  under_way,
  stored,   // a copy exists and is not being replaced
  failed,   // and is held down
  nothing,  // given up: the next caller may try
};

struct Change {
  std::string path;
  int64_t number = 0;
  bool forced = false;
};

class DocumentStore {
 public:
  virtual ~DocumentStore() = default;

  // The stored copy, however old.
  virtual Task<DocumentPtr> find(DocumentKey key) = 0;

  // Whether a copy is stored, or the operator listed it.
  virtual Task<bool> knows(DocumentKey key) = 0;

  virtual Task<DownloadState> download_state(DocumentKey key) = 0;

  virtual Task<ClaimOutcome> claim(DownloadClaim request) = 0;
  // Extends the claim; false if it was lost.
  virtual Task<bool> renew(DocumentKey key, int64_t token, Duration ttl) = 0;
  // Stores the document and ends the claim. Returns it as it is stored now: with the number of this change, the
  // database's time, and the case type that an earlier one may have brought. Null, and nothing stored, if the claim was
  // lost.
  virtual Task<DocumentPtr> complete(DocumentKey key, int64_t token, Document document) = 0;
  // Gives the claim up at once, so that the next caller can try; changes nothing if it was lost.
  virtual Task<> abort(DocumentKey key, int64_t token) = 0;
  // Gives the claim up after a failed download: no retry for `first`, doubling with every consecutive failure up to
  // `longest`.
  virtual Task<> fail(DocumentKey key, int64_t token, Duration first, Duration longest) = 0;
  // Ends claims that have expired, some of them each time. How many; none when there are no more.
  virtual Task<int64_t> sweep() = 0;

  // The highest change number of an origin: one cheap statement, asked every few seconds by every instance.
  virtual Task<int64_t> last_change(std::string origin) = 0;
  // Changes after `number`, oldest first: some of them each time, none when there are no more.
  virtual Task<std::vector<Change>> changes_since(std::string origin, int64_t number) = 0;

  // These documents were asked for lately. Those that are not stored are ignored.
  virtual Task<> note_asked(std::string origin, std::vector<std::string> paths) = 0;
  // Removes some of the documents without a request in `unused_for`, unless they are claimed. Returns how many; none
  // when there are no more.
  virtual Task<int64_t> forget(std::string origin, Duration unused_for) = 0;

  // Forgets the stored copy. False if there was none.
  virtual Task<bool> purge(DocumentKey key) = 0;
};

}  // namespace sluice::documents
