// A configuration file: a file that loads must print as a file that loads to the same values.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/encoding.h"
#include "runtime/config.h"

using namespace sluice;

namespace {

enum class Mode { fast, safe };
constexpr auto enum_names(Mode) {
  return std::to_array<EnumName<Mode>>({{Mode::fast, "fast"}, {Mode::safe, "safe"}});
}

struct Inside {
  double ratio = 0.5;
  std::string text;

  static void describe(config::Section<Inside>& section) {
    section.key("ratio", &Inside::ratio, "");
    section.key("text", &Inside::text, "");
  }
};

struct Everything {
  bool flag = true;
  int64_t count = 1;
  uint16_t port = 80;
  Duration wait = 10s;
  Size size = mib(1);
  Mode mode = Mode::safe;
  std::vector<std::string> names;
  config::Secret secret;
  Inside inside;
  std::vector<Inside> list;
  std::map<std::string, Inside> map;

  static void describe(config::Section<Everything>& section) {
    section.key("flag", &Everything::flag, "");
    section.key("count", &Everything::count, "").between(-10, 10);
    section.key("port", &Everything::port, "");
    section.key("wait", &Everything::wait, "");
    section.key("size", &Everything::size, "");
    section.key("mode", &Everything::mode, "");
    section.key("names", &Everything::names, "");
    section.key("secret", &Everything::secret, "");
    section.table("inside", &Everything::inside, "");
    section.list("list", &Everything::list, "");
    section.map("map", &Everything::map, "");
  }
};

std::optional<std::string> hush(const std::string&) {
  return "hush";
}

// The loaded values, printed; nothing if the file has a problem.
std::optional<std::string> load_and_print(std::string_view text) {
  Everything everything;
  config::Loader loader;
  loader.section("s", everything);
  const auto problems = loader.load({.file = "f", .text = std::string(text), .read_file = hush});
  for (const auto& problem : problems) check(!problem.where.empty() && is_utf8(problem.text()), "a readable problem");
  if (!problems.empty()) return std::nullopt;
  check(text.contains("hush") || !loader.print().contains("hush"), "a secret is not printed");
  return loader.print();
}

// Without the comments that say where each value comes from.
std::string values_only(const std::string& printed) {
  std::string values;
  for (size_t from = 0; from < printed.size();) {
    const size_t end = printed.find('\n', from);
    const std::string line = printed.substr(from, end - from);
    if (!line.starts_with('#')) values += line.substr(0, line.rfind("  # ")) + "\n";
    from = end + 1;
  }
  return values;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto printed = load_and_print({reinterpret_cast<const char*>(data), size});
  if (!printed) return 0;
  const auto again = load_and_print(*printed);
  check_that(again.has_value(), "what was printed does not load: {}", *printed);
  check_that(values_only(*again) == values_only(*printed), "loaded again, it differs: {}", *printed);
  return 0;
}
