#include "runtime/log.h"

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <semaphore>
#include <set>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sluice {
namespace {

namespace fs = std::filesystem;

// A small pipe that the log is written to.
struct LogPipe : testing::Test {
  LogPipe() {
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    EXPECT_GT(::fcntl(ends[1], F_SETPIPE_SZ, 4096), 0);
  }
  ~LogPipe() override {
    for (const int end : ends) ::close(end);
  }

  void start_log() { log::start({.format = log::Format::text, .descriptor = ends[1]}); }
  bool is_full() const {
    pollfd writable{.fd = ends[1], .events = POLLOUT, .revents = 0};
    return ::poll(&writable, 1, 0) == 0;
  }
  // Everything that arrives until the log has ended, which it may when so many bytes have come: at its end it does not
  // wait for a reader for ever.
  std::string read_to_end(size_t enough) {
    std::string text;
    std::binary_semaphore came(0);
    std::thread reader([this, enough, &text, &came] {
      std::array<char, 1024> piece;
      for (ssize_t size = 1; size > 0;) {
        size = ::read(ends[0], piece.data(), piece.size());
        if (size <= 0) break;
        const bool had_enough = text.size() >= enough;
        text.append(piece.data(), static_cast<size_t>(size));
        if (!had_enough && text.size() >= enough) came.release();
      }
    });
    EXPECT_TRUE(came.try_acquire_for(std::chrono::minutes(1)));
    log::stop();
    ::close(ends[1]);
    ends[1] = -1;
    reader.join();
    return text;
  }

  int ends[2] = {-1, -1};
};

TEST_F(LogPipe, a_reader_that_is_slow_loses_no_line_of_a_descriptor_that_does_not_block) {
  ASSERT_EQ(::fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
  start_log();
  std::string expected;
  for (int i = 0; i < 2000; ++i) {
    log::info("line", {{"number", i}});
    expected += fmt::format("info    line number={}\n", i);
  }
  while (!is_full()) std::this_thread::yield();
  EXPECT_EQ(read_to_end(expected.size()), expected);
}

std::set<std::string> threads_of_process() {
  std::set<std::string> threads;
  for (const auto& entry : fs::directory_iterator("/proc/self/task")) threads.insert(entry.path().filename().string());
  return threads;
}

// Whether the thread waits in write(2).
bool waits_in_write(const std::string& thread) {
  std::ifstream file("/proc/self/task/" + thread + "/syscall");
  long number = -1;
  return file >> number && number == SYS_write;
}

std::atomic<int> signals = 0;

TEST_F(LogPipe, a_signal_in_the_middle_of_writing_loses_no_line) {
  struct sigaction note{};
  note.sa_handler = [](int) { ++signals; };  // without SA_RESTART: the call is interrupted
  struct sigaction before{};
  ::sigaction(SIGUSR1, &note, &before);
  std::string filler;
  ASSERT_EQ(::fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
  while (::write(ends[1], "x", 1) == 1) filler += 'x';
  ASSERT_EQ(::fcntl(ends[1], F_SETFL, 0), 0);

  const std::set<std::string> others = threads_of_process();
  start_log();
  std::set<std::string> writer = threads_of_process();
  for (const std::string& other : others) writer.erase(other);
  ASSERT_EQ(writer.size(), 1U);
  log::warning("important");
  while (!waits_in_write(*writer.begin())) std::this_thread::yield();
  ::syscall(SYS_tgkill, ::getpid(), std::stoi(*writer.begin()), SIGUSR1);
  while (signals == 0) std::this_thread::yield();
  const std::string expected = filler + "warning important\n";
  EXPECT_EQ(read_to_end(expected.size()), expected);
  ::sigaction(SIGUSR1, &before, nullptr);
}

}  // namespace
}  // namespace sluice
