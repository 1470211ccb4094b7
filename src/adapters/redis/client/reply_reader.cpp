#include "adapters/redis/client/reply_reader.h"

#include <cstdlib>

#include <hiredis/read.h>

#include "adapters/redis/client/redis.h"
#include "base/check.h"

namespace sluice::redis {

// Callbacks of hiredis for each value it has read. A null pointer makes it stop.
struct ReplyBuilding {
  static constexpr size_t max_elements = 1'000'000;

  static ReplyReader& reader(const redisReadTask* task) { return *static_cast<ReplyReader*>(task->privdata); }

  static Reply* place(const redisReadTask* task) {
    if (task->parent == nullptr) return &reader(task).root_;
    return &static_cast<Reply*>(task->parent->obj)->array()[static_cast<size_t>(task->idx)];
  }

  static void* text(const redisReadTask* task, char* bytes, size_t size) {
    Reply* reply = place(task);
    std::string value(bytes, size);
    *reply = task->type == REDIS_REPLY_ERROR ? Reply(Reply::Error{std::move(value)}) : Reply(std::move(value));
    return reply;
  }

  static void* array(const redisReadTask* task, int size) {
    ReplyReader& owner = reader(task);
    owner.elements_ += static_cast<size_t>(size);
    if (owner.elements_ > max_elements) return nullptr;
    Reply* reply = place(task);
    *reply = Reply::Array(static_cast<size_t>(size));
    return reply;
  }

  static void* integer(const redisReadTask* task, long long value) {
    Reply* reply = place(task);
    *reply = Reply(static_cast<int64_t>(value));
    return reply;
  }

  static void* nil(const redisReadTask* task) {
    Reply* reply = place(task);
    *reply = Reply();
    return reply;
  }

  static void leave(void*) {}  // the reader owns it
};

namespace {

redisReplyObjectFunctions building{&ReplyBuilding::text, &ReplyBuilding::array, &ReplyBuilding::integer,
                                   &ReplyBuilding::nil, &ReplyBuilding::leave};

}  // namespace

ReplyReader::ReplyReader(size_t max_bytes) : max_bytes_(max_bytes), reader_(redisReaderCreateWithFunctions(&building)) {
  check(reader_ != nullptr, "out of memory");
  reader_->privdata = this;
}

ReplyReader::~ReplyReader() {
  redisReaderFree(reader_);
}

void ReplyReader::feed(std::string_view bytes) {
  if (reader_->len - reader_->pos + bytes.size() > max_bytes_) {
    throw EngineUnavailable(engine_name, "the server's reply is larger than redis.max_reply");
  }
  redisReaderFeed(reader_, bytes.data(), bytes.size());
}

std::optional<Reply> ReplyReader::next() {
  void* found = nullptr;
  if (redisReaderGetReply(reader_, &found) != REDIS_OK) {
    throw EngineUnavailable(engine_name,
                            fmt::format("the server does not speak the Redis protocol: {}", reader_->errstr));
  }
  if (found == nullptr) return std::nullopt;
  elements_ = 0;
  return std::exchange(root_, {});
}

}  // namespace sluice::redis
