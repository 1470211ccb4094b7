// The fixture of document_store_contract.cpp, for the engines that run it.
#pragma once

#include "documents/document_store.h"
#include "tests/contract/port_fixture.h"

namespace sluice::test {

// A store, and what only its engine can tell or do.
class TestedDocuments {
 public:
  virtual ~TestedDocuments() = default;
  virtual documents::DocumentStore& store() = 0;
  // The number of rows of the origin, of any state.
  virtual Task<int64_t> rows(std::string origin) = 0;
  // As if they had been asked for so long ago.
  virtual Task<> age(std::string origin, Duration by) = 0;
};

class DocumentStoreContract : public PortFixture<TestedDocuments> {
 protected:
  using Acquired = documents::Acquired;
  using Cached = documents::Cached;
  using ClaimOutcome = documents::ClaimOutcome;
  using Document = documents::Document;
  using DocumentPtr = documents::DocumentPtr;
  using DownloadState = documents::DownloadState;
  using Downloading = documents::Downloading;
  using HeldDown = documents::HeldDown;

  struct ClaimOptions {
    Duration ttl = 1min;
    Duration fresh_for = 1h;
    bool force = false;  // over a fresh copy and during a hold-down
    bool over_fresh = false;
    bool listed = false;
    std::string owner = "me";
  };

  void SetUp() override {
    PortFixture::SetUp();
    store_ = &port().store();
    origin_ = unique("origin");
  }

  documents::DocumentKey key(const std::string& path = "a/b.xml") const {
    return {origin_, documents::DocumentPath::parse(path).value()};
  }
  documents::DownloadClaim request(const ClaimOptions& options) const {
    return {key(),         options.owner, options.ttl, options.fresh_for, options.force || options.over_fresh,
            options.force, options.listed};
  }
  ClaimOutcome claim(const ClaimOptions& options) { return run(store_->claim(request(options))); }
  ClaimOutcome claim() { return claim(ClaimOptions{}); }
  int64_t acquire(const ClaimOptions& options) { return std::get<Acquired>(claim(options)).token; }
  int64_t acquire() { return acquire(ClaimOptions{}); }
  template <class Outcome>
  static bool is(const ClaimOutcome& outcome) {
    return std::holds_alternative<Outcome>(outcome);
  }
  // The tokens of `callers` concurrent callers.
  std::vector<int64_t> race(int callers, const ClaimOptions& options) {
    std::vector<Task<ClaimOutcome>> asking;
    for (int i = 0; i < callers; ++i) asking.push_back(store_->claim(request(options)));
    std::vector<int64_t> tokens;
    for (const ClaimOutcome& outcome : values_of(std::move(asking))) {
      if (is<Acquired>(outcome)) tokens.push_back(std::get<Acquired>(outcome).token);
    }
    return tokens;
  }

  static std::shared_ptr<Document> document(std::string body) {
    auto made = std::make_shared<Document>();
    made->body = std::move(body);
    made->content_type = "application/xml";
    made->etag = "\"1\"";
    return made;
  }
  DocumentPtr complete(int64_t token, const DocumentPtr& made) { return run(store_->complete(key(), token, *made)); }
  DocumentPtr complete(int64_t token, std::string body) { return complete(token, document(std::move(body))); }
  void fail(int64_t token, Duration first, Duration longest = 1h) { run(store_->fail(key(), token, first, longest)); }
  std::string body() {
    const DocumentPtr found = run(store_->find(key()));
    return found ? found->body : "";
  }
  int64_t rows() { return run(port().rows(origin_)); }
  void age(Duration by) { run(port().age(origin_, by)); }
  DownloadState state() { return run(store_->download_state(key())); }

  documents::DocumentStore* store_ = nullptr;
  std::string origin_;
};

}  // namespace sluice::test
