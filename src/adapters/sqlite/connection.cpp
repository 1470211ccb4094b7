#include "adapters/sqlite/connection.h"

#include <charconv>

#include <sqlite3.h>

#include "adapters/sql/driver/database.h"
#include "adapters/sqlite/errors.h"
#include "base/check.h"

namespace sluice::sqlite {
namespace {

// Statements are constants of the program, a few hundred at most; the bound guards against generated ones.
constexpr size_t max_prepared = 1000;

// Kept free in the WAL's file after a checkpoint; beyond it the file is cut.
constexpr std::string_view pragmas[] = {
    "PRAGMA journal_mode = WAL",   "PRAGMA synchronous = FULL",     "PRAGMA journal_size_limit = 67108864",
    "PRAGMA foreign_keys = ON",    "PRAGMA wal_autocheckpoint = 0", "PRAGMA temp_store = MEMORY",
    "PRAGMA trusted_schema = OFF",
};

void bind_value(sqlite3_stmt* statement, int index, const sql::Value& value) {
  // The parameters outlive the run, so nothing is copied. An empty blob needs an address all the same: a null one would
  // mean NULL.
  struct Bind {
    sqlite3_stmt* statement;
    int index;
    int operator()(sql::Null) const { return sqlite3_bind_null(statement, index); }
    int operator()(bool truth) const { return sqlite3_bind_int64(statement, index, truth ? 1 : 0); }
    int operator()(int64_t number) const { return sqlite3_bind_int64(statement, index, number); }
    int operator()(double number) const { return sqlite3_bind_double(statement, index, number); }
    int operator()(const std::string& text) const {
      return sqlite3_bind_text64(statement, index, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
    }
    int operator()(const Bytes& bytes) const {
      const void* address = bytes.empty() ? static_cast<const void*>("") : bytes.data();
      return sqlite3_bind_blob64(statement, index, address, bytes.size(), SQLITE_STATIC);
    }
    int operator()(Time time) const { return sqlite3_bind_int64(statement, index, time.time_since_epoch().count()); }
    int operator()(const Uuid& uuid) const {
      return sqlite3_bind_blob64(statement, index, uuid.bytes.data(), uuid.bytes.size(), SQLITE_STATIC);
    }
    int operator()(const sql::Array&) const { return SQLITE_MISMATCH; }
  };
  const int code = std::visit(Bind{statement, index}, value);
  if (code != SQLITE_OK) throw_error(code, sqlite3_errstr(code), sqlite3_sql(statement));
}

sql::Value column_value(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER: return int64_t{sqlite3_column_int64(statement, column)};
    case SQLITE_FLOAT: return sqlite3_column_double(statement, column);
    case SQLITE_TEXT: {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
      return std::string(text, static_cast<size_t>(sqlite3_column_bytes(statement, column)));
    }
    case SQLITE_BLOB: {
      const auto* bytes = static_cast<const uint8_t*>(sqlite3_column_blob(statement, column));
      return Bytes(bytes, bytes + sqlite3_column_bytes(statement, column));
    }
    default: return sql::Null{};
  }
}

sql::Row current_row(sqlite3_stmt* statement) {
  const int count = sqlite3_column_count(statement);
  std::vector<sql::Value> values;
  values.reserve(static_cast<size_t>(count));
  for (int column = 0; column < count; ++column) values.push_back(column_value(statement, column));
  return sql::Row(std::move(values));
}

}  // namespace

struct Connection::Prepared {
  explicit Prepared(sqlite3_stmt* prepared) : statement(prepared), writes(sqlite3_stmt_readonly(prepared) == 0) {}
  ~Prepared() { sqlite3_finalize(statement); }
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;

  sqlite3_stmt* statement;
  bool writes;
  // For each of SQLite's parameters, in its order of appearance, the n of "$n".
  std::vector<size_t> numbers;
};

Connection::Connection(const std::filesystem::path& file, Use use, Duration busy_timeout) {
  // No mutex: a connection is used by one thread at a time.
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (use == Use::write ? SQLITE_OPEN_CREATE : 0);
  const int opened = sqlite3_open_v2(file.c_str(), &handle_, flags, nullptr);
  try {
    if (opened != SQLITE_OK) {
      throw EngineUnavailable("sqlite", fmt::format("cannot open {}: {}", file.string(), sqlite3_errstr(opened)));
    }
    sqlite3_extended_result_codes(handle_, 1);
    sqlite3_busy_timeout(handle_, static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(busy_timeout).count()));
    // Constant within a transaction, which is all that "deterministic" asks for.
    sqlite3_create_function_v2(handle_, "now", 0, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, this,
                               &Connection::now_function, nullptr, nullptr, nullptr);
    for (const std::string_view pragma : pragmas) execute(pragma);
    if (use == Use::read) execute("PRAGMA query_only = ON");
  } catch (...) {
    prepared_.clear();
    sqlite3_close(handle_);
    throw;
  }
}

