// Notifies watchers that imports have changed.
//
// The code that ends a link passes on the imports that the store says have changed, so that their watchers see it at
// once. Correctness never depends on it: another process may have ended the link, and watchers also poll.
#pragma once

#include <vector>

#include "links/import.h"

namespace sluice::links {

class ImportNews {
 public:
  virtual ~ImportNews() = default;

  // As they are now. From any thread; neither waits nor fails.
  virtual void changed(const std::vector<Import>& imports) = 0;
};

}  // namespace sluice::links
