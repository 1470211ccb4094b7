#include "adapters/sqlite/checkpointer.h"

#include <pthread.h>

#include "runtime/errors.h"
#include "runtime/log.h"

namespace sluice::sqlite {
namespace {

// How long the last part of a checkpoint may wait for readers while the writer stands still.
constexpr Duration patience = 100ms;

}  // namespace

Checkpointer::Checkpointer(const std::filesystem::path& file, WriteQueue& queue)
    : connection_(file, Connection::Use::write, patience), queue_(queue), thread_([this] { serve(); }) {}

Checkpointer::~Checkpointer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Checkpointer::note_pages(int pages) {
  {
    const std::lock_guard lock(mutex_);
    pages_ = pages;
    if (pages_ < pages_before_) pages_before_ = 0;  // the WAL has begun anew
    if (pages_ - pages_before_ < step) return;
  }
  changed_.notify_one();
}

void Checkpointer::serve() {
  pthread_setname_np(pthread_self(), "sqlite-checkpt");
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || pages_ - pages_before_ >= step; });
    if (stopping_) return;
    pages_before_ = pages_;
    lock.unlock();
    try {
      checkpoint();
    } catch (const EngineUnavailable& error) {
      // The WAL still has everything; the next step tries again.
      log::warning("a checkpoint failed", {{"error", error.what()}});
    }
    lock.lock();
  }
}

void Checkpointer::checkpoint() {
  connection_.checkpoint(Connection::Checkpoint::passive);
  struct Held {
    explicit Held(WriteQueue& held) : queue(held) { queue.hold(true); }
    ~Held() { queue.hold(false); }
    WriteQueue& queue;
  };
  const Held held(queue_);
  connection_.checkpoint(Connection::Checkpoint::restart);
}

}  // namespace sluice::sqlite
