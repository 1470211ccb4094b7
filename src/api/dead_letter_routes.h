// Dead letters over HTTP, for administrators: look, replay, purge.
#pragma once

#include "api/api.h"
#include "base/json_reader.h"
#include "messaging/dead_letters.h"

namespace sluice::api {

// TOPIC:PARTITION:OFFSET
extern const json::TextForm letter_id_form;

// `letters` must outlive the server.
void add_dead_letter_routes(Api& api, messaging::DeadLetters& letters);

}  // namespace sluice::api
