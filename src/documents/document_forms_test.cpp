// Forms of documents over real threads.
#include <atomic>
#include <latch>
#include <thread>

#include <boost/asio/use_future.hpp>

#include "documents/documents.h"
#include "documents/testing/origin_documents_fixture.h"
#include "runtime/io_threads.h"

namespace sluice::documents {
namespace {

struct FormsTest : OriginDocumentsTest {
  static Task<> ask_for_form(Documents& documents, DocumentPath path, Documents::Form form,
                             std::atomic<size_t>& bytes) {
    const http::SharedBytes made = co_await documents.form("o", std::move(path), std::move(form));
    bytes += made->size();
  }
};

TEST_F(FormsTest, a_crowd_on_all_threads_has_one_form_made_and_not_on_an_io_thread) {
  constexpr size_t readers_each = 200;
  IoThreads threads(3);
  TaskScope flights(threads.executor(0));
  Offload form_threads("forms", 2, 10);
  Documents documents(store, clock, random, flights, threads.executor(0), form_threads);
  documents.add(often(), {store, static_copies, origin, slots, limit, breaker, clock, random, "me"});
  store_copy("stored", 1h);
  threads.start();
  std::vector<std::thread::id> io_threads;
  for (size_t i = 0; i < threads.size(); ++i) {
    const auto name_thread = [] { return std::this_thread::get_id(); };
    io_threads.push_back(asio::post(threads.executor(i), asio::use_future(name_thread)).get());
  }
  const Lookup found = asio::co_spawn(threads.executor(1), documents.get("o", path, false), asio::use_future).get();
  ASSERT_TRUE(found);
  std::atomic<int> made = 0;
  std::atomic<size_t> bytes = 0;
  std::atomic<std::thread::id> maker;
  const auto make = [&] {
    ++made;
    maker = std::this_thread::get_id();
    return std::string("1234");
  };
  std::latch answered(3 * readers_each);
  for (size_t reader = 0; reader < 3 * readers_each; ++reader) {
    Documents::Form form{found->document, "gzip", make};
    asio::co_spawn(threads.executor(reader % 3), ask_for_form(documents, path, std::move(form), bytes),
                   [&answered](const std::exception_ptr&) { answered.count_down(); });
  }
  answered.wait();
  threads.stop();
  EXPECT_EQ(made, 1);
  EXPECT_EQ(bytes, 3 * readers_each * 4);
  EXPECT_EQ(std::ranges::count(io_threads, maker.load()), 0);
}

}  // namespace
}  // namespace sluice::documents
