// Decodes gzip as it arrives.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct z_stream_s;

namespace sluice::http {

class Gunzip {
 public:
  enum class State { more, end, bad };

  Gunzip();
  ~Gunzip();
  Gunzip(const Gunzip&) = delete;
  Gunzip& operator=(const Gunzip&) = delete;

  // Decodes all of `compressed` and appends to `out`, but stops once `out` has more than `max_size` bytes: a few
  // kilobytes can decode to gigabytes. Several gzip members in a row are one body; anything else behind the end is bad.
  State write(std::string_view compressed, std::string& out, size_t max_size);

 private:
  std::unique_ptr<z_stream_s> stream_;
  State state_ = State::more;
};

}  // namespace sluice::http
