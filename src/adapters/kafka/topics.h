// Topics and groups as the brokers know them. What blocks is for threads that may wait (Instances::offload).
#pragma once

#include <vector>

#include "adapters/kafka/admin.h"
#include "messaging/log_view.h"

namespace sluice::kafka {

// Makes what is missing, and sets retentions and the largest batch that is taken. Blocks. Topics can be used when
// `are_served`.
void declare_topics(const Admin& admin, const std::vector<messaging::Topic>& topics, size_t largest_batch);

// Whether each partition of these topics has a leader that answers. Blocks.
bool are_served(const Admin& admin, const std::vector<messaging::Topic>& topics);

// All there are but Kafka's own. What can't be told of one (no leader just now, no right to look) is left out of it.
// Both block.
std::vector<messaging::TopicView> view_topics(const Admin& admin);
std::vector<messaging::GroupView> view_groups(const Admin& admin);

}  // namespace sluice::kafka
