#include "links/beginning.h"

namespace sluice::links {

Task<Result<http::ClientAnswer, http::ClientError>> fetch_beginning(http::Client& client, http::ClientRequest request,
                                                                    size_t most) {
  Result<http::AnswerStream, http::ClientError> stream = co_await client.open(std::move(request));
  if (!stream) co_return stream.error();
  http::ClientAnswer answer{.status = stream->status(), .headers = stream->headers(), .body = {}, .url = stream->url()};
  while (answer.body.size() < most) {
    const Result<std::optional<std::string>, http::ClientError> piece = co_await stream->next();
    if (!piece) co_return piece.error();
    if (!*piece) break;
    answer.body.append(**piece, 0, most - answer.body.size());
  }
  co_return answer;
}

}  // namespace sluice::links
