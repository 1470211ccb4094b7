#include "api/import_routes.h"
#include "api/query.h"
#include "base/json.h"

namespace sluice::api {
namespace {

using links::InstanceId;
using links::LinkStore;
using links::OwnedLink;
using links::OwnerId;

// No folder's own path: a slash stands between two names.
constexpr std::string_view top_folder = "/";

struct LinksQuery {
  std::optional<std::string> folder;
  std::optional<InstanceId> cursor;
  int64_t limit = default_page;

  static void describe(json::Object<LinksQuery>& object) {
    object.optional("folder", &LinksQuery::folder)
        .length(0, 1'000)
        .about(
            "Only links in this folder, such as `Bookmarks bar/News`; `/` is the top level. Empty means all "
            "folders.");
    object.optional("cursor", &LinksQuery::cursor).about("The `next` of the previous page.");
    describe_limit(object);
  }
};

constexpr std::string_view links_schema =
    R"({"type":"object","required":["links"],"properties":{"links":{"type":"array","items":{"type":"object",)"
    R"("required":["id","folder","title","url","page","fetchedAt","failure"],"properties":{)"
    R"("id":{"type":"string","format":"uuid"},"folder":{"type":"string"},"title":{"type":"string"},)"
    R"("url":{"type":"string","format":"uri"},"page":{"type":["object","null"],)"
    R"("required":["title","description","siteName","imageUrl","iconUrl"],"properties":{)"
    R"("title":{"type":"string"},"description":{"type":"string"},"siteName":{"type":"string"},)"
    R"("imageUrl":{"type":"string"},"iconUrl":{"type":"string"}}},"fetchedAt":{"type":["string","null"],"format":"date-time"},)"
    R"("failure":{"type":["string","null"]}}}},"next":{"type":"string","format":"uuid"}}})";

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
  auto query = decode_query<LinksQuery>(request);
  if (!query) co_return std::move(query.error());
  std::optional<std::string> folder = std::move(query->folder);
  if (folder == "") {
    folder.reset();
  } else if (folder == top_folder) {
    folder = "";
  }
  const auto most = static_cast<size_t>(query->limit);
  const links::LinkPage page = co_await links.list(owner, std::move(folder), query->cursor, most);
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
           .summary = "Lists the caller's links with the results of enrichment, oldest first.",
           .role = accounts::Role::user,
           .query = query_parameters<LinksQuery>(),
           .answers = {{200, "A page of links; `page` is null until the link has been fetched.",
                        std::string(links_schema)}},
           .action = [&links](const Call& call) {
             return list_links(links, call.request, OwnerId(call.caller->id.uuid()));
           }});
}

}  // namespace sluice::api
