#include "api/document_view.h"

namespace sluice::api {
namespace {

std::optional<bool> from_cache(const DocumentView& view) {
  if (!view.was_asked_for) return std::nullopt;
  return view.served->from_cache;
}

std::optional<bool> degraded(const DocumentView& view) {
  if (!view.served->degraded) return std::nullopt;
  return true;
}

}  // namespace

void DocumentView::describe(json::Object<DocumentView>& object) {
  using Text = const std::string&;
  using OptionalText = const std::optional<std::string>&;
  object.required("origin", &DocumentView::origin);
  object.required("path", &DocumentView::path);
  object.required("content", [](const DocumentView& view) -> Text { return view.served->document->body; });
  object.required("caseType",
                  [](const DocumentView& view) -> OptionalText { return view.served->document->case_type; });
  object.required("source", [](const DocumentView& view) { return view.served->source; });
  object.required("cachedAt", [](const DocumentView& view) { return view.served->document->fetched_at; });
  object.optional("fromCache", from_cache).omit_null();
  object.optional("degraded", degraded).omit_null();
  object.optional("reason", [](const DocumentView& view) { return view.served->degraded; }).omit_null();
}

}  // namespace sluice::api
