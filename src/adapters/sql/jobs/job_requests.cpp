#include "adapters/sql/jobs/job_requests.h"

#include "adapters/sql/driver/sql_text.h"
#include "base/check.h"

namespace sluice::sql {
namespace {

using jobs::Enqueued;

constexpr Statement insert_request =
    "INSERT INTO job_requests (id, content, answer, asked_at) VALUES ($1, $2, '', now()) ON CONFLICT DO NOTHING";
constexpr Statement set_answer = "UPDATE job_requests SET answer = $2 WHERE id = $1";
constexpr Statement find_answer = "SELECT answer FROM job_requests WHERE id = $1 AND content = $2";
constexpr Statement remove_old = R"(
    DELETE FROM job_requests @using_found(job_requests, (id),
      SELECT id FROM job_requests WHERE asked_at < now() - @us($1)
      ORDER BY asked_at LIMIT $2 @lock(FOR UPDATE SKIP LOCKED)))"_sql;

constexpr size_t id_length = 36;
constexpr char added = '+';
constexpr char was_there = '=';

std::string text_of(const std::vector<Enqueued>& answers) {
  std::string text;
  text.reserve(answers.size() * (id_length + 1));
  for (const Enqueued& one : answers) {
    text += one.id.text();
    text += one.duplicate ? was_there : added;
  }
  return text;
}

std::vector<Enqueued> answers_of(std::string_view text) {
  std::vector<Enqueued> answers;
  for (; text.size() > id_length; text.remove_prefix(id_length + 1)) {
    const auto id = jobs::JobId::parse(text.substr(0, id_length));
    check(id.has_value(), "the stored answer of a request is malformed");
    answers.push_back({*id, text[id_length] == was_there});
  }
  return answers;
}

}  // namespace

TxTask<std::optional<std::vector<Enqueued>>> enqueue_for_request(Tx& tx, jobs::EnqueueRequest request,
                                                                 PreparedJobs jobs) {
  const Rows inserted = co_await tx.execute(insert_request, Params(request.id, request.content));
  if (inserted.affected == 0) {
    const Rows found = co_await tx.execute(find_answer, Params(request.id, request.content));
    if (found.empty()) co_return std::nullopt;
    co_return answers_of(found.one().text(0));
  }
  std::vector<Enqueued> answers = co_await enqueue_jobs(tx, std::move(jobs));
  Params answer(request.id, text_of(answers));
  co_await tx.execute(set_answer, std::move(answer));
  co_return answers;
}

TxTask<size_t> forget_old_requests(Tx& tx, Duration age, size_t most) {
  const Rows removed = co_await tx.execute(remove_old, Params(age.count(), most));
  co_return static_cast<size_t>(removed.affected);
}

}  // namespace sluice::sql
