// Exported bookmarks, from the upload to the last of their links, on each database.
#include <filesystem>
#include <future>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "tests/scenario/one_server.h"
#include "tests/support/needs.h"

namespace sluice::test {
namespace {

using namespace std::string_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

struct ImportAnswer {
  std::string id;
  std::string status;
  int64_t total = 0;
  int64_t processed = 0;
  int64_t failed = 0;
  std::string created_at;
  std::optional<std::string> started_at;
  std::optional<std::string> finished_at;
  std::optional<std::string> last_error;

  static void describe(json::Object<ImportAnswer>& object) {
    object.required("id", &ImportAnswer::id);
    object.required("status", &ImportAnswer::status);
    object.required("totalItems", &ImportAnswer::total);
    object.required("processedItems", &ImportAnswer::processed);
    object.required("failedItems", &ImportAnswer::failed);
    object.required("createdAt", &ImportAnswer::created_at);
    object.optional("startedAt", &ImportAnswer::started_at);
    object.optional("finishedAt", &ImportAnswer::finished_at);
    object.optional("lastError", &ImportAnswer::last_error);
  }
};

// The content of the file, as make_bookmarks.py reports it.
struct Expected {
  int64_t links = 0;
  int64_t pages = 0;

  static void describe(json::Object<Expected>& object) {
    object.required("links", &Expected::links);
    object.required("pages", &Expected::pages);
  }
};

struct LinkAnswer {
  std::string id;
  std::string folder;
  std::string title;
  std::string url;

  static void describe(json::Object<LinkAnswer>& object) {
    object.required("id", &LinkAnswer::id);
    object.required("folder", &LinkAnswer::folder);
    object.required("title", &LinkAnswer::title);
    object.required("url", &LinkAnswer::url);
  }
};
struct LinksAnswer {
  std::vector<LinkAnswer> links;
  std::optional<std::string> next;

  static void describe(json::Object<LinksAnswer>& object) {
    object.required("links", &LinksAnswer::links);
    object.optional("next", &LinksAnswer::next);
  }
};

struct JobEntry {
  std::string id;

  static void describe(json::Object<JobEntry>& object) { object.required("id", &JobEntry::id); }
};
struct JobList {
  std::vector<JobEntry> jobs;

  static void describe(json::Object<JobList>& object) { object.required("jobs", &JobList::jobs); }
};

const std::string small_file =
    "<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL><p>\n"
    "<DT><H3>Bar</H3><DL><p>\n"
    "<DT><A HREF=\"https://one.example/?utm_source=x\">One</A>\n"
    "<DT><A HREF=\"https://two.example/#part\">둘 &amp; more</A>\n"
    "<DT><A HREF=\"javascript:alert(1)\">no page</A>\n"
    "<DT><H3>Inner</H3><DL><p><DT><A HREF=\"HTTPS://ONE.example:443\">Uno</A></DL><p>\n"
    "</DL><p>\n</DL><p>\n";

// A file that has so many links and no end.
std::string beginning_of(int links) {
  std::string text = small_file.substr(0, small_file.find("<DT><A"));
  for (int i = 0; i < links; ++i) text += fmt::format("<DT><A HREF=\"https://new.example/{}\">new</A>\n", i);
  return text;
}

class Imports : public testing::TestWithParam<std::string>, protected OneServer {
 protected:
  void SetUp() override {
    if (GetParam() == "pgbouncer") SLUICE_NEEDS(PgBouncerServer::why_missing());
    start_server(GetParam() == "sqlite" ? Records::sqlite : Records::pgbouncer, settings());
    key_ = make_key("USER");
    service_key_ = make_key("SERVICE");
  }
  void TearDown() override { stop_server(); }

  // Links are not visited here: they end when the test cancels their jobs.
  virtual std::string settings() const {
    return "[links]\nenrich = false\n[links.imports]\nsettle_every = \"200ms\"\n";
  }

