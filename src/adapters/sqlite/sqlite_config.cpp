#include "adapters/sqlite/sqlite_database.h"
#include "runtime/config_section.h"

namespace sluice::sqlite {

void SqliteOptions::describe(config::Section<SqliteOptions>& section) {
  section.text(
      "folder", [](const SqliteOptions& options) { return options.folder.string(); },
      [](SqliteOptions& options, const std::string& text) {
        options.folder = text;
        return !text.empty();
      },
      "the path of a folder", "Where the embedded database lives; made if it is missing.");
  section.key("readers", &SqliteOptions::readers, "Threads that read.").between(1, 64);
  section.key("max_unanswered_writes", &SqliteOptions::max_unanswered_writes, "Writes under way; more get 503.")
      .at_least(1);
  section.key("max_waiting_reads", &SqliteOptions::max_waiting_reads, "Reads that wait; more get 503.").at_least(1);
}

}  // namespace sluice::sqlite
