// Hits of the shared cache in this process' memory: how many a second one thread takes, over 10,000 keys in a shuffled
// order.
//
//   bench_shared_cache [ROUNDS]
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <boost/asio/io_context.hpp>
#include <fmt/format.h>

#include "adapters/memory/memory_cache.h"
#include "base/check.h"
#include "coordination/shared_cache.h"
#include "runtime/system_clock.h"

namespace sluice {
namespace {

constexpr int keys = 10'000;
constexpr int hits_in_a_round = 5'000'000;

std::vector<std::string> shuffled_keys() {
  std::vector<std::string> names;
  for (int i = 0; i < keys; ++i) names.push_back(fmt::format("product/{}", i));
  std::ranges::shuffle(names, std::mt19937_64(1));  // NOLINT(*-msc51-cpp): the same order in every run
  return names;
}

double hits_a_second(const Clock& clock, coordination::SharedCache& cache, const std::vector<std::string>& names) {
  const Instant start = clock.now();
  size_t bytes = 0;
  for (int i = 0; i < hits_in_a_round; ++i) {
    const auto body = cache.peek(names[static_cast<size_t>(i % keys)]);
    bytes += (*body)->size();
  }
  check(bytes == size_t{hits_in_a_round} * 1000, "every look is a hit");
  return hits_in_a_round / std::chrono::duration<double>(clock.now() - start).count();
}

void run(int rounds) {
  SystemClock clock;
  asio::io_context io;
  TaskScope scope(io.get_executor());
  SeededRandom random(1);
  memory::MemoryCache store(clock, 64 << 20);
  coordination::SharedCache cache(store, {}, clock, random, scope, io.get_executor());
  const std::vector<std::string> names = shuffled_keys();
  const auto body = std::make_shared<const std::string>(1000, 'x');
  for (const std::string& name : names) scope.spawn("put", cache.put(name, body));
  io.run();
  std::vector<double> rates;
  for (int round = 0; round < rounds; ++round) rates.push_back(hits_a_second(clock, cache, names));
  std::ranges::sort(rates);
  fmt::print("shared cache, hits in memory on one thread: {:.1f} million a second\n", rates[rates.size() / 2] / 1e6);
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
  sluice::run(argc > 1 ? std::max(1, std::atoi(argv[1])) : 5);
}
