// Direct calls on a socket that Asio lacks or does at a higher cost. Internal to the server.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace sluice::http {

// How much of both the socket takes at once. 0 also on errors: they show again in the write that follows.
size_t send_now(int descriptor, std::string_view head, std::string_view body);

// Bytes that were sent and that the other side has not acknowledged. Nothing where the socket cannot tell.
std::optional<size_t> unacknowledged(int descriptor);

// Whether the other side has closed, or will at least send nothing more; the two are indistinguishable.
bool has_hung_up(int descriptor);

// Whether something is there to be read.
bool has_unread(int descriptor);

}  // namespace sluice::http
