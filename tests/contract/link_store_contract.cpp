// Contract of every links::LinkStore, tested on a real engine.
#include "tests/contract/link_store_suite.h"

namespace sluice::test {

TEST_P(LinkStoreContract, keeps_what_was_found) {
  import_paths({"/1"});
  const links::PageFacts facts{.title = "제목",
                               .description = "About",
                               .site_name = "Site",
                               .image_url = "http://a/i",
                               .icon_url = "http://a/f"};
  EXPECT_FALSE(run(links_->list(owner_, std::nullopt, std::nullopt, 10)).links.at(0).fetched_at);
  EXPECT_EQ(run(links_->enriched(url("/1").id(), facts)).size(), 1u);
  const links::OwnedLink link = run(links_->list(owner_, std::nullopt, std::nullopt, 10)).links.at(0);
  EXPECT_EQ(link.facts, facts);
  EXPECT_EQ(link.url, url("/1").text());
  EXPECT_EQ(link.title, "title");
  EXPECT_TRUE(link.fetched_at);
  EXPECT_FALSE(link.failure);
}

TEST_P(LinkStoreContract, a_failure_keeps_what_was_found_before_and_the_next_success_forgets_it) {
  import_paths({"/1"});
  enrich("/1", "Found");
  fail("/1", FailureReason::captcha);
  const auto link = [this] { return run(links_->list(owner_, std::nullopt, std::nullopt, 1)).links.at(0); };
  EXPECT_EQ(link().facts.title, "Found");
  EXPECT_EQ(link().failure, FailureReason::captcha);
  enrich("/1", "Again");
  EXPECT_EQ(link().facts.title, "Again");
  EXPECT_FALSE(link().failure);
}

TEST_P(LinkStoreContract, an_end_told_twice_counts_once) {
  const Import import = import_paths({"/1", "/2"});
  EXPECT_EQ(enrich("/1").size(), 1u);
  EXPECT_TRUE(enrich("/1").empty());
  EXPECT_TRUE(fail("/1").empty());
  EXPECT_EQ(progress(import), "1/2, 0 failed, running");
}

TEST_P(LinkStoreContract, a_link_that_nobody_has_is_passed_over) {
  EXPECT_TRUE(enrich("/unknown").empty());
  EXPECT_TRUE(fail("/unknown").empty());
}

TEST_P(LinkStoreContract, lists_the_owners_links_by_folder_and_page) {
  const Import import = begin();
  EXPECT_TRUE(add(import, {bookmark("a", "/1"), bookmark("a", "/2"), bookmark("a", "/3"), bookmark("a/b", "/1"),
                           bookmark("", "/4")}));
  EXPECT_EQ(places("a").size(), 3u);
  EXPECT_EQ(places("a/b").size(), 1u);
  EXPECT_EQ(places("").size(), 1u);
  EXPECT_EQ(places("none").size(), 0u);

  std::set<links::InstanceId> seen;
  std::optional<links::InstanceId> from;
  size_t pages = 0;
  do {
    const LinkPage page = run(links_->list(owner_, std::nullopt, from, 2));
    for (const links::OwnedLink& link : page.links) EXPECT_TRUE(seen.insert(link.id).second);
    EXPECT_LE(page.links.size(), 2u);
    from = page.next;
    ++pages;
  } while (from);
  EXPECT_EQ(seen.size(), 5u);
  EXPECT_EQ(pages, 3u);
  EXPECT_TRUE(run(links_->list(OwnerId::make(clock_.wall(), random_), std::nullopt, std::nullopt, 10)).links.empty());
}

TEST_P(LinkStoreContract, two_owners_share_a_link_and_not_their_folders) {
  import_paths({"/1"});
  const OwnerId first = owner_;
  owner_ = OwnerId::make(clock_.wall(), random_);
  import_paths({"/1"});
  EXPECT_EQ(jobs().size(), 1u);
  enrich("/1", "Shared");
  for (const OwnerId& owner : {first, owner_}) {
    const LinkPage page = run(links_->list(owner, "folder", std::nullopt, 10));
    ASSERT_EQ(page.links.size(), 1u);
    EXPECT_EQ(page.links[0].facts.title, "Shared");
  }
}

TEST_P(LinkStoreContract, takes_urls_and_texts_of_any_length_and_letter) {
  const std::string path = "/" + std::string(7000, 'x');
  const Import import = begin();
  EXPECT_TRUE(add(import, {bookmark(std::string(Bookmark::max_folder, 'f'), path, "a\"b\\c{d},e'f\u2028 한글")}));
  EXPECT_EQ(run(links_->list(owner_, std::nullopt, std::nullopt, 1)).links.at(0).title, "a\"b\\c{d},e'f\u2028 한글");
}

}  // namespace sluice::test