Connection::~Connection() {
  prepared_.clear();
  const int closed = sqlite3_close(handle_);
  check_that(closed == SQLITE_OK, "closing SQLite: {}", sqlite3_errstr(closed));
}

sql::Rows Connection::execute(std::string_view text, const sql::Params& params) {
  Prepared& prepared = prepare(text);
  const std::vector<sql::Value>& values = params.values();
  for (size_t i = 0; i < prepared.numbers.size(); ++i) {
    const size_t number = prepared.numbers[i];
    if (number > values.size()) throw sql::StatementError(fmt::format("no value for ${} in: {}", number, text));
    bind_value(prepared.statement, static_cast<int>(i) + 1, values[number - 1]);
  }

  sql::Rows rows;
  int code = sqlite3_step(prepared.statement);
  for (; code == SQLITE_ROW; code = sqlite3_step(prepared.statement)) {
    rows.rows.push_back(current_row(prepared.statement));
  }
  if (code != SQLITE_DONE) {
    const std::string message = sqlite3_errmsg(handle_);
    sqlite3_reset(prepared.statement);
    throw_error(code, message, text);
  }
  if (prepared.writes) rows.affected = sqlite3_changes64(handle_);
  sqlite3_reset(prepared.statement);
  return rows;
}

Connection::Prepared& Connection::prepare(std::string_view text) {
  const auto known = prepared_.find(text);
  if (known != prepared_.end()) return *known->second;

  sqlite3_stmt* statement = nullptr;
  const char* tail = nullptr;
  const int code = sqlite3_prepare_v3(handle_, text.data(), static_cast<int>(text.size()), SQLITE_PREPARE_PERSISTENT,
                                      &statement, &tail);
  if (code != SQLITE_OK) throw_error(code, sqlite3_errmsg(handle_), text);
  if (statement == nullptr) throw sql::StatementError(fmt::format("the statement is empty: {}", text));
  auto prepared = std::make_unique<Prepared>(statement);
  const std::string_view rest(tail, text.data() + text.size());
  if (rest.find_first_not_of(" \t\r\n;") != std::string_view::npos) {
    throw sql::StatementError(fmt::format("the text has more than one statement: {}", text));
  }
  for (int i = 1; i <= sqlite3_bind_parameter_count(statement); ++i) {
    const char* name = sqlite3_bind_parameter_name(statement, i);
    const std::string_view digits = name == nullptr || name[0] != '$' ? "" : std::string_view(name).substr(1);
    size_t number = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (number == 0) throw sql::StatementError(fmt::format("parameters must be written $1, $2, ...: {}", text));
    prepared->numbers.push_back(number);
  }
  if (prepared_.size() >= max_prepared) prepared_.clear();
  return *prepared_.emplace(std::string(text), std::move(prepared)).first->second;
}

bool Connection::in_transaction() const {
  return sqlite3_get_autocommit(handle_) == 0;
}

void Connection::on_commit(std::function<void(int)> hook) {
  on_commit_ = std::move(hook);
  sqlite3_wal_hook(handle_, &Connection::commit_hook, this);
}

void Connection::checkpoint(Checkpoint mode) {
  const int sqlite_mode = mode == Checkpoint::passive ? SQLITE_CHECKPOINT_PASSIVE : SQLITE_CHECKPOINT_RESTART;
  const int code = sqlite3_wal_checkpoint_v2(handle_, nullptr, sqlite_mode, nullptr, nullptr);
  if (code != SQLITE_OK && (code & 0xff) != SQLITE_BUSY) throw_error(code, sqlite3_errmsg(handle_), "checkpoint");
}

void Connection::now_function(sqlite3_context* context, int, sqlite3_value**) {
  const auto* self = static_cast<const Connection*>(sqlite3_user_data(context));
  sqlite3_result_int64(context, self->now_.time_since_epoch().count());
}

void Connection::set_deadline(const Clock& clock, Deadline deadline) {
  // So many of SQLite's steps take about a tenth of a millisecond.
  constexpr int steps = 10'000;
  if (clock_ == nullptr) sqlite3_progress_handler(handle_, steps, &Connection::past_deadline, this);
  clock_ = &clock;
  deadline_ = deadline;
}

int Connection::past_deadline(void* self) {
  const auto* connection = static_cast<const Connection*>(self);
  return connection->deadline_.passed(*connection->clock_) ? 1 : 0;
}

int Connection::commit_hook(void* self, sqlite3*, const char*, int pages) {
  static_cast<Connection*>(self)->on_commit_(pages);
  return SQLITE_OK;
}

}  // namespace sluice::sqlite
