// Makes in-memory state survive a crash.
//
// Some state changes so often that a row for each change would cost too much, and is small enough to live in memory.
// Its owner changes memory first and appends the result as a record; the records of all owners go to the disk together,
// in the next commit of the database. An answer is given when everything it depends on is on the disk. That holds for
// refusals too: a caller that is told that a lease is taken must not find it free after a crash. Memory is ahead of the
// disk for as long as a commit takes, so a failed commit ends the process: memory cannot be rolled back to the state on
// the disk.
//
// From time to time the owners are asked for a snapshot, and the records before it are dropped.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/task.h"

namespace sluice::coordination {

// Counts records, in the order of their changes. 0 is before the first.
using JournalNumber = uint64_t;

// State in memory that a journal brings back.
//
// A record tells the result of a change ("held by A until T"), not the wish ("acquire"), so that replaying needs
// neither the clock nor the rules of the day. Records are appended under the lock that orders the changes.
class Journaled {
 public:
  virtual ~Journaled() = default;

  // Finds its records again after a restart; a word that no other part has.
  virtual std::string_view journal_name() const = 0;

  // Takes a change over from the time before the restart. Called in order, before anything else happens.
  virtual void replay(std::string_view record) = 0;

  // Adds records that build the current state from nothing, and returns the number of its last change. Called on the
  // journal's thread, whose commits wait meanwhile; nothing may be appended from inside.
  virtual JournalNumber snapshot(std::vector<std::string>& records) const = 0;
};

// Safe to use from any thread.
class Journal {
 public:
  virtual ~Journal() = default;

  // Replays the records of the part; it may append from then on.
  virtual void attach(Journaled& part) = 0;
  // Detaches the part; its records are kept for the next one of its name.
  virtual void detach(Journaled& part) = 0;

  // Throws Overloaded while too many wait for the disk. Called before a change, since afterwards it is too late.
  virtual void refuse_if_full() const = 0;

  // Called under the part's lock. Durable later; see `durable`.
  virtual JournalNumber append(const Journaled& part, std::string_view record) = 0;

  // Returns when all records up to `number` are on the disk. If that is not known in time it throws EngineUnavailable;
  // the change is in memory and goes to the disk with the next successful commit.
  virtual Task<> durable(JournalNumber number) = 0;
};

}  // namespace sluice::coordination
