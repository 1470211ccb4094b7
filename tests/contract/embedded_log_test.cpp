#include "adapters/sqlite/embedded_log.h"

#include "adapters/sqlite/embedded_log_view.h"
#include "adapters/sqlite/log_retention.h"
#include "runtime/task_scope.h"
#include "tests/contract/log_view_contract.h"
#include "tests/contract/message_log_contract.h"
#include "tests/support/temporary_folder.h"

namespace sluice::test {
namespace {

class OpenEmbeddedLog : public OpenPort<TestedLog>, public TestedLog {
 public:
  explicit OpenEmbeddedLog(asio::io_context& io) : scope_(io.get_executor()) {
    scope_.spawn("log retention", retention_.run());
  }
  TestedLog& port() override { return *this; }
  messaging::MessageLog& log() override { return log_; }
  messaging::LogView& view() override { return view_; }
  Task<> close() override { return scope_.close(); }

 private:
  TemporaryFolder folder_;
  SystemClock clock_;
  SeededRandom random_{1};
  sqlite::SqliteDatabase database_{{.folder = folder_.path()}, clock_};
  sqlite::EmbeddedLog log_{database_, clock_};
  sqlite::EmbeddedLogView view_{database_, log_};
  sqlite::LogRetention retention_{database_, log_.topics(), clock_, random_, 100ms};
  TaskScope scope_;
};

const PortEngine<TestedLog> embedded{
    .name = "embedded", .open = [](asio::io_context& io) { return std::make_unique<OpenEmbeddedLog>(io); }};

}  // namespace

INSTANTIATE_TEST_SUITE_P(Embedded, MessageLogContract, testing::Values(embedded), port_engine_name);
INSTANTIATE_TEST_SUITE_P(Embedded, MessageGroupsContract, testing::Values(embedded), port_engine_name);
INSTANTIATE_TEST_SUITE_P(Embedded, LogViewContract, testing::Values(embedded), port_engine_name);

}  // namespace sluice::test
