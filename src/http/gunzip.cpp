#include "http/gunzip.h"

#include <zlib.h>

#include "base/check.h"

namespace sluice::http {
namespace {
constexpr int gzip_only = MAX_WBITS + 16;
}

Gunzip::Gunzip() : stream_(std::make_unique<z_stream>()) {
  check(inflateInit2(stream_.get(), gzip_only) == Z_OK, "zlib starts");
}

Gunzip::~Gunzip() {
  inflateEnd(stream_.get());
}

Gunzip::State Gunzip::write(std::string_view compressed, std::string& out, size_t max_size) {
  if (state_ == State::bad) return state_;
  // zlib only reads through this pointer; its type is from before const.
  stream_->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(compressed.data()));
  stream_->avail_in = static_cast<uInt>(compressed.size());
  std::array<char, 16384> piece;
  do {
    if (state_ == State::end) {
      if (stream_->avail_in == 0) break;
      inflateReset(stream_.get());
      state_ = State::more;
    }
    stream_->next_out = reinterpret_cast<Bytef*>(piece.data());
    stream_->avail_out = piece.size();
    const int result = inflate(stream_.get(), Z_NO_FLUSH);
    out.append(piece.data(), piece.size() - stream_->avail_out);
    if (result == Z_STREAM_END) {
      state_ = State::end;
    } else if (result != Z_OK && result != Z_BUF_ERROR) {  // the latter: nothing left to do
      state_ = State::bad;
    }
  } while (state_ != State::bad && (stream_->avail_in > 0 || stream_->avail_out == 0) && out.size() <= max_size);
  return state_;
}

}  // namespace sluice::http
