#include "api/import_view.h"

namespace sluice::links {

void describe(json::Object<Import>& object) {
  object.required("id", &Import::id);
  object.required("status", &Import::status);
  object.required("totalItems", &Import::total_items).at_least(0);
  object.required("processedItems", &Import::processed_items).at_least(0);
  object.required("failedItems", &Import::failed_items).at_least(0);
  object.required("createdAt", &Import::created_at);
  object.required("startedAt", &Import::started_at);
  object.required("finishedAt", &Import::finished_at);
  object.required("lastError", &Import::last_error);
}

}  // namespace sluice::links
