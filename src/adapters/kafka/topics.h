// Topics and groups as the brokers know them. Blocking calls are for threads that may wait (Instances::offload).
#pragma once

#include <vector>

#include "adapters/kafka/admin.h"
#include "messaging/log_view.h"

namespace sluice::kafka {

// Creates missing topics, and sets retentions and the largest accepted batch. Blocks. Topics are usable when
// `are_served`.
void declare_topics(const Admin& admin, const std::vector<messaging::Topic>& topics, size_t largest_batch);

// Whether each partition of these topics has a leader that answers. Blocks.
bool are_served(const Admin& admin, const std::vector<messaging::Topic>& topics);

// All topics except Kafka's own. Unknown parts of one (no leader at the moment, no permission) are left out. Both
// block.
std::vector<messaging::TopicView> view_topics(const Admin& admin);
std::vector<messaging::GroupView> view_groups(const Admin& admin);

}  // namespace sluice::kafka
