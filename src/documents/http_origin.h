// An origin reached over HTTP.
#pragma once

#include "documents/origin.h"
#include "documents/origin_config.h"
#include "http/client/client.h"

namespace sluice::documents {

// Belongs to the client's executor.
class HttpOrigin : public Origin {
 public:
  // `client` outlives it. The configuration was validated: its base_url is a URL.
  HttpOrigin(const OriginConfig& config, http::Client& client, const Clock& clock);

  Task<Result<DocumentPtr, FetchError>> fetch(DocumentPath path, std::string traceparent) override;

 private:
  Result<DocumentPtr, FetchError> check(const DocumentPath& path, http::ClientAnswer answer) const;

  OriginConfig config_;
  http::Client& client_;
  const Clock& clock_;
};

}  // namespace sluice::documents
