#include "adapters/kafka/queue_signal.h"

#include <boost/asio/post.hpp>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/check.h"

namespace sluice::kafka {
namespace {

int new_eventfd() {
  const int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  check(fd >= 0, "eventfd");
  return fd;
}

}  // namespace

QueueSignal::QueueSignal(const Executor& executor, std::function<void()> look)
    : look_(std::move(look)), descriptor_(executor, new_eventfd()) {
  wait();
}

void QueueSignal::watch(const Queue& queue) {
  const uint64_t one = 1;
  rd_kafka_queue_io_event_enable(queue.get(), descriptor_.native_handle(), &one, sizeof one);
  // librdkafka signals only when an empty queue gets an event, so events already there need a first look.
  again();
}

void QueueSignal::unwatch(const Queue& queue) {
  rd_kafka_queue_io_event_enable(queue.get(), -1, nullptr, 0);
}

void QueueSignal::again() {
  asio::post(descriptor_.get_executor(), [this, alive = std::weak_ptr(alive_)] {
    if (!alive.expired()) look_();
  });
}

void QueueSignal::wait() {
  const auto ready = [this, alive = std::weak_ptr(alive_)](const boost::system::error_code& error) {
    if (error || alive.expired()) return;
    uint64_t times = 0;
    [[maybe_unused]] const ssize_t size = read(descriptor_.native_handle(), &times, sizeof times);
    wait();
    look_();
  };
  descriptor_.async_wait(asio::posix::stream_descriptor::wait_read, ready);
}

}  // namespace sluice::kafka
