// Looking into the embedded log. A visitor sees no members: those are in the memory of the file's owner.
#pragma once

#include "adapters/sqlite/log/embedded_log.h"
#include "adapters/sqlite/log/log_bounds.h"
#include "adapters/sqlite/log/log_reading.h"
#include "messaging/log_view.h"

namespace sluice::sqlite {

class EmbeddedLogView final : public messaging::LogView {
 public:
  // Both outlive it.
  EmbeddedLogView(sql::Database& database, EmbeddedLog& log) : database_(database), log_(log), bounds_(database) {}

  Task<std::vector<messaging::TopicView>> topics() override;
  Task<std::vector<messaging::GroupView>> groups() override;
  Task<std::vector<messaging::Delivery>> read(std::string topic, int32_t partition, int64_t from, size_t most) override;
  Task<> trim(std::string topic, int32_t partition, int64_t before) override;

 private:
  Task<std::optional<LogTopics::Place>> find(std::string topic, int32_t partition);
  Task<> measure_lags(std::vector<messaging::GroupView>& groups);

  sql::Database& database_;
  EmbeddedLog& log_;
  LogBounds bounds_;
};

}  // namespace sluice::sqlite
