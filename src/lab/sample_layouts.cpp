#include "lab/sample_layouts.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/format.h>

namespace sluice::lab {
namespace {

constexpr std::array search_screens{"10", "11", "20", "30", "32", "40", "50", "60", "61", "62", "63", "64", "65", "66",
                                    "67", "68", "69", "6A", "6B", "6C", "70", "71", "80", "90", "A0", "F0", "G0", "H0"};

struct CaseKind {
  std::string_view code;
  std::string_view name;
};
constexpr std::array<CaseKind, 11> case_kinds{{{"101", "civil first instance"},
                                               {"102", "civil appeal"},
                                               {"105", "administrative"},
                                               {"106", "criminal"},
                                               {"107", "family"},
                                               {"108", "application"},
                                               {"10A", "rehabilitation and bankruptcy"},
                                               {"10C", "enforcement"},
                                               {"10G", "payment order"},
                                               {"10I", "mediation"},
                                               {"10J", "settlement"}}};

struct FieldKind {
  std::string_view id;
  std::string_view label;
};
constexpr std::array<FieldKind, 16> field_kinds{{{"courtName", "Court"},
                                                 {"caseNumber", "Case number"},
                                                 {"caseName", "Case name"},
                                                 {"plaintiff", "Plaintiff"},
                                                 {"defendant", "Defendant"},
                                                 {"bench", "Bench"},
                                                 {"receivedOn", "Received on"},
                                                 {"hearingOn", "Next hearing"},
                                                 {"decidedOn", "Decided on"},
                                                 {"appealedOn", "Appealed on"},
                                                 {"claimAmount", "Amount claimed"},
                                                 {"stampDuty", "Stamp duty"},
                                                 {"outcome", "Outcome"},
                                                 {"counsel", "Counsel"},
                                                 {"remark", "Remark"},
                                                 {"servedOn", "Served on"}}};
constexpr size_t least_fields = 4;

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
  return result;
}

std::vector<SampleLayout> make_list() {
  std::vector<SampleLayout> list;
  for (const std::string_view screen : search_screens) {
    list.push_back(
        {fmt::format("ssgo003/SSGO003F{}.xml", screen), fmt::format("Case search, screen {}", screen), "case search"});
  }
  for (const CaseKind& kind : case_kinds) {
    list.push_back({fmt::format("ssgo{}/SSGO{}F01.xml", lower(kind.code), kind.code),
                    fmt::format("Course of a case: {}", kind.name), std::string(kind.name)});
  }
  return list;
}

SampleLayout look_up(std::string_view path) {
  for (const SampleLayout& one : sample_layouts()) {
    if (one.path == path) return one;
  }
  return {std::string(path), fmt::format("A layout made up for {}", path), "other"};
}

// FNV-1a: which fields a layout has depends on its path alone, on every machine.
uint32_t hash_of(std::string_view text) {
  uint32_t hash = 2166136261;
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 16777619;
  return hash;
}

std::vector<FieldKind> fields_of(std::string_view path) {
  const uint32_t hash = hash_of(path);
  const size_t count = least_fields + hash % 5;
  const size_t step = 1 + 2 * ((hash >> 8) % 8);  // odd, so that no field comes twice
  std::vector<FieldKind> fields;
  for (size_t i = 0; i < count; ++i) fields.push_back(field_kinds[((hash >> 16) + i * step) % field_kinds.size()]);
  return fields;
}

constexpr std::string_view body_end = "  </body>\n</html>\n";
constexpr std::string_view comment_begin = "    <!-- ";
constexpr std::string_view comment_end = " -->\n";

// Fills a layout with a grid of very many columns. A comment pads it to the byte.
void fill(std::string& text, size_t bytes) {
  constexpr size_t frame = body_end.size() + comment_begin.size() + comment_end.size();
  for (size_t i = 0; text.size() + frame < bytes; ++i) {
    const std::string column =
        fmt::format("    <w2:column id=\"col_{0:05}\" width=\"{1}\" inputType=\"text\" value=\"{2:08x}\"/>\n", i,
                    60 + i % 9 * 10, hash_of(std::to_string(i) + text.substr(0, 8)));
    if (text.size() + column.size() + frame > bytes) break;
    text += column;
  }
  if (text.size() + frame > bytes) return;
  text += comment_begin;
  text.append(bytes - text.size() - comment_end.size() - body_end.size(), '.');
  text += comment_end;
}

}  // namespace

const std::vector<SampleLayout>& sample_layouts() {
  static const std::vector<SampleLayout> list = make_list();
  return list;
}

std::string make_layout(std::string_view path, size_t bytes) {
  const SampleLayout layout = look_up(path);
  const std::vector<FieldKind> fields = fields_of(path);
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<html xmlns=\"http://www.w3.org/1999/xhtml\" xmlns:w2=\"{}\" xmlns:xf=\"http://www.w3.org/2002/xforms\">\n"
      "  <head>\n    <title>{}</title>\n    <w2:type>DEFAULT</w2:type>\n    <w2:screen path=\"{}\"/>\n"
      "    <xf:model>\n      <xf:instance>\n        <data xmlns=\"\">\n          <caseType>{}</caseType>\n",
      layout_namespace, layout.title, layout.path, layout.case_type);
  for (const FieldKind& field : fields) text += fmt::format("          <{}/>\n", field.id);
  text += "        </data>\n      </xf:instance>\n    </xf:model>\n  </head>\n  <body>\n";
  for (const FieldKind& field : fields) {
    text += fmt::format("    <w2:textbox id=\"lb_{0}\" label=\"{1}\"/><xf:input id=\"ip_{0}\" ref=\"/data/{0}\"/>\n",
                        field.id, field.label);
  }
  fill(text, bytes);
  text += body_end;
  return text;
}

}  // namespace sluice::lab
