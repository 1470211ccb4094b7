// The ports of imports in one process and in virtual time, with a store that can be made slow or fail.
//
// For testing the rules above them. Left out on purpose, so that it passes no contract suite: bookmarks, links and jobs
// are only counted.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "http/message.h"
#include "links/import_news.h"
#include "links/import_store.h"
#include "runtime/clock.h"
#include "runtime/errors.h"

namespace sluice::flows {

using links::Bookmark;
using links::CancelRefused;
using links::Import;
using links::ImportId;
using links::ImportStatus;
using links::OwnerId;

struct PretendImportStore : links::ImportStore {
  Task<std::optional<Import>> begin(ImportId id, OwnerId owner) override {
    if (imports.contains(id)) co_return std::nullopt;
    const Import made{.id = id, .owner = owner};
    co_return imports.emplace(id, made).first->second;
  }
  Task<bool> add(ImportId id, std::vector<Bookmark> bookmarks) override {
    if (away) throw EngineUnavailable("pretend", "away");
    Import& import = imports.at(id);
    if (import.status != ImportStatus::queued) co_return false;
    batches.push_back(bookmarks.size());
    import.total_items += static_cast<int64_t>(bookmarks.size());
    co_return true;
  }
  Task<std::optional<Import>> end_reading(ImportId id, links::WholeFile file) override {
    return end(id, ImportStatus::running, [file](Import& import) {
      import.skipped_items = file.skipped;
      import.content = file.content;
    });
  }
  Task<std::optional<Import>> reject(ImportId id, std::string error) override {
    if (away) throw EngineUnavailable("pretend", "away");
    return end(id, ImportStatus::failed, [error](Import& import) { import.last_error = error; });
  }
  Task<std::optional<Import>> find(ImportId id, OwnerId owner) override {
    const auto found = imports.find(id);
    if (found == imports.end() || found->second.owner != owner) co_return std::nullopt;
    co_return found->second;
  }
  Task<Result<Import, CancelRefused>> cancel(ImportId id, OwnerId owner) override {
    const auto found = imports.find(id);
    if (found == imports.end() || found->second.owner != owner) co_return CancelRefused::unknown;
    if (found->second.ended()) co_return CancelRefused::ended;
    found->second.status = ImportStatus::canceled;
    co_return found->second;
  }
  Task<std::vector<Import>> find_all(std::vector<ImportId>) override { throw std::logic_error("not pretended"); }
  Task<size_t> tie_up(ImportId id, size_t most) override {
    if (stuck == id) throw EngineUnavailable("pretend", "this import is too much");
    const size_t some = std::min(waiting_jobs, most);
    waiting_jobs -= some;
    if (some == 0) std::erase(loose, id);
    tied_up.push_back(id);
    co_return some;
  }
  Task<std::vector<ImportId>> with_loose_ends(ImportId after, size_t most) override {
    std::vector<ImportId> page;
    std::ranges::sort(loose);
    for (const ImportId& id : loose) {
      if (id > after && page.size() < most) page.push_back(id);
    }
    co_return page;
  }
  Task<std::vector<Import>> fail_broken_off(Duration limit) override {
    settled_with = limit;
    co_return std::exchange(to_settle, {});
  }
  Task<std::vector<Import>> end_vain_waits() override {
    if (waits_away) throw EngineUnavailable("pretend", "away");
    co_return std::vector<Import>{};
  }
  Task<size_t> forget_ended(Duration keep, size_t most) override {
    kept_for = keep;
    const size_t some = std::min(old_rows, most);
    old_rows -= some;
    co_return some;
  }
  Task<size_t> forget_unused_links(Duration, size_t most) override {
    const size_t some = std::min(unused_links, most);
    unused_links -= some;
    co_return some;
  }

  Task<std::optional<Import>> end(ImportId id, ImportStatus status, std::function<void(Import&)> change) {
    Import& import = imports.at(id);
    if (import.status != ImportStatus::queued) co_return std::nullopt;
    import.status = status;
    change(import);
    co_return import;
  }

  std::map<ImportId, Import> imports;
  std::vector<size_t> batches;
  size_t waiting_jobs = 0;
  std::vector<Import> to_settle;
  std::vector<ImportId> loose;
  std::optional<ImportId> stuck;
  std::vector<ImportId> tied_up;  // in the order of steps
  size_t old_rows = 0;
  size_t unused_links = 0;
  Duration settled_with{};
  Duration kept_for{};
  bool away = false;
  bool waits_away = false;
};

struct HeardNews : links::ImportNews {
  void changed(const std::vector<Import>& imports) override {
    for (const Import& import : imports) heard.push_back(import.status);
  }
  std::vector<ImportStatus> heard;
};

// A file that arrives in pieces; each takes `pause`. Breaks off behind the last one where it is told to.
struct PretendFile : http::BodySource {
  explicit PretendFile(Clock& its_clock, std::deque<std::string> its_pieces)
      : clock(its_clock), pieces(std::move(its_pieces)) {}

  Task<std::optional<std::string>> next() override {
    if (pause > Duration{0}) co_await clock.sleep_for(pause);
    if (pieces.empty() && breaks_off) throw std::runtime_error("gone");
    if (pieces.empty()) co_return std::nullopt;
    std::string piece = std::move(pieces.front());
    pieces.pop_front();
    co_return piece;
  }

  Clock& clock;
  std::deque<std::string> pieces;
  Duration pause{};
  bool breaks_off = false;
};

}  // namespace sluice::flows
