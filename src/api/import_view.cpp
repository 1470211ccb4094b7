#include "api/import_view.h"

#include "base/json.h"

namespace sluice::api {

const std::string_view import_schema =
    R"({"type":"object","required":["id","status","totalItems","processedItems","failedItems","createdAt","startedAt",)"
    R"("finishedAt","lastError"],"properties":{"id":{"type":"string","format":"uuid"},)"
    R"("status":{"type":"string","enum":["queued","running","succeeded","failed","canceled"]},)"
    R"("totalItems":{"type":"integer","minimum":0},"processedItems":{"type":"integer","minimum":0},)"
    R"("failedItems":{"type":"integer","minimum":0},"createdAt":{"type":"string","format":"date-time"},)"
    R"("startedAt":{"type":["string","null"],"format":"date-time"},)"
    R"("finishedAt":{"type":["string","null"],"format":"date-time"},"lastError":{"type":["string","null"]}}})";

std::string import_json(const links::Import& import) {
  std::string text;
  json::Writer writer(text);
  writer.begin_object().field("id", import.id).field("status", import.status);
  writer.field("totalItems", import.total_items).field("processedItems", import.processed_items);
  writer.field("failedItems", import.failed_items).field("createdAt", import.created_at);
  writer.field("startedAt", import.started_at).field("finishedAt", import.finished_at);
  writer.field("lastError", import.last_error).end_object();
  return text;
}

}  // namespace sluice::api
