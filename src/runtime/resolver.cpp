#include "runtime/resolver.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <fmt/format.h>

namespace sluice {

using Found = std::vector<asio::ip::address>;

Addresses ask_system(const std::string& host) {
  asio::io_context none;
  boost::system::error_code error;
  const auto found = asio::ip::tcp::resolver(none).resolve(host, "", error);
  if (error) return std::unexpected(error.message());
  Found addresses;
  for (const auto& entry : found) addresses.push_back(entry.endpoint().address());
  return addresses;
}

// A name that is looked up now.
struct Resolver::Search {
  explicit Search(const Executor& executor) : ended(executor) {}

  std::atomic<int> callers = 0;
  Wakeup ended;
  bool done = false;
  std::optional<Addresses> result;  // nothing: it was in line when its last caller left
};

struct Resolver::Memory {
  struct Entry {
    Addresses addresses;
    Instant until;
  };

  Memory(const Clock& with, ResolverOptions of) : clock(with), options(std::move(of)) {}

  std::optional<Addresses> recall(const std::string& host) {
    const auto known = remembered.find(host);
    if (known == remembered.end()) return std::nullopt;
    if (clock.now() < known->second.until) return known->second.addresses;
    remembered.erase(known);
    return std::nullopt;
  }

  void end(const std::string& host, Search& search, std::optional<Addresses> result) {
    searches.erase(host);
    if (result) {
      const Duration keep = *result ? options.remember_found : options.remember_missing;
      // A full memory is cleared: simpler than evicting entries, and each then costs one more lookup.
      if (remembered.size() >= options.max_remembered) remembered.clear();
      remembered.insert_or_assign(host, Entry{*result, clock.now() + keep});
    }
    search.result = std::move(result);
    search.done = true;
    search.ended.notify_all();
  }

  const Clock& clock;
  const ResolverOptions options;
  std::unordered_map<std::string, std::shared_ptr<Search>> searches;
  std::unordered_map<std::string, Entry> remembered;
};

Resolver::Resolver(Executor executor, const Clock& clock, ResolverOptions options)
    : executor_(std::move(executor)),
      memory_(std::make_shared<Memory>(clock, std::move(options))),
      closed_(std::make_shared<std::atomic<bool>>(false)) {}

Resolver::~Resolver() {
  *closed_ = true;  // queued names are not looked up any more
}

Task<Found> Resolver::look_up(std::string host) {
  boost::system::error_code no_address;
  const auto address = asio::ip::make_address(host, no_address);
  if (!no_address) co_return Found{address};

  struct Leave {
    explicit Leave(Search& joined) : search(joined) {}
    ~Leave() { --search.callers; }
    Leave(const Leave&) = delete;
    Leave& operator=(const Leave&) = delete;
    Search& search;
  };
  std::optional<Addresses> found = memory_->recall(host);
  while (!found) {
    const std::shared_ptr<Search> search = join(host);
    const Leave leave(*search);
    while (!search->done) co_await search->ended.wait();
    found = search->result;
  }
  if (!*found) throw HostNotFound(fmt::format("{}: {}", host, found->error()));
  co_return std::move(**found);
}

// Counts the caller, before a thread could look whether there is one.
std::shared_ptr<Resolver::Search> Resolver::join(const std::string& host) {
  const auto known = memory_->searches.find(host);
  const std::shared_ptr<Search> search =
      known == memory_->searches.end() ? std::make_shared<Search>(executor_) : known->second;
  ++search->callers;
  if (known == memory_->searches.end()) begin(host, search);
  return search;
}

void Resolver::begin(const std::string& host, const std::shared_ptr<Search>& search) {
  const ResolverOptions& options = memory_->options;
  if (!threads_) threads_ = std::make_unique<Offload>("resolver", options.threads, options.max_waiting);
  auto work = [host, search, memory = memory_, closed = closed_, executor = executor_] {
    std::optional<Addresses> result;
    if (search->callers > 0 && !*closed) result = memory->options.ask(host);
    asio::post(executor, [host, search, memory, result = std::move(result)]() mutable {
      memory->end(host, *search, std::move(result));
    });
  };
  if (!threads_->try_submit(std::move(work))) throw Overloaded("resolver");
  memory_->searches.emplace(host, search);
}

}  // namespace sluice
