// A document as JSON.
#pragma once

#include <optional>
#include <string_view>

#include "base/json.h"
#include "documents/document.h"

namespace sluice::api {

// A view: what it refers to outlives it.
struct DocumentView {
  std::string_view origin;
  std::string_view path;
  const documents::Served* served = nullptr;
  bool was_asked_for = false;  // by a request to download it

  static void describe(json::Object<DocumentView>& object);
};

}  // namespace sluice::api
