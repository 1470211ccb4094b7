#include "adapters/sqlite/sqlite_config.h"

#include "runtime/config_section.h"

namespace sluice::sqlite {

void SqliteOptions::describe(config::Section<SqliteOptions>& section) {
  section.key("readers", &SqliteOptions::readers, "Threads for reads.").between(1, 64);
  section.key("max_unanswered_writes", &SqliteOptions::max_unanswered_writes, "Limit on pending writes; more get 503.")
      .at_least(1);
  section.key("max_waiting_reads", &SqliteOptions::max_waiting_reads, "Limit on waiting reads; more get 503.")
      .at_least(1);
  section.key("read_time_limit", &SqliteOptions::read_time_limit, "Time limit for a read.").at_least(1ms);
}

}  // namespace sluice::sqlite
