// Fetches the first bytes of a URL's content.
//
// The first bytes of a page or a robots.txt have all that is wanted. The rest is not received: the connection is closed
// instead.
#pragma once

#include "http/client/client.h"

namespace sluice::links {

// The answer with at most `most` bytes of its body. `client` outlives the call.
Task<Result<http::ClientAnswer, http::ClientError>> fetch_beginning(http::Client& client, http::ClientRequest request,
                                                                    size_t most);

}  // namespace sluice::links
