#include "api/import_routes.h"
#include "api/paging.h"
#include "base/json.h"

namespace sluice::api {
namespace {

using links::InstanceId;
using links::LinkStore;
using links::OwnedLink;
using links::OwnerId;

// No folder's own path: a slash stands between two names.
constexpr std::string_view top_folder = "/";

constexpr std::string_view links_schema =
    R"({"type":"object","required":["links"],"properties":{"links":{"type":"array","items":{"type":"object",)"
    R"("required":["id","folder","title","url","page","fetchedAt","failure"],"properties":{)"
    R"("id":{"type":"string","format":"uuid"},"folder":{"type":"string"},"title":{"type":"string"},)"
    R"("url":{"type":"string","format":"uri"},"page":{"type":["object","null"],"properties":{)"
    R"("title":{"type":"string"},"description":{"type":"string"},"siteName":{"type":"string"},)"
    R"("imageUrl":{"type":"string"},"iconUrl":{"type":"string"}}},"fetchedAt":{"type":["string","null"]},)"
    R"("failure":{"type":["string","null"]}}}},"next":{"type":"string"}}})";

void write_link(json::Writer& writer, const OwnedLink& link) {
  writer.begin_object().field("id", link.id).field("folder", link.folder).field("title", link.title);
  writer.field("url", link.url).key("page");
  if (link.fetched_at) {
    const links::PageFacts& facts = link.facts;
    writer.begin_object().field("title", facts.title).field("description", facts.description);
    writer.field("siteName", facts.site_name).field("imageUrl", facts.image_url).field("iconUrl", facts.icon_url);
    writer.end_object();
  } else {
    writer.null();
  }
  writer.field("fetchedAt", link.fetched_at).field("failure", link.failure).end_object();
}

Task<http::Response> list_links(LinkStore& links, http::Request& request, OwnerId owner) {
  const auto most = page_size(request);
  if (!most) co_return bad_page_size(request);
  std::optional<InstanceId> from;
  if (const auto cursor = filter(request, "cursor")) {
    from = InstanceId::parse(*cursor);
    if (!from) co_return bad_cursor(request);
  }
  auto folder = filter(request, "folder");
  if (folder == top_folder) folder = "";
  const links::LinkPage page = co_await links.list(owner, std::move(folder), from, *most);
  std::string body;
  json::Writer writer(body);
  writer.begin_object().key("links").begin_array();
  for (const OwnedLink& link : page.links) write_link(writer, link);
  writer.end_array();
  if (page.next) writer.field("next", *page.next);
  writer.end_object();
  co_return http::Response::json(200, std::move(body));
}

}  // namespace

void add_link_routes(Api& api, LinkStore& links) {
  api.add({.pattern = "/api/v1/links",
           .tag = "imports",
           .summary = "One's links with what enrichment found, the oldest first.",
           .role = accounts::Role::user,
           .query = {{"folder", "Of this folder (`Bookmarks bar/News`); `/` is the top. All where it is empty."},
                     {"cursor", "`next` of the page before."},
                     {"limit", "Links on a page.", std::string(page_size_schema)}},
           .answers = {{200, "A page of them; `page` is null until the link was fetched.", std::string(links_schema)},
                       {422, "A value cannot be; `field` names it."}},
           .action = [&links](const Call& call) {
             return list_links(links, call.request, OwnerId(call.caller->id.uuid()));
           }});
}

}  // namespace sluice::api
