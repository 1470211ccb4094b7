#include "server/person_keys.h"

#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

namespace sluice::server {
namespace {

namespace fs = std::filesystem;

struct PersonKeysTest : testing::Test {
  PersonKeysTest() {
    std::string name = (fs::temp_directory_path() / "sluice.XXXXXX").string();
    folder = mkdtemp(name.data());
    settings.storage.data = (folder / "data").string();
  }
  ~PersonKeysTest() override { fs::remove_all(folder); }

  fs::path folder;
  Settings settings;
};

// Gives chance, and lets another first start happen right before.
class Interrupted : public Random {
 public:
  explicit Interrupted(const Settings& settings) : settings_(settings) {}
  uint64_t next() override {
    if (other_.empty()) {
      SeededRandom chance(2);
      other_ = load_person_keys(settings_, chance).text();
    }
    return chance_.next();
  }
  const std::string& keys_of_other() const { return other_; }

 private:
  const Settings& settings_;
  SeededRandom chance_{1};
  std::string other_;
};

TEST_F(PersonKeysTest, of_two_first_starts_at_once_both_use_the_keys_of_one) {
  Interrupted chance(settings);
  const std::string keys = load_person_keys(settings, chance).text();
  EXPECT_EQ(keys, chance.keys_of_other());
  SeededRandom later(3);
  EXPECT_EQ(load_person_keys(settings, later).text(), keys);
}

TEST_F(PersonKeysTest, are_for_their_owner_only) {
  SeededRandom chance(1);
  load_person_keys(settings, chance);
  const fs::path file = folder / "data" / "person.keys";
  EXPECT_EQ(fs::status(file).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  fs::permissions(file, fs::perms::group_read | fs::perms::others_read, fs::perm_options::add);
  load_person_keys(settings, chance);
  EXPECT_EQ(fs::status(file).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

}  // namespace
}  // namespace sluice::server
