// librdkafka uses C11's threads, which ThreadSanitizer does not know: it would take every one of its threads for a
// stranger and every handover for a race. A test program that has these instead sees POSIX's, which it knows. glibc's
// own are thin names for the same.
#include <cerrno>
#include <memory>

#include <pthread.h>
#include <threads.h>

namespace {

pthread_mutex_t* posix(mtx_t* mutex) {
  static_assert(sizeof(mtx_t) >= sizeof(pthread_mutex_t));
  return reinterpret_cast<pthread_mutex_t*>(mutex);
}

pthread_cond_t* posix(cnd_t* condition) {
  static_assert(sizeof(cnd_t) >= sizeof(pthread_cond_t));
  return reinterpret_cast<pthread_cond_t*>(condition);
}

int outcome(int error) {
  if (error == ETIMEDOUT) return thrd_timedout;
  return error == 0 ? thrd_success : thrd_error;
}

struct Start {
  thrd_start_t function;
  void* argument;
};

void* run(void* given) {
  const std::unique_ptr<Start> start(static_cast<Start*>(given));
  return reinterpret_cast<void*>(static_cast<intptr_t>(start->function(start->argument)));
}

}  // namespace

extern "C" {

// The same for its read-write locks, which are POSIX's already. No code of ours destroys one.
const char* __tsan_default_suppressions();   // NOLINT(bugprone-reserved-identifier): ThreadSanitizer looks for it
const char* __tsan_default_suppressions() {  // NOLINT(bugprone-reserved-identifier)
  return "race:pthread_rwlock_destroy\n";
}

int thrd_create(thrd_t* thread, thrd_start_t function, void* argument) {
  auto start = std::make_unique<Start>(function, argument);
  const int error = pthread_create(thread, nullptr, run, start.get());
  if (error == 0) [[maybe_unused]]
    const Start* taken = start.release();
  return outcome(error);
}

int thrd_join(thrd_t thread, int* result) {
  void* returned = nullptr;
  const int error = pthread_join(thread, &returned);
  if (result != nullptr) *result = static_cast<int>(reinterpret_cast<intptr_t>(returned));
  return outcome(error);
}

int mtx_init(mtx_t* mutex, int kind) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  if ((kind & mtx_recursive) != 0) pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  const int error = pthread_mutex_init(posix(mutex), &attributes);
  pthread_mutexattr_destroy(&attributes);
  return outcome(error);
}
// librdkafka destroys an object after its last reference is gone, counted by atomics that ThreadSanitizer does not see.
// Locking once more tells it that all others are done.
void mtx_destroy(mtx_t* mutex) {
  pthread_mutex_lock(posix(mutex));
  pthread_mutex_unlock(posix(mutex));
  pthread_mutex_destroy(posix(mutex));
}
int mtx_lock(mtx_t* mutex) {
  return outcome(pthread_mutex_lock(posix(mutex)));
}
int mtx_unlock(mtx_t* mutex) {
  return outcome(pthread_mutex_unlock(posix(mutex)));
}

int cnd_init(cnd_t* condition) {
  return outcome(pthread_cond_init(posix(condition), nullptr));
}
void cnd_destroy(cnd_t* condition) {
  pthread_cond_destroy(posix(condition));
}
int cnd_signal(cnd_t* condition) {
  return outcome(pthread_cond_signal(posix(condition)));
}
int cnd_broadcast(cnd_t* condition) {
  return outcome(pthread_cond_broadcast(posix(condition)));
}
int cnd_wait(cnd_t* condition, mtx_t* mutex) {
  return outcome(pthread_cond_wait(posix(condition), posix(mutex)));
}
int cnd_timedwait(cnd_t* condition, mtx_t* mutex, const struct timespec* until) {
  return outcome(pthread_cond_timedwait(posix(condition), posix(mutex), until));
}

}  // extern "C"