  std::string head_of_upload(size_t length, const std::string& more = "",
                             const std::string& type = "text/html; charset=utf-8") const {
    return fmt::format(
        "POST /api/v1/imports HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nContent-Type: {}\r\n"
        "Content-Length: {}\r\n{}\r\n",
        key_, type, length, more);
  }
  RawResponse upload(const std::string& file, const std::string& more = "") const {
    RawClient client(server_->port(), 2min);
    client.send(head_of_upload(file.size(), more));
    client.try_send(file);
    return client.read_response();
  }
  static ImportAnswer read(const RawResponse& response) {
    auto answer = json::decode<ImportAnswer>(response.body);
    EXPECT_TRUE(answer) << response.status << ' ' << response.body;
    return answer ? std::move(*answer) : ImportAnswer{};
  }
  ImportAnswer import(const std::string& file, const std::string& more = "") const {
    const RawResponse response = upload(file, more);
    EXPECT_EQ(response.status, 202) << response.body;
    return read(response);
  }
  ImportAnswer show(const std::string& id) const { return read(ask("GET", "/api/v1/imports/" + id)); }
  std::vector<LinkAnswer> all_links(const std::string& query = "") const {
    std::vector<LinkAnswer> all;
    std::optional<std::string> next = "";
    while (next) {
      const std::string cursor = next->empty() ? "" : "&cursor=" + *next;
      const RawResponse response = ask("GET", "/api/v1/links?limit=500" + cursor + query);
      auto page = json::decode<LinksAnswer>(response.body, json::Unknown::ignored);
      EXPECT_TRUE(page) << response.body;
      if (!page) break;
      std::ranges::move(page->links, std::back_inserter(all));
      next = page->next;
    }
    return all;
  }

  // With the key of a service.
  RawResponse ask_as_service(const std::string& method, const std::string& target) {
    std::swap(key_, service_key_);
    RawResponse response = ask(method, target);
    std::swap(key_, service_key_);
    return response;
  }
  std::vector<JobEntry> waiting_jobs() {
    const RawResponse response = ask_as_service("GET", "/api/v1/jobs?kind=enrich_link&status=queued&limit=500");
    return json::decode<JobList>(response.body, json::Unknown::ignored).value().jobs;
  }
  std::string counts_of_jobs() { return ask_as_service("GET", "/api/v1/jobs/stats").body; }

  // A stream of the import's events, its greeting read.
  std::unique_ptr<RawClient> watch(const std::string& id, std::optional<uint16_t> port = {}) const {
    auto client = std::make_unique<RawClient>(port.value_or(server_->port()));
    client->send(
        fmt::format("GET /api/v1/imports/{}/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\n\r\n", id, key_));
    EXPECT_THAT(client->read_until("\r\n\r\n"), HasSubstr("Content-Type: text/event-stream"));
    EXPECT_THAT(client->read_until("\n\n"), StartsWith("retry: "));
    return client;
  }

  // Streams may show that they are alive at any time.
  static std::string next_event(RawClient& stream) {
    std::string event = ":\n\n";
    while (event == ":\n\n") event = stream.read_until("\n\n");
    return event;
  }
  static std::string last_event(RawClient& stream) {
    std::string rest = stream.read_to_end();
    while (rest.starts_with(":\n\n")) rest.erase(0, 3);
    return rest;
  }

  template <class Condition>
  static bool eventually(Condition holds) {
    const auto end = std::chrono::steady_clock::now() + 1min;
    while (!holds()) {  // each costs a request
      if (std::chrono::steady_clock::now() > end) return false;
    }
    return true;
  }

