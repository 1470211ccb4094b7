#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <set>

#include <fmt/format.h>

#include "adapters/sql/documents/sql_document_records.h"
#include "runtime/system_clock.h"
#include "server/blocking.h"
#include "server/commands.h"
#include "server/demo.h"
#include "server/document_parts.h"
#include "server/document_prewarm.h"
#include "server/engines.h"
#include "server/system_random.h"

namespace sluice::server {
namespace {

namespace fs = std::filesystem;
using documents::DocumentPath;
using documents::RefreshRequest;

struct DocumentsFlags {
  CommonFlags common;
  std::string origin;
  std::string list;
  std::string path;
  bool force = false;
  bool all = false;
};

// Shared by all commands on documents, which may run beside the server that owns the data folder.
struct Archive {
  Archive(const Settings& settings, const documents::OriginConfig& origin_config)
      : config(origin_config),
        engines(settings, {Service::documents}, clock, Engines::Access::beside_owner),
        records(engines.of(Service::documents)),
        scope(here.get_executor()),
        parts(settings.documents, engines.of(Service::documents), clock, secrets, scope, here.get_executor()) {}

  const documents::OriginConfig& config;
  asio::io_context here;
  SystemClock clock;
  SystemRandom secrets;
  Engines engines;
  sql::SqlDocumentRecords records;
  TaskScope scope;
  DocumentParts parts;
};

using Work = Task<int> (*)(Archive&, const DocumentsFlags&);

// Downloads and kept connections end before the engines do.
Task<int> work_and_close(Work work, Archive& archive, const DocumentsFlags& flags) {
  std::exception_ptr error;
  int code = 0;
  archive.parts.start_limits();
  try {
    code = co_await work(archive, flags);
  } catch (...) {
    error = std::current_exception();
  }
  co_await archive.scope.close();
  co_await archive.parts.close();
  if (error) std::rethrow_exception(error);
  co_return code;
}

int in_archive(const DocumentsFlags& flags, Work work) {
  const auto loaded = settings_or_complain(flags.common);
  if (!loaded) return asked_wrongly;
  find_demo_origin(loaded->settings);
  const auto& origins = loaded->settings.documents.origin;
  const auto origin = std::ranges::find(origins, flags.origin, &documents::OriginConfig::name);
  if (origin == origins.end()) {
    std::string names;
    for (const documents::OriginConfig& one : origins) names += (names.empty() ? "" : ", ") + one.name;
    fmt::print(stderr, "sluice: there is no origin {}; the configuration has: {}\n", flags.origin,
               names.empty() ? "none" : names);
    return asked_wrongly;
  }
  Archive archive(loaded->settings, *origin);
  return run_blocking(archive.here, work_and_close(work, archive, flags));
}

int not_a_path(const std::string& text) {
  fmt::print(stderr, "sluice: {} is not a valid document path\n", text);
  return asked_wrongly;
}

std::optional<std::string> read_list(const std::string& list) {
  if (list == "-") return std::string(std::istreambuf_iterator<char>(std::cin), {});
  std::ifstream file(list, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// The known documents of the origin: static copies and earlier downloads.
Task<std::vector<RefreshRequest>> known_documents(Archive& archive, bool force) {
  const std::vector<std::string> stored = co_await archive.records.stored_paths(archive.config.name);
  std::set<std::string> paths(stored.begin(), stored.end());
  std::error_code error;
  const fs::path folder = archive.config.static_dir;
  if (!folder.empty()) {
    for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
      if (at->is_regular_file(error)) paths.insert(at->path().lexically_relative(folder).generic_string());
    }
  }
  std::vector<RefreshRequest> wanted;
  for (const std::string& path : paths) {
    if (const auto parsed = DocumentPath::parse(path)) wanted.push_back({.path = *parsed, .force = force});
  }
  co_return wanted;
}

// A line about every second, so that it can be followed and does not fill a log.
class Progress {
 public:
  Progress(const Clock& clock, size_t total) : clock_(clock), total_(total), next_(clock.now() + 1s) {}

  void show(const PrewarmOutcome& outcome) {
    if (outcome.done() < total_ && clock_.now() < next_) return;
    next_ = clock_.now() + 1s;
    fmt::print(stderr, "{} of {} done, {} downloaded, {} failed\n", outcome.done(), total_, outcome.downloaded,
               outcome.failed.size());
  }

 private:
  const Clock& clock_;
  size_t total_;
  Instant next_;
};

Task<int> run_prewarm(Archive& archive, const DocumentsFlags& flags) {
  PrewarmOrder order{.origin = flags.origin, .documents = {}};
  if (flags.list.empty()) {
    order.documents = co_await known_documents(archive, flags.force);
  } else {
    const std::optional<std::string> text = read_list(flags.list);
    if (!text) {
      fmt::print(stderr, "sluice: cannot read the file {}\n", flags.list);
      co_return asked_wrongly;
    }
    auto parsed = parse_prewarm_list(*text, flags.force);
    if (!parsed) co_return not_a_path(parsed.error());
    order.documents = std::move(*parsed);
  }
  order.at_once = static_cast<size_t>(archive.config.max_concurrent);
  order.again_within = archive.config.slot_wait;
  order.wait_limit = archive.config.wait_limit + archive.config.slot_wait + archive.config.timeout;
  const size_t total = order.documents.size();
  Progress progress(archive.clock, total);
  const auto show = [&progress](const PrewarmOutcome& outcome) { progress.show(outcome); };
  documents::Documents& documents = archive.parts.documents();
  const PrewarmOutcome outcome = co_await prewarm(documents, archive.clock, archive.secrets, std::move(order), show);
  for (const auto& [path, reason] : outcome.failed) fmt::print(stderr, "{}: {}\n", path, reason);
  fmt::print("{} documents: {} there already, {} downloaded, {} failed\n", total, outcome.there_already,
             outcome.downloaded, outcome.failed.size());
  co_return outcome.failed.empty() ? 0 : failed;
}

void print_record(const sql::DocumentRecord& record) {
  const auto line = [](std::string_view name, const std::string& value) { fmt::print("{:<14}{}\n", name, value); };
  line("state", record.state);
  line("bytes", record.bytes ? std::to_string(*record.bytes) : "no copy");
  line("content type", record.content_type.value_or("-"));
  line("etag", record.etag.value_or("-"));
  line("case type", record.case_type.value_or("-"));
  line("fetched at", record.fetched_at ? format_time(*record.fetched_at) : "-");
  line("listed", record.listed ? "yes, by prewarm" : "no");
  line("asked for", format_time(record.asked_at) + " or within the day after");
  line("forced", record.forced ? "yes, outranks the static file" : "no");
  const auto expiry = record.claim_expires_at ? format_time(*record.claim_expires_at) : "-";
  line("claim", record.claimed_by
                    ? fmt::format("{}, {} {}", *record.claimed_by, record.claim_live ? "until" : "expired at", expiry)
                    : "none");
  line("claim token", std::to_string(record.claim_token));
  line("held down", record.held_until
                        ? fmt::format("until {}, after {} failures", format_time(*record.held_until), record.failures)
                        : "no");
  line("updated at", format_time(record.updated_at));
}

Task<int> run_show(Archive& archive, const DocumentsFlags& flags) {
  const auto path = DocumentPath::parse(flags.path);
  if (!path) co_return not_a_path(flags.path);
  documents::DocumentKey key{flags.origin, *path};
  const std::optional<sql::DocumentRecord> record = co_await archive.records.find(std::move(key));
  const fs::path copy = fs::path(archive.config.static_dir) / flags.path;
  std::error_code error;
  const bool is_static = !archive.config.static_dir.empty() && fs::is_regular_file(copy, error);
  fmt::print("{:<14}{}\n{:<14}{}\n{:<14}{}\n", "origin", flags.origin, "path", flags.path, "static copy",
             is_static ? copy.string() : "none");
  if (record) print_record(*record);
  if (!record) fmt::print("{:<14}{}\n", "database", "nothing");
  co_return record || is_static ? 0 : failed;
}

Task<int> run_purge(Archive& archive, const DocumentsFlags& flags) {
  if (flags.path.empty() && !flags.all) {
    fmt::print(stderr, "sluice: give a path, or --all\n");
    co_return asked_wrongly;
  }
  std::vector<std::string> paths{flags.path};
  if (flags.all) paths = co_await archive.records.stored_paths(flags.origin);
  size_t purged = 0;
  for (const std::string& text : paths) {
    const auto path = DocumentPath::parse(text);
    if (!path) co_return not_a_path(text);
    const bool was_there = co_await archive.parts.documents().purge(flags.origin, *path);
    purged += was_there ? 1 : 0;
  }
  if (purged == 0 && !flags.all) {
    fmt::print(stderr, "sluice: no copy of {} is stored\n", flags.path);
    co_return failed;
  }
  fmt::print("{} purged; running servers drop their copies within 5 s\n", purged);
  co_return 0;
}

}  // namespace

Command documents_command() {
  const auto flags = std::make_shared<DocumentsFlags>();
  const auto command = [&](const char* name, const char* help, const char* example, Work work,
                           std::vector<CommandOption> options) {
    Command one{.name = name,
                .help = help,
                .footer = std::string("Example: ") + example,
                .options = with_common(flags->common, std::move(options)),
                .run = [flags, work] { return in_archive(*flags, work); }};
    const CommandOption origin{
        .name = "origin", .value = &flags->origin, .help = "The origin's name", .required = true};
    one.options.insert(one.options.begin(), origin);
    return one;
  };
  return {
      .name = "documents",
      .help = "Manage cached documents, also beside a running server",
      .footer = "Example: sluice documents show scourt ssgo101/SSGO101F01.xml",
      .commands = {
          command("prewarm", "Download missing documents before readers ask for them",
                  "sluice documents prewarm scourt paths.txt\n"
                  "Exit code: 0 all documents have a copy, 1 some failed, 2 invalid arguments.",
                  run_prewarm,
                  {{.name = "list",
                    .value = &flags->list,
                    .help = "File with a path on each line, optionally followed by a space and its case type; - is "
                            "standard input. "
                            "Without it: the static copies and earlier downloads"},
                   {.name = "--force", .value = &flags->force, .help = "Download even if a valid copy exists"}}),
          command("show", "Show the record of a document", "sluice documents show scourt ssgo101/SSGO101F01.xml",
                  run_show, {{.name = "path", .value = &flags->path, .help = "The document's path", .required = true}}),
          command(
              "purge", "Delete the stored copy of a document, or all copies of an origin",
              "sluice documents purge scourt ssgo101/SSGO101F01.xml", run_purge,
              {{.name = "path", .value = &flags->path, .help = "The document's path"},
               {.name = "--all", .value = &flags->all, .help = "Every document of the origin", .excludes = "path"}})}};
}

}  // namespace sluice::server
