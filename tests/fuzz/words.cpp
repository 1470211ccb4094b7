// The small texts that arrive everywhere: times, durations, ids, encoded bytes. Accepted texts must survive being
// written and read again.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/encoding.h"
#include "base/id.h"
#include "base/time.h"

using namespace sluice;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);

  if (const auto time = parse_time(text)) {
    const std::string written = format_time(*time);  // fewer digits than may be read
    const auto again = parse_time(written);
    check(again && format_time(*again) == written, "a written time is kept");
  }
  if (const auto duration = parse_duration(text)) {
    check(parse_duration(format_duration(*duration)) == duration, "a duration is kept");
  }
  if (const auto id = Uuid::parse(text)) check(Uuid::parse(id->text()) == id, "an id is kept");
  if (const auto bytes = from_hex(text)) check(from_hex(to_hex(*bytes)) == bytes, "hexadecimal bytes are kept");
  if (const auto bytes = from_base64url(text)) check(to_base64url(*bytes) == text, "base64url has one spelling");
  is_utf8(text);
  return 0;
}
