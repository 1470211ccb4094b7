#include "adapters/sql/links/import_batch.h"

#include <map>
#include <set>

#include "adapters/sql/driver/given_rows.h"
#include "adapters/sql/driver/sql_text.h"
#include "adapters/sql/links/import_rows.h"
#include "links/enrichment_job.h"

namespace sluice::sql {
namespace {

using links::Bookmark;
using links::Import;
using links::ImportId;
using links::InstanceId;
using links::LinkId;
using links::LinkTag;

constexpr Statement add_links = R"(
    @given(id uuid, url text, domain text)
    INSERT INTO link_canonicals (id, url, domain, created_at)
    @values(given.id, given.url, given.domain, now())
    ON CONFLICT (id) DO NOTHING)"_sql;
constexpr Statement add_places = R"(
    @given(id uuid, folder text, link_id uuid, title text)
    INSERT INTO link_instances (id, user_id, folder, link_id, title, import_id, created_at)
    @values(given.id, @cast($5, uuid), given.folder, given.link_id, given.title, @cast($6, uuid), now())
    ON CONFLICT (user_id, folder, link_id) DO UPDATE SET title = excluded.title
      WHERE link_instances.import_id = excluded.import_id)"_sql;
constexpr Statement use_again = R"(
    @given(id uuid)
    UPDATE link_canonicals SET unused_since = NULL @from_given WHERE @lookup(link_canonicals.id = given.id))"_sql;
// Bookmarks of other imports: those that get another title, and those whose import may still turn out to be bad. A
// status is asked for as a value: as an EXISTS it would be looked up in a hash of all imports. A place is looked for in
// the order of links: else PostgreSQL may go through the whole folder by the index that lists it. SQLite looks it up.
constexpr Statement name_places = R"(
    @given(folder text, link_id uuid, title text)
    INSERT INTO import_places (import_id, instance_id, title)
    SELECT @cast($5, uuid), place.id, given.title
    @postgres(
      @from_each(SELECT id, link_id, title, import_id FROM link_instances
        WHERE user_id = $4::uuid AND folder = given.folder AND link_id >= given.link_id
        ORDER BY link_id LIMIT 1) AS place
      WHERE place.link_id = given.link_id)
    @sqlite(
      FROM link_instances AS place WHERE user_id = $4 AND folder = given.folder AND link_id = given.link_id)
    AND ((SELECT true FROM import_places t WHERE t.import_id = @cast($5, uuid) AND t.instance_id = place.id)
      OR (place.import_id <> @cast($5, uuid) AND (place.title <> given.title OR
        (SELECT status FROM import_jobs WHERE id = place.import_id) IN ('queued', 'failed'))))
    ON CONFLICT (import_id, instance_id) DO UPDATE SET title = excluded.title)"_sql;
constexpr Statement add_waiting = R"(
    @given(link_id uuid, bookmarks bigint, outcome text)
    INSERT INTO import_links AS w (import_id, link_id, bookmarks, outcome)
    @values(@cast($4, uuid), given.link_id, given.bookmarks, given.outcome)
    ON CONFLICT (import_id, link_id) DO UPDATE SET bookmarks = w.bookmarks + excluded.bookmarks
    RETURNING link_id, outcome)"_sql;
// Also a job that another import added: otherwise the link would seem to have no job.
constexpr Statement keep_job = R"(
    @given(id uuid, job_id uuid)
    UPDATE link_canonicals SET job_id = given.job_id, failure = NULL @from_given
    WHERE @lookup(link_canonicals.id = given.id) AND link_canonicals.job_id IS DISTINCT FROM given.job_id)"_sql;
constexpr Statement count_items = R"(
    UPDATE import_jobs SET total_items = total_items + $2, processed_items = processed_items + $3,
      failed_items = failed_items + $4, updated_at = now()
    WHERE id = $1 AND status = 'queued')"_sql;

GivenRows ids_of(const ImportBatch& batch) {
  GivenRows ids;
  for (const ImportBatch::Link& link : batch.links) ids.add(link.id);
  return ids;
}

