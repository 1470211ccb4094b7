#include "adapters/sql/links/sql_link_store.h"

#include "adapters/sql/driver/sql_text.h"
#include "adapters/sql/links/import_rows.h"

namespace sluice::sql {
namespace {

using namespace links;

constexpr Statement keep_facts = R"(
    UPDATE link_canonicals SET title = $2, description = $3, site_name = $4, image_url = $5, icon_url = $6,
      fetched_at = now(), failure = NULL
    WHERE id = $1)"_sql;
constexpr Statement keep_failure = "UPDATE link_canonicals SET failure = $2 WHERE id = $1";

constexpr SqlPart link_columns{
    "link_columns",
    "i.id, i.folder, i.title, l.url, l.title, l.description, l.site_name, l.image_url, l.icon_url, l.fetched_at, "
    "l.failure"};
constexpr Statement list_all = sql_with<R"(
    SELECT @link_columns FROM link_instances i JOIN link_canonicals l ON l.id = i.link_id
    WHERE i.user_id = $1 AND i.id >= $2
    ORDER BY i.id LIMIT $3)",
                                        link_columns>;
constexpr Statement list_folder = sql_with<R"(
    SELECT @link_columns FROM link_instances i JOIN link_canonicals l ON l.id = i.link_id
    WHERE i.user_id = $1 AND i.id >= $2 AND i.folder = $4
    ORDER BY i.id LIMIT $3)",
                                           link_columns>;

TxTask<std::vector<Import>> end_link(Tx& tx, LinkId link, LinkEnd end, Statement statement, Params params) {
  const Rows kept = co_await tx.execute(statement, std::move(params));
  if (kept.affected == 0) co_return std::vector<Import>{};
  std::vector<Import> changed = co_await tell_imports(tx, link, end);
  co_return changed;
}

OwnedLink link_of(const Row& row) {
  OwnedLink link{.id = row.id<InstanceTag>(link_columns["i.id"]),
                 .folder = row.text(link_columns["i.folder"]),
                 .title = row.text(link_columns["i.title"]),
                 .url = row.text(link_columns["l.url"])};
  link.facts = {.title = row.text(link_columns["l.title"]),
                .description = row.text(link_columns["l.description"]),
                .site_name = row.text(link_columns["l.site_name"]),
                .image_url = row.text(link_columns["l.image_url"]),
                .icon_url = row.text(link_columns["l.icon_url"])};
  link.fetched_at = row.optional_time(link_columns["l.fetched_at"]);
  if (const auto failure = row.optional_text(link_columns["l.failure"]))
    link.failure = parse_enum<FailureReason>(*failure);
  return link;
}

}  // namespace

Task<std::vector<Import>> SqlLinkStore::enriched(LinkId link, PageFacts facts) {
  Params params(link, facts.title, facts.description, facts.site_name, facts.image_url, facts.icon_url);
  return database_.transact(end_link, link, LinkEnd::enriched, keep_facts, std::move(params));
}

Task<std::vector<Import>> SqlLinkStore::failed(LinkId link, FailureReason reason) {
  Params params(link, enum_name(reason));
  return database_.transact(end_link, link, LinkEnd::failed, keep_failure, std::move(params));
}

Task<LinkPage> SqlLinkStore::list(OwnerId owner, std::optional<std::string> folder, std::optional<InstanceId> from,
                                  size_t most) {
  Params params(owner, from.value_or(InstanceId()), most + 1);
  if (folder) params.add(*folder);
  const Rows rows = co_await database_.read(folder ? list_folder : list_all, std::move(params));
  LinkPage page;
  for (const Row& row : rows) {
    if (page.links.size() == most) {
      page.next = row.id<InstanceTag>(link_columns["i.id"]);
    } else {
      page.links.push_back(link_of(row));
    }
  }
  co_return page;
}

}  // namespace sluice::sql
