#include "links/charset.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <vector>

#include <iconv.h>

#include "base/ascii.h"

namespace sluice::links {
namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";
constexpr size_t declared_within = 4096;  // browsers look at the first 1024 bytes; some pages are later

// A label as iconv knows it. The web's labels mean more than they say: EUC-KR is CP949, Latin-1 is Windows-1252.
std::optional<std::string> known_set(std::string_view label) {
  std::string name = ascii_lower(label);
  const auto is_one_of = [&name](std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, name) != names.end();
  };
  if (is_one_of({"euc-kr", "ks_c_5601-1987", "ks_c_5601-1989", "ksc5601", "ksc_5601", "korean", "cp949", "ms949",
                 "windows-949", "x-windows-949", "uhc"})) {
    return "CP949";
  }
  if (is_one_of({"iso-8859-1", "latin1", "ascii", "us-ascii", "windows-1252"})) return "WINDOWS-1252";
  if (is_one_of({"gb2312", "gbk", "x-gbk", "gb18030"})) return "GB18030";
  if (is_one_of({"shift_jis", "shift-jis", "sjis", "x-sjis", "windows-31j"})) return "CP932";
  // A page whose declaration we could read is not written in these.
  if (name.starts_with("utf-16") || name.starts_with("utf-32") || name.starts_with("ucs-")) return "UTF-8";
  const bool plain = std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == ':';
  });
  if (name.empty() || name.size() > 40 || !plain || name == "utf-7") return std::nullopt;
  return name;
}

// The value behind "charset=" (or `key`) in lower-case text.
std::optional<std::string> value_of(std::string_view text, std::string_view key) {
  constexpr std::string_view blank = " \t\r\n\f";
  const size_t at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + key.size());
  text.remove_prefix(std::min(text.find_first_not_of(blank), text.size()));
  if (!text.starts_with('=')) return std::nullopt;
  text.remove_prefix(1);
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n\f\"'"), text.size()));
  return std::string(text.substr(0, text.find_first_of(" \t\r\n\f\"';/>,")));
}

std::optional<std::string> declared_in(std::string_view body) {
  const std::string head = ascii_lower(body.substr(0, declared_within));
  if (head.starts_with("<?xml")) {
    if (auto set = value_of(head.substr(0, head.find('>')), "encoding")) return set;
  }
  for (size_t at = head.find("<meta"); at != std::string::npos; at = head.find("<meta", at + 1)) {
    if (auto set = value_of(std::string_view(head).substr(at, head.find('>', at) - at), "charset")) return set;
  }
  return std::nullopt;
}

class Converter {
 public:
  explicit Converter(const std::string& from) : handle_(iconv_open("UTF-8", from.c_str())) {}
  ~Converter() {
    if (usable()) iconv_close(handle_);
  }
  Converter(const Converter&) = delete;
  Converter& operator=(const Converter&) = delete;

  bool usable() const { return handle_ != reinterpret_cast<iconv_t>(-1); }

  // Nothing where `strict` and a byte has no meaning in the set.
  std::optional<std::string> convert(std::string_view text, bool strict) {
    iconv(handle_, nullptr, nullptr, nullptr, nullptr);
    std::string result;
    std::array<char, 4096> piece;
    char* in = const_cast<char*>(text.data());  // iconv does not write there
    size_t in_left = text.size();
    while (in_left > 0) {
      char* out = piece.data();
      size_t out_left = piece.size();
      const size_t outcome = iconv(handle_, &in, &in_left, &out, &out_left);
      const int error = errno;
      result.append(piece.data(), piece.size() - out_left);
      if (outcome != static_cast<size_t>(-1) || error == E2BIG) continue;
      if (error != EILSEQ) break;  // the end, in the middle of a character
      if (strict) return std::nullopt;
      result += replacement;
      ++in;
      --in_left;
    }
    return result;
  }

 private:
  iconv_t handle_;
};

std::string in_first_that_fits(std::string_view body, const std::vector<std::string>& sets) {
  for (const bool strict : {true, false}) {
    for (const std::string& set : sets) {
      Converter converter(set);
      if (!converter.usable()) continue;
      if (auto text = converter.convert(body, strict)) return *std::move(text);
    }
  }
  return {};
}

}  // namespace

std::string to_utf8(std::string_view body, std::string_view content_type) {
  std::vector<std::string> sets;
  if (body.starts_with("\xef\xbb\xbf")) {
    body.remove_prefix(3);
    sets.emplace_back("UTF-8");
  } else if (body.starts_with("\xff\xfe") || body.starts_with("\xfe\xff")) {
    sets.emplace_back(body.front() == '\xff' ? "UTF-16LE" : "UTF-16BE");
    body.remove_prefix(2);
  } else {
    for (const auto& label : {value_of(ascii_lower(content_type), "charset"), declared_in(body)}) {
      const auto set = label ? known_set(*label) : std::nullopt;
      if (set) sets.push_back(*set);
    }
  }
  sets.insert(sets.end(), {"UTF-8", "CP949"});
  std::string text = in_first_that_fits(body, sets);
  std::erase(text, '\0');
  return text;
}

}  // namespace sluice::links
