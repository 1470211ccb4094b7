// Compression of answers.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace sluice::http {

// Whether Accept-Encoding allows gzip.
bool accepts_gzip(std::string_view accept_encoding);

// Whether bytes of this type shrink: text, JSON, XML, scripts; not images or archives.
bool is_compressible(std::string_view content_type);

// A gzip stream. Costs 260 KB while it lives, so one per answer being written, or one per thread.
class Gzip {
 public:
  Gzip();
  ~Gzip();
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

  // The whole of `input` as one stream.
  std::string compress(std::string_view input);

  // Piece by piece; each piece can be read by the other side at once.
  std::string add(std::string_view piece);
  std::string finish();

 private:
  struct Stream;
  std::string run(std::string_view input, int flush);
  std::unique_ptr<Stream> stream_;
};

}  // namespace sluice::http
