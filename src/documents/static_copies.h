// Copies that were shipped with the configuration.
#pragma once

#include "documents/document.h"
#include "documents/document_path.h"
#include "runtime/task.h"

namespace sluice::documents {

class StaticCopies {
 public:
  virtual ~StaticCopies() = default;
  // Nothing where there is no such file. Never reads outside its folder, links included.
  virtual Task<DocumentPtr> find(DocumentPath path) = 0;
};

}  // namespace sluice::documents
