// Stores links: one for each canonical URL, with its page facts and its places in the folders of users.
//
// Every implementation passes tests/contract/link_store_contract.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "links/canonical_url.h"
#include "links/import.h"
#include "links/link_failure.h"
#include "links/page_facts.h"
#include "runtime/task.h"

namespace sluice::links {

struct InstanceTag;
using InstanceId = Id<InstanceTag>;

// A link as its owner sees it.
struct OwnedLink {
  InstanceId id;
  std::string folder;
  std::string title;  // as bookmarked
  std::string url;
  PageFacts facts{};
  std::optional<Time> fetched_at{};        // nothing until it was enriched
  std::optional<FailureReason> failure{};  // why it could not be, the last time
};

struct LinkPage {
  std::vector<OwnedLink> links;      // oldest first
  std::optional<InstanceId> next{};  // where the next page begins, if there is one
};

class LinkStore {
 public:
  virtual ~LinkStore() = default;

  // Stores the facts. Returns the imports that waited for the link, in their new state. Repeating it changes no import
  // again; an unknown link is ignored.
  virtual Task<std::vector<Import>> enriched(LinkId link, PageFacts facts) = 0;

  // It will not be tried again. Facts found earlier stay.
  virtual Task<std::vector<Import>> failed(LinkId link, FailureReason reason) = 0;

  // The owner's links, of one folder or of all of them, from `from` on.
  virtual Task<LinkPage> list(OwnerId owner, std::optional<std::string> folder, std::optional<InstanceId> from,
                              size_t most) = 0;
};

}  // namespace sluice::links
