// Bytes that were read from a connection and not parsed yet. Internal to the server.
#pragma once

#include <string>
#include <string_view>

#include <boost/asio/buffer.hpp>

#include "runtime/task.h"

namespace sluice::http {

// Grows only while no part of it is used, so the parser bounds it by failing on input that is too long.
class InputBuffer {
 public:
  static constexpr size_t first_size = 4 << 10;

  std::string_view unread() const { return {bytes_.data() + begin_, end_ - begin_}; }
  bool empty() const { return begin_ == end_; }
  // More than this is never unread.
  size_t capacity() const { return bytes_.size(); }
  void use(size_t count) { begin_ += count; }
  void clear() { begin_ = end_ = 0; }

  // Room for the next bytes, behind the unused ones; then `add` says how many came.
  asio::mutable_buffer room() {
    if (begin_ == end_) begin_ = end_ = 0;
    if (end_ == bytes_.size()) {
      if (begin_ > 0) {
        bytes_.erase(0, begin_);
        end_ -= begin_;
        begin_ = 0;
      }
      bytes_.resize(std::max(first_size, end_ * 2));
    }
    return asio::buffer(bytes_.data() + end_, bytes_.size() - end_);
  }
  void add(size_t count) { end_ += count; }

 private:
  std::string bytes_;
  size_t begin_ = 0;
  size_t end_ = 0;
};

}  // namespace sluice::http
