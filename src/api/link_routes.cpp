#include "api/import_routes.h"
#include "api/link_view.h"
#include "api/query.h"

namespace sluice::api {
namespace {

using links::InstanceId;
using links::LinkStore;
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
  co_return http::Response::json(200, json::encode(page));
}

}  // namespace

void add_link_routes(Api& api, LinkStore& links) {
  api.add({.pattern = "/api/v1/links",
           .tag = "imports",
           .summary = "Lists the caller's links with the results of enrichment, oldest first.",
           .role = accounts::Role::user,
           .query = query_parameters<LinksQuery>(),
           .answers = {{200, "A page of links; `page` is null until the link has been fetched.",
                        json::output_schema<links::LinkPage>()}},
           .action = [&links](const Call& call) {
             return list_links(links, call.request, OwnerId(call.caller->id.uuid()));
           }});
}

}  // namespace sluice::api
