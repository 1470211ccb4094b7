// Captures the log while it exists, for tests.
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>

#include "runtime/log.h"

namespace sluice::jobs {

class CapturedLog {
 public:
  CapturedLog() { start(); }
  ~CapturedLog() {
    log::stop();
    std::fclose(file_);
  }
  CapturedLog(const CapturedLog&) = delete;
  CapturedLog& operator=(const CapturedLog&) = delete;

  // All of it, up to now.
  std::string text() {
    log::stop();  // writes the waiting entries
    std::string all(static_cast<size_t>(std::max(0L, size())), '\0');
    std::rewind(file_);
    all.resize(std::fread(all.data(), 1, all.size(), file_));
    start();
    return all;
  }

 private:
  void start() { log::start({.format = log::Format::json, .descriptor = fileno(file_)}); }
  long size() {
    std::fseek(file_, 0, SEEK_END);
    return std::ftell(file_);
  }

  FILE* file_ = std::tmpfile();
};

}  // namespace sluice::jobs
