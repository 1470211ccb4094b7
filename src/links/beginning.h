// Fetches the first bytes of a URL's content.
//
// All that is wanted of a page or a robots.txt stands in its first bytes. The rest is not even received, however long
// it is: the connection is closed instead.
#pragma once

#include "http/client/client.h"

namespace sluice::links {

// The answer with at most `most` bytes of its body. `client` outlives the call.
Task<Result<http::Answer, http::ClientError>> fetch_beginning(http::Client& client, http::ClientRequest request,
                                                              size_t most);

}  // namespace sluice::links
