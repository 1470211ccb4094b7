#include "server/link_parts.h"

namespace sluice::server {

LinkParts::LinkParts(const links::LinksConfig& config, sql::Database& database, const jobs::JobKinds& kinds,
                     Clock& clock, Random& random)
    : config_(config), imports_(database, kinds, clock, random), links_(database), blocked_domains_(database) {}

}  // namespace sluice::server
