#include "http/gzip.h"

#include <zlib.h>

#include "base/check.h"
#include "http/message.h"
#include "http/syntax.h"

namespace sluice::http {

struct Gzip::Stream {
  z_stream z{};
};

namespace {

// "q=0", "q=0.0" and so on: explicitly not wanted.
bool is_refused(std::string_view parameters) {
  const size_t q = parameters.find("q=");
  if (q == std::string_view::npos) return false;
  const std::string_view value = trim(parameters.substr(q + 2));
  return value.starts_with('0') && value.find_first_of("123456789") == std::string_view::npos;
}

}  // namespace

bool accepts_gzip(std::string_view accept_encoding) {
  bool any = false;
  while (!accept_encoding.empty()) {
    const size_t comma = std::min(accept_encoding.find(','), accept_encoding.size());
    const std::string_view item = accept_encoding.substr(0, comma);
    accept_encoding.remove_prefix(std::min(comma + 1, accept_encoding.size()));
    const size_t semicolon = std::min(item.find(';'), item.size());
    const std::string_view coding = trim(item.substr(0, semicolon));
    const bool refused = is_refused(item.substr(semicolon));
    if (equal_ignoring_case(coding, "gzip")) return !refused;
    if (coding == "*") any = !refused;
  }
  return any;
}

bool is_compressible(std::string_view content_type) {
  const std::string_view type = trim(content_type.substr(0, content_type.find(';')));
  if (type == "text/event-stream") return false;
  return type.starts_with("text/") || type.ends_with("json") || type.ends_with("xml") || type.ends_with("javascript");
}

Gzip::Gzip() : stream_(std::make_unique<Stream>()) {
  constexpr int gzip_format = 15 + 16;
  constexpr int level = 4;  // most of the gain for a third of the default's time
  const int made = deflateInit2(&stream_->z, level, Z_DEFLATED, gzip_format, 8, Z_DEFAULT_STRATEGY);
  check(made == Z_OK, "no memory for compression");
}

Gzip::~Gzip() {
  deflateEnd(&stream_->z);
}

std::string Gzip::compress(std::string_view input) {
  deflateReset(&stream_->z);
  return run(input, Z_FINISH);
}

std::string Gzip::add(std::string_view piece) {
  return run(piece, Z_SYNC_FLUSH);
}

std::string Gzip::finish() {
  return run({}, Z_FINISH);
}

std::string Gzip::run(std::string_view input, int flush) {
  z_stream& z = stream_->z;
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
  z.avail_in = static_cast<uInt>(input.size());
  std::string out;
  size_t written = 0;
  do {
    out.resize(written + std::max<size_t>(256, input.size() / 2));
    z.next_out = reinterpret_cast<Bytef*>(out.data() + written);
    z.avail_out = static_cast<uInt>(out.size() - written);
    deflate(&z, flush);
    written = out.size() - z.avail_out;
  } while (z.avail_out == 0);
  out.resize(written);
  return out;
}

}  // namespace sluice::http