// Locks the links, adds those that are missing, and tells which of them are enriched.
TxTask<std::set<LinkId>> hold_links(Tx& tx, ImportBatchPtr batch) {
  GivenRows given;
  for (const ImportBatch::Link& link : batch->links) given.add(link.id, link.url.text(), link.url.domain());
  Rows held;
  do {  // again where an unused link was deleted between the two statements
    co_await execute_many(tx, add_links, given);
    held = co_await execute_many(tx, lock_links, ids_of(*batch));
  } while (held.size() < batch->links.size());
  std::set<LinkId> enriched;
  GivenRows unused;
  for (const Row& row : held) {
    if (row.boolean(1)) enriched.insert(row.id<LinkTag>(0));
    if (row.boolean(2)) unused.add(row.uuid(0));
  }
  co_await execute_many(tx, use_again, std::move(unused));
  co_return enriched;
}

// The number of bookmarks whose links are settled, and how many of these links failed.
struct Ended {
  int64_t processed = 0;
  int64_t failed = 0;
};

TxTask<Ended> wait_for_links(Tx& tx, ImportBatchPtr batch, std::set<LinkId> enriched) {
  std::map<LinkId, int64_t> bookmarks;
  GivenRows given;
  for (const ImportBatch::Link& link : batch->links) {
    bookmarks.emplace(link.id, link.bookmarks);
    given.add(link.id, link.bookmarks, enriched.contains(link.id) ? "enriched" : "pending");
  }
  const Rows rows = co_await execute_many(tx, add_waiting, std::move(given), Params(batch->import));
  Ended ended;
  for (const Row& row : rows) {
    if (row.text(1) == "pending") continue;
    const int64_t count = bookmarks.at(row.id<LinkTag>(0));
    ended.processed += count;
    if (row.text(1) == "failed") ended.failed += count;
  }
  co_return ended;
}

TxTask<> add_bookmarks(Tx& tx, ImportBatchPtr batch, links::OwnerId owner) {
  GivenRows places;
  GivenRows titles;
  for (const ImportBatch::Place& place : batch->places) {
    places.add(place.id, place.folder, place.link, place.title);
    titles.add(place.folder, place.link, place.title);
  }
  co_await execute_many(tx, add_places, std::move(places), Params(owner, batch->import));
  co_await execute_many(tx, name_places, std::move(titles), Params(owner, batch->import));
}

TxTask<> add_jobs(Tx& tx, ImportBatchPtr batch) {
  const std::vector<jobs::Enqueued> answers = co_await enqueue_jobs(tx, batch->jobs);
  GivenRows of_links;
  for (size_t i = 0; i < answers.size(); ++i) of_links.add(batch->links[i].id, answers[i].id);
  co_await execute_many(tx, keep_job, std::move(of_links));
}

}  // namespace

ImportBatchPtr prepare_batch(ImportId import, const std::vector<Bookmark>& bookmarks, const jobs::JobKinds& kinds,
                             Time now, Random& random) {
  std::map<LinkId, ImportBatch::Link> links;
  std::map<std::pair<std::string, LinkId>, ImportBatch::Place> places;
  for (const Bookmark& bookmark : bookmarks) {
    const LinkId id = bookmark.url.id();
    ++links.try_emplace(id, ImportBatch::Link{bookmark.url, id}).first->second.bookmarks;
    const auto place = places.try_emplace({bookmark.folder, id}).first;
    place->second = {InstanceId::make(now, random), bookmark.folder, id, bookmark.title};
  }
  auto batch = std::make_shared<ImportBatch>();
  batch->import = import;
  batch->bookmarks = static_cast<int64_t>(bookmarks.size());
  std::vector<jobs::NewJob> wanted;
  for (auto& [id, link] : links) {
    wanted.push_back({.kind = links::enrich_link,
                      .payload = links::enrichment_payload(link.url),
                      .unique_key = id.text(),
                      .throttle_key = link.url.domain()});
    batch->links.push_back(std::move(link));
  }
  for (auto& [key, place] : places) batch->places.push_back(std::move(place));
  batch->jobs = prepare_jobs(std::move(wanted), kinds, now, random);
  return batch;
}

TxTask<bool> add_batch(Tx& tx, ImportBatchPtr batch) {
  const std::optional<Import> import = co_await read_import(tx, batch->import);
  if (!import || import->status != links::ImportStatus::queued) co_return false;
  const std::set<LinkId> enriched = co_await hold_links(tx, batch);
  co_await add_bookmarks(tx, batch, import->owner);
  const Ended ended = co_await wait_for_links(tx, batch, enriched);
  co_await add_jobs(tx, batch);
  const Rows counted =
      co_await tx.execute(count_items, Params(batch->import, batch->bookmarks, ended.processed, ended.failed));
  if (counted.affected == 0) throw ImportClosed{};
  co_return true;
}

}  // namespace sluice::sql
