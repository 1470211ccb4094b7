#include "adapters/sqlite/sqlite_journal.h"

#include <algorithm>

#include "base/check.h"
#include "runtime/log.h"
#include "runtime/metrics.h"

namespace sluice::sqlite {

using coordination::Journaled;
using coordination::RecordReader;
using coordination::RecordWriter;

namespace {

const metrics::Counter journal_rows{"journal_rows_total", "Commits with journal records."};
const metrics::Counter journal_bytes{"journal_bytes_total", "Bytes of records written to the journal."};
const metrics::Counter snapshots_total{"journal_snapshots_total", "Snapshots of the journal."};

Bytes blob(std::string_view text) {
  const auto bytes = as_bytes(text);
  return {bytes.begin(), bytes.end()};
}

}  // namespace

Task<> SqliteJournal::load(sql::Database& database) {
  const sql::Rows snapshots = co_await database.read("SELECT part, up_to, records FROM journal_snapshots");
  const sql::Rows rows = co_await database.read("SELECT last, records FROM journal ORDER BY last");
  // The writer may be committing for others meanwhile.
  const std::scoped_lock lock(parts_mutex_, pending_mutex_);
  std::map<std::string, Number> up_to;
  for (const sql::Row& row : snapshots) {
    const auto number = static_cast<Number>(row.integer(1));
    up_to[row.text(0)] = number;
    last_ = std::max(last_, number);
    state_bytes_ += row.bytes(2).size();
    take_snapshot(row.text(0), as_text(row.bytes(2)));
  }
  for (const sql::Row& row : rows) {
    const auto number = static_cast<Number>(row.integer(0));
    last_ = std::max(last_, number);
    rows_bytes_ += row.bytes(1).size();
    take_row(number, as_text(row.bytes(1)), up_to);
  }
  durable_ = last_;
}

void SqliteJournal::take_snapshot(const std::string& name, std::string_view records) {
  Part& part = parts_[name];
  RecordReader reader(records);
  while (!reader.at_end()) part.records.emplace_back(reader.text());
}

void SqliteJournal::take_row(Number last, std::string_view records, const std::map<std::string, Number>& up_to) {
  struct Entry {
    std::string_view part;
    std::string_view record;
  };
  std::vector<Entry> entries;
  RecordReader reader(records);
  while (!reader.at_end()) {
    const std::string_view part = reader.text();
    entries.push_back({part, reader.text()});
  }
  Number number = last - entries.size();
  for (const Entry& entry : entries) {
    ++number;
    const std::string name(entry.part);
    const auto in_snapshot = up_to.find(name);
    if (in_snapshot != up_to.end() && number <= in_snapshot->second) continue;
    parts_[name].records.emplace_back(entry.record);
  }
}

void SqliteJournal::attach(Journaled& part) {
  const std::lock_guard lock(parts_mutex_);
  Part& known = parts_[std::string(part.journal_name())];
  check_that(known.attached == nullptr, "two parts of the journal are named {}", part.journal_name());
  for (const std::string& record : std::exchange(known.records, {})) part.replay(record);
  known.attached = &part;
}

void SqliteJournal::detach(Journaled& part) {
  const std::lock_guard lock(parts_mutex_);
  Part& known = parts_.find(part.journal_name())->second;
  part.snapshot(known.records);
  known.attached = nullptr;
}

void SqliteJournal::refuse_if_full() const {
  if (queue_.full()) throw Overloaded("sqlite");
}

SqliteJournal::Number SqliteJournal::append(const Journaled& part, std::string_view record) {
  const std::lock_guard lock(pending_mutex_);
  pending_.text(part.journal_name()).text(record);
  return ++last_;
}

Task<> SqliteJournal::durable(Number number) {
  if (number <= durable_.load(std::memory_order_acquire)) co_return;
  Write presence{};
  co_await queue_.submit(presence);
  presence.error.rethrow();
  check(number <= durable_.load(std::memory_order_acquire), "a commit did not write all journal records");
}

void SqliteJournal::before_commit(Connection& connection, const Writes&) {
  {
    const std::lock_guard lock(pending_mutex_);
    under_way_.append(pending_.bytes());
    pending_.clear();
    under_way_last_ = last_;
  }
  snapshot_under_way_.reset();
  if (under_way_.bytes().empty()) return;
  if (outgrown()) {
    snapshot_under_way_ = write_snapshot(connection);
    return;
  }
  const sql::Params row(static_cast<int64_t>(under_way_last_), blob(under_way_.bytes()));
  connection.execute("INSERT INTO journal (last, records) VALUES ($1, $2)", row);
}

bool SqliteJournal::outgrown() const {
  return rows_bytes_ + under_way_.bytes().size() > std::max(snapshot_bytes_, 2 * state_bytes_);
}

size_t SqliteJournal::write_snapshot(Connection& connection) {
  size_t size = 0;
  const std::lock_guard lock(parts_mutex_);
  for (const auto& [name, part] : parts_) {
    std::vector<std::string> records = part.records;
    // Records that a part appends after this snapshot have a higher number than both.
    Number up_to = under_way_last_;
    if (part.attached != nullptr) up_to = std::max(up_to, part.attached->snapshot(records));
    RecordWriter state;
    for (const std::string& record : records) state.text(record);
    size += state.bytes().size();
    const sql::Params row(name, static_cast<int64_t>(up_to), blob(state.bytes()));
    connection.execute("INSERT OR REPLACE INTO journal_snapshots (part, up_to, records) VALUES ($1, $2, $3)", row);
  }
  connection.execute("DELETE FROM journal");
  return size;
}

void SqliteJournal::committed() {
  if (under_way_.bytes().empty()) return;
  journal_rows.add();
  journal_bytes.add(under_way_.bytes().size());
  if (snapshot_under_way_) {
    snapshots_total.add();
    state_bytes_ = *snapshot_under_way_;
    rows_bytes_ = 0;
  } else {
    rows_bytes_ += under_way_.bytes().size();
  }
  under_way_.clear();
  durable_.store(under_way_last_, std::memory_order_release);
}

void SqliteJournal::commit_failed(std::string_view reason) {
  check_that(under_way_.bytes().empty(),
             "memory is ahead of the disk because a commit of the journal failed ({}); restart the server", reason);
}

}  // namespace sluice::sqlite
