// Dead letters over HTTP, for administrators: look, replay, purge.
#pragma once

#include "api/api.h"
#include "messaging/dead_letters.h"

namespace sluice::api {

// `letters` must outlive the server.
void add_dead_letter_routes(Api& api, messaging::DeadLetters& letters);

}  // namespace sluice::api
