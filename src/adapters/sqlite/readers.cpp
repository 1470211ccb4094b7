#include "adapters/sqlite/readers.h"

namespace sluice::sqlite {

Readers::Readers(const std::filesystem::path& file, unsigned count, size_t max_waiting, Duration time_limit,
                 const Clock& clock)
    : clock_(clock), time_limit_(time_limit), threads_("sqlite", count, max_waiting) {
  for (unsigned i = 0; i < count; ++i) {
    free_.push_back(std::make_unique<Connection>(file, Connection::Use::read, Duration{5s}));
  }
}

Task<sql::Rows> Readers::read(sql::Statement statement, sql::Params params) {
  const auto work = [this, statement, &params] { return read_here(statement, params); };
  sql::Rows rows = co_await threads_.run(work);
  co_return rows;
}

sql::Rows Readers::read_here(sql::Statement statement, const sql::Params& params) {
  std::unique_ptr<Connection> connection;
  {
    const std::lock_guard lock(mutex_);
    connection = std::move(free_.back());
    free_.pop_back();
  }
  struct GiveBack {
    ~GiveBack() {
      const std::lock_guard lock(readers.mutex_);
      readers.free_.push_back(std::move(connection));
    }
    Readers& readers;
    std::unique_ptr<Connection>& connection;
  };
  const GiveBack give_back{*this, connection};
  connection->set_now(clock_.wall());
  connection->set_deadline(clock_, Deadline::after(clock_, time_limit_));
  return connection->execute(statement.text(sql::Dialect::sqlite), params);
}

}  // namespace sluice::sqlite
