#include "runtime/log.h"

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <thread>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "base/json_writer.h"

namespace sluice::log {
namespace {

void append_value(std::string& out, const Field& field, Format format) {
  const auto to = std::back_inserter(out);
  if (const auto* text = std::get_if<std::string_view>(&field.value)) {
    // Text is quoted in both forms: a line break in a field must not forge a second entry.
    json::append_string(out, *text);
  } else if (const auto* number = std::get_if<int64_t>(&field.value)) {
    fmt::format_to(to, "{}", *number);
  } else if (const auto* real = std::get_if<double>(&field.value)) {
    if (format != Format::text && (*real != *real || *real - *real != 0)) {
      out += "null";
    } else {
      fmt::format_to(to, "{}", *real);
    }
  } else {
    out += std::get<bool>(field.value) ? "true" : "false";
  }
}

// Formatting the time of every line costs more than the rest of it; the date and time to the second change once a
// second.
void append_time(std::string& out, const Clock* clock) {
  if (clock == nullptr) return;
  thread_local int64_t cached_second = -1;
  thread_local std::string cached;
  const Time now = clock->wall();
  const int64_t second = std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
  if (second != cached_second) {
    cached = format_time(now);
    cached_second = second;
  }
  const int64_t millis = std::chrono::floor<std::chrono::milliseconds>(now).time_since_epoch().count() % 1000;
  out.append(cached, 0, 20);
  fmt::format_to(std::back_inserter(out), "{:03}Z", millis);
}

void append_entry(std::string& out, const Options& options, Level level, std::string_view message, Fields fields) {
  if (options.format != Format::text) {
    out += '{';
    if (options.clock != nullptr) {
      out += "\"time\":\"";
      append_time(out, options.clock);
      out += "\",";
    }
    out += "\"level\":\"";
    out += enum_name(level);
    out += "\",\"message\":";
    json::append_string(out, message);
    for (const Field& field : fields) {
      out += ",\"";
      out += field.key;
      out += "\":";
      append_value(out, field, options.format);
    }
    out += '}';
    return;
  }
  append_time(out, options.clock);
  fmt::format_to(std::back_inserter(out), "{}{:<7} {}", options.clock == nullptr ? "" : " ", enum_name(level), message);
  for (const Field& field : fields) {
    out += ' ';
    out += field.key;
    out += '=';
    append_value(out, field, options.format);
  }
}

// Writes all of `text`, also to a descriptor that does not block. Whenever nothing was taken for a tenth of a second
// `give_up` is asked whether to leave the rest.
template <class GiveUp>
void write_all(int descriptor, std::string_view text, GiveUp give_up) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written > 0) {
      text.remove_prefix(static_cast<size_t>(written));
    } else if (written < 0 && errno == EAGAIN) {
      pollfd wanted{.fd = descriptor, .events = POLLOUT, .revents = 0};
      if (::poll(&wanted, 1, 100) == 0 && give_up()) return;
    } else if (written == 0 || errno != EINTR) {
      return;  // the log has no reader any more, so this cannot be reported
    }
  }
}

class Writer {
 public:
  explicit Writer(Options options) : options_(options), thread_([this] { run(); }) {}
  ~Writer() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }

  const Options& options() const { return options_; }

  void append(std::string_view line, bool urgent) {
    bool wake = urgent;
    {
      const std::lock_guard lock(mutex_);
      if (pending_.size() + line.size() > options_.buffer_bytes) {
        ++dropped_;
        return;
      }
      pending_ += line;
      pending_ += '\n';
      wake = wake || pending_.size() > options_.buffer_bytes / 4;
      urgent_ = urgent_ || wake;
    }
    if (wake) wake_.notify_one();
  }

 private:
  void run() {
    std::string writing;
    bool stopping = false;
    while (!stopping) {
      uint64_t dropped = 0;
      {
        std::unique_lock lock(mutex_);
        // Ordinary lines wait a moment for company: one system call for many.
        wake_.wait_for(lock, 20ms, [this] { return stopping_ || urgent_; });
        urgent_ = false;
        writing.swap(pending_);
        std::swap(dropped, dropped_);
        stopping = stopping_;
      }
      flush(writing);
      if (dropped > 0) {
        append_entry(writing, options_, Level::warning, "log lines dropped", {{"count", dropped}});
        writing += '\n';
        flush(writing);
      }
    }
  }

  // Waits for a reader that takes nothing: new entries wait in the buffer, up to its bound. At the end the reader gets
  // two seconds.
  void flush(std::string& writing) {
    write_all(options_.descriptor, writing, [this] {
      const std::lock_guard lock(mutex_);
      return stopping_ && ++silences_ > 20;
    });
    writing.clear();
  }

  Options options_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::string pending_;
  uint64_t dropped_ = 0;
  bool urgent_ = false;
  bool stopping_ = false;
  int silences_ = 0;
  std::thread thread_;
};

std::atomic<Writer*> writer{nullptr};
std::atomic<Level> threshold{Level::info};

}  // namespace

void start(const Options& options) {
  stop();
  threshold = options.level;
  Options resolved = options;
  if (options.format == Format::automatic) {
    resolved.format = ::isatty(options.descriptor) == 1 ? Format::text : Format::json;
  }
  writer = new Writer(resolved);
}

void stop() {
  delete writer.exchange(nullptr);
}

bool enabled(Level level) {
  return level >= threshold.load(std::memory_order_relaxed);
}

void write(Level level, std::string_view message, Fields fields) {
  if (!enabled(level)) return;
  thread_local std::string line;
  line.clear();
  Writer* const to = writer.load(std::memory_order_acquire);
  if (to == nullptr) {
    append_entry(line, {.format = Format::text}, level, message, fields);
    line += '\n';
    write_all(2, line, [] { return true; });
    return;
  }
  append_entry(line, to->options(), level, message, fields);
  to->append(line, level >= Level::warning);
}

std::string format_entry(const Options& options, Level level, std::string_view message, Fields fields) {
  std::string out;
  append_entry(out, options, level, message, fields);
  return out;
}

}  // namespace sluice::log