  std::string service_key_;
};

TEST_P(Imports, folders_duplicates_and_links_to_no_page_are_told_apart) {
  const ImportAnswer import = this->import(small_file);
  EXPECT_EQ(import.total, 3);
  EXPECT_EQ(waiting_jobs().size(), 2U);
  const std::vector<LinkAnswer> links = all_links();
  std::vector<std::string> seen;
  for (const LinkAnswer& link : links) seen.push_back(link.folder + "|" + link.title + "|" + link.url);
  EXPECT_THAT(seen, testing::UnorderedElementsAre("Bar|One|https://one.example/", "Bar|둘 & more|https://two.example/",
                                                  "Bar/Inner|Uno|https://one.example/"));
  EXPECT_EQ(all_links("&folder=Bar").size(), 2U);
  EXPECT_EQ(all_links("&folder=Bar%2FInner").size(), 1U);
  EXPECT_EQ(all_links("&folder=/").size(), 0U);
  EXPECT_EQ(ask("GET", "/api/v1/links?limit=0").status, 422);
  EXPECT_EQ(ask("GET", "/api/v1/links?cursor=x").status, 422);
}

TEST_P(Imports, a_bad_file_gets_a_clear_error_and_changes_nothing) {
  import(small_file);
  const size_t jobs = waiting_jobs().size();
  const std::string begun = small_file.substr(0, small_file.find("<DT><H3>Inner"));
  const std::map<std::string, std::string> bad = {{begun, "malformed-bookmarks"},
                                                  {small_file + "</DL>", "malformed-bookmarks"},
                                                  {beginning_of(3'000) + "\0\x01\x02"s, "binary-file"},
                                                  {"\x89PNG\r\n\x1a\n\0\0"s, "binary-file"},
                                                  {"<html><body>hello</body></html>", "not-bookmarks"},
                                                  {"", "not-bookmarks"}};
  for (const auto& [file, code] : bad) {
    const RawResponse response = upload(file);
    EXPECT_EQ(response.status, 422) << response.body;
    EXPECT_THAT(response.body, AllOf(HasSubstr(fmt::format(R"("code":"{}")", code)), HasSubstr(R"("detail":"line )")));
  }
  EXPECT_EQ(waiting_jobs().size(), jobs);
  EXPECT_EQ(all_links().size(), 3U);
}

TEST_P(Imports, what_is_no_html_or_too_large_is_refused_before_it_is_read) {
  RawClient json(server_->port());
  json.send(head_of_upload(2, "", "application/json") + "{}");
  EXPECT_EQ(json.read_response().status, 415);
  RawClient large(server_->port());
  large.send(head_of_upload((50 << 20) + 1));
  EXPECT_EQ(large.read_response().status, 413);
  EXPECT_EQ(upload(small_file, "Idempotency-Key: " + std::string(201, 'k') + "\r\n").status, 422);
  key_ = "sk_wrong";
  EXPECT_EQ(upload(small_file).status, 401);
}

TEST_P(Imports, somebody_elses_import_does_not_exist) {
  const std::string import = "/api/v1/imports/" + this->import(small_file).id;
  EXPECT_EQ(ask("GET", import).status, 200);
  key_ = make_key("ADMIN");
  EXPECT_EQ(ask("GET", import).status, 404);
  EXPECT_EQ(ask("GET", import + "/events").status, 404);
  EXPECT_EQ(ask("POST", import + "/cancel").status, 404);
  EXPECT_TRUE(all_links().empty());
}

TEST_P(Imports, a_key_imports_once) {
  const ImportAnswer first = import(small_file, "Idempotency-Key: k1\r\n");
  EXPECT_EQ(import(small_file, "Idempotency-Key: k1\r\n").id, first.id);
  EXPECT_NE(import(small_file, "Idempotency-Key: k2\r\n").id, first.id);
  const RawResponse other_file = upload(small_file + "\n", "Idempotency-Key: k1\r\n");
  EXPECT_EQ(other_file.status, 422);
  EXPECT_THAT(other_file.body, HasSubstr("idempotency-key-reused"));
  EXPECT_EQ(upload("broken", "Idempotency-Key: k3\r\n").status, 422);
  EXPECT_EQ(import(small_file, "Idempotency-Key: k3\r\n").total, 3);
}

TEST_P(Imports, canceling_stops_what_has_not_started) {
  const ImportAnswer first = import(small_file);
  const ImportAnswer second = import(small_file);
  const RawResponse canceled = ask("POST", "/api/v1/imports/" + first.id + "/cancel");
  EXPECT_EQ(canceled.status, 200);
  EXPECT_EQ(read(canceled).status, "canceled");
  EXPECT_TRUE(read(canceled).finished_at);
  EXPECT_EQ(waiting_jobs().size(), 2U) << "the other import wants them too";
  EXPECT_EQ(ask("POST", "/api/v1/imports/" + second.id + "/cancel").status, 200);
  EXPECT_EQ(waiting_jobs().size(), 0U);
  EXPECT_EQ(ask("POST", "/api/v1/imports/" + second.id + "/cancel").status, 200) << "harmless";
  EXPECT_EQ(all_links().size(), 3U);
  const ImportAnswer third = import(small_file);
  EXPECT_EQ(third.status, "running");
  EXPECT_EQ(waiting_jobs().size(), 2U) << "a canceled job does not count as one";
}

TEST_P(Imports, progress_is_pushed_until_the_end) {
  const ImportAnswer import = this->import(small_file);
  const auto stream = watch(import.id);
  EXPECT_THAT(next_event(*stream), AllOf(StartsWith("event: PROGRESS\ndata: {\"id\":\"" + import.id),
                                         HasSubstr(R"("status":"running","totalItems":3,"processedItems":0)")));
  const std::vector<JobEntry> jobs = waiting_jobs();
  ASSERT_EQ(jobs.size(), 2U);
  EXPECT_EQ(ask_as_service("POST", "/api/v1/jobs/" + jobs[0].id + "/cancel").status, 200);
  EXPECT_THAT(next_event(*stream), AllOf(StartsWith("event: PROGRESS\n"), Not(HasSubstr(R"("processedItems":0)"))));
  const auto late = watch(import.id);
  EXPECT_THAT(next_event(*late), StartsWith("event: PROGRESS\n"));
  EXPECT_EQ(ask_as_service("POST", "/api/v1/jobs/" + jobs[1].id + "/cancel").status, 200);
  const auto is_done = AllOf(StartsWith("event: DONE\n"),
                             HasSubstr(R"("status":"succeeded","totalItems":3,"processedItems":3,"failedItems":3)"));
  EXPECT_THAT(last_event(*stream), is_done);
  EXPECT_THAT(last_event(*late), is_done);
  EXPECT_THAT(last_event(*watch(import.id)), is_done) << "who comes afterwards is told as well";
  EXPECT_EQ(ask("POST", "/api/v1/imports/" + import.id + "/cancel").status, 409);
}

TEST_P(Imports, another_instance_pushes_progress_too) {
  if (GetParam() == "sqlite") GTEST_SKIP() << "has one instance";
  const ImportAnswer import = this->import(small_file);
  SluiceServer other(SluiceOptions{.config = config_});
  const auto stream = watch(import.id, other.port());
  EXPECT_THAT(next_event(*stream), StartsWith("event: PROGRESS\n"));
  EXPECT_EQ(ask("POST", "/api/v1/imports/" + import.id + "/cancel").status, 200);
  EXPECT_THAT(last_event(*stream), AllOf(StartsWith("event: DONE\n"), HasSubstr(R"("status":"canceled")")));
  EXPECT_EQ(other.stop(), 0);
}

TEST_P(Imports, streams_end_when_the_server_stops) {
  const auto stream = watch(import(small_file).id);
  EXPECT_THAT(next_event(*stream), StartsWith("event: PROGRESS\n"));
  stop_server();
  EXPECT_THAT(last_event(*stream), StartsWith("event: RECONNECT\n"));
}

TEST_P(Imports, an_upload_whose_sender_leaves_is_taken_back) {
  const std::string begun = beginning_of(600);
  {
    RawClient client(server_->port());
    client.send(head_of_upload(begun.size() + 1'000) + begun);
    EXPECT_TRUE(eventually([this] { return waiting_jobs().size() == 500; }));
  }
  EXPECT_TRUE(eventually([this] { return waiting_jobs().empty(); }));
  EXPECT_TRUE(all_links().empty());
}

TEST_P(Imports, a_server_that_dies_in_the_middle_of_an_upload_leaves_nothing_half_counted) {
  const std::string begun = beginning_of(600);
  RawClient client(server_->port());
  client.send(head_of_upload(begun.size() + 1'000, "Idempotency-Key: k\r\n") + begun);
  EXPECT_TRUE(eventually([this] { return waiting_jobs().size() == 500; }));
  server_->kill();
  // Not for the whole story: on a busy machine an upload may take longer.
  server_.emplace(SluiceOptions{.config = config_, .environment = {{"SLUICE_LINKS_IMPORTS_READING_LIMIT", "1s"}}});
  EXPECT_TRUE(eventually([this] { return waiting_jobs().empty(); }));
  stop_server();
  server_.emplace(SluiceOptions{.config = config_});
  EXPECT_TRUE(all_links().empty());
  const ImportAnswer again = import(small_file, "Idempotency-Key: k\r\n");
  EXPECT_EQ(again.total, 3);
  EXPECT_EQ(waiting_jobs().size(), 2U);
}

class LargeImports : public Imports {
 protected:
  std::string settings() const override { return "[links]\nenrich = false\n"; }
};

TEST_P(LargeImports, a_large_export_comes_in_with_the_right_counts_and_once_only) {
  const std::string file = (folder_ / "bookmarks.html").string();
  const std::string printed = run_program(
      {.arguments = {"python3", std::string(std::getenv("SLUICE_SOURCE")) + "/tests/support/make_bookmarks.py", file}});
  const Expected expected = json::decode<Expected>(printed, json::Unknown::ignored).value();
  std::ifstream stream(file);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};

  for (int time = 0; time < 2; ++time) {
    const auto began = std::chrono::steady_clock::now();
    const ImportAnswer import = this->import(text);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    RecordProperty(fmt::format("seconds_{}", time), fmt::format("{:.2f}", took.count()));
    fmt::print("20,000 bookmarks in {:.2f} s\n", took.count());
    EXPECT_EQ(import.status, "running");
    EXPECT_EQ(import.total, expected.links);
    EXPECT_EQ(import.processed, 0);
    EXPECT_THAT(counts_of_jobs(), HasSubstr(fmt::format(R"("queued":{})", expected.pages)));
  }
}

INSTANTIATE_TEST_SUITE_P(On, Imports, testing::Values("sqlite", "pgbouncer"),
                         [](const auto& info) { return info.param; });

INSTANTIATE_TEST_SUITE_P(On, LargeImports, testing::Values("sqlite", "pgbouncer"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace sluice::test
