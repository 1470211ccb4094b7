// Bytes from the server become replies.
//
// hiredis parses; the values are built in place as our own. The bytes are not trusted: a reply may take `max_bytes` on
// the wire and a million elements, and nothing is made ready for elements that have not been announced within that.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "adapters/redis/client/reply.h"

struct redisReader;

namespace sluice::redis {

class ReplyReader {
 public:
  explicit ReplyReader(size_t max_bytes);
  ~ReplyReader();
  ReplyReader(const ReplyReader&) = delete;
  ReplyReader& operator=(const ReplyReader&) = delete;

  // Throws EngineUnavailable where the reply under way gets too long.
  void feed(std::string_view bytes);

  // The next complete reply. Throws EngineUnavailable if the bytes are not a reply; the reader is unusable afterwards.
  std::optional<Reply> next();

 private:
  friend struct ReplyBuilding;

  size_t max_bytes_;
  redisReader* reader_;
  Reply root_;
  size_t elements_ = 0;  // of the reply under way
};

}  // namespace sluice::redis
