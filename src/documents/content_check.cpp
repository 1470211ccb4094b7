#include "documents/content_check.h"

#include <memory>

#include <expat.h>

#include "http/message.h"

namespace sluice::documents {
namespace {

struct FreeParser {
  void operator()(XML_Parser parser) const { XML_ParserFree(parser); }
};

struct Seen {
  std::string_view wanted;
  bool declared = false;
  XML_Parser parser = nullptr;
};

void on_namespace(void* data, const XML_Char*, const XML_Char* uri) {
  auto& seen = *static_cast<Seen*>(data);
  if (uri != nullptr && seen.wanted == uri) seen.declared = true;
}

// A layout has no use for a DTD, and entities are how small documents become large ones.
void on_doctype(void* data, const XML_Char*, const XML_Char*, const XML_Char*, int has_internal_subset) {
  if (has_internal_subset != 0) XML_StopParser(static_cast<Seen*>(data)->parser, XML_FALSE);
}

std::optional<std::string> find_xml_fault(std::string_view body, std::string_view wanted_namespace) {
  const std::unique_ptr<XML_ParserStruct, FreeParser> parser(XML_ParserCreateNS(nullptr, '\n'));
  Seen seen{wanted_namespace, wanted_namespace.empty(), parser.get()};
  XML_SetUserData(parser.get(), &seen);
  XML_SetNamespaceDeclHandler(parser.get(), on_namespace, nullptr);
  XML_SetStartDoctypeDeclHandler(parser.get(), on_doctype);
  const auto status = XML_Parse(parser.get(), body.data(), static_cast<int>(body.size()), 1);
  if (status != XML_STATUS_OK) {
    return std::string("not well-formed XML: ") + XML_ErrorString(XML_GetErrorCode(parser.get()));
  }
  if (!seen.declared) return "the XML does not declare the required namespace " + std::string(wanted_namespace);
  return std::nullopt;
}

std::string_view media_type(std::string_view content_type) {
  std::string_view type = content_type.substr(0, content_type.find(';'));
  while (type.ends_with(' ')) type.remove_suffix(1);
  return type;
}

}  // namespace

std::optional<std::string> find_fault(const RequireConfig& require, std::string_view content_type,
                                      std::string_view body) {
  if (body.empty()) return "the body is empty";
  for (const std::string& refused : require.content_type_not) {
    if (http::equal_ignoring_case(media_type(content_type), refused)) return "the content type is " + refused;
  }
  if (require.well_formed_xml || !require.xml_namespace.empty()) return find_xml_fault(body, require.xml_namespace);
  return std::nullopt;
}

}  // namespace sluice::documents
