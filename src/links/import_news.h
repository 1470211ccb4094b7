// Who wants to hear that imports have changed.
//
// Whoever ended a link tells what the store said of the imports that waited for it, so that those who watch one see it
// at once. It is never relied on: another process may have ended the link, and who watches also looks now and then.
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
