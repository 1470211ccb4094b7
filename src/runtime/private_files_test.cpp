#include "runtime/private_files.h"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;

std::vector<std::string>& synced() {
  static std::vector<std::string> paths;
  return paths;
}

}  // namespace

// Replaces the C library's function in this program and notes the synced files.
extern "C" int fsync(int descriptor) {
  std::error_code error;
  synced().push_back(fs::read_symlink("/proc/self/fd/" + std::to_string(descriptor), error).string());
  return static_cast<int>(syscall(SYS_fsync, descriptor));
}

namespace sluice {
namespace {

struct PrivateFiles : testing::Test {
  PrivateFiles() {
    std::string name = (fs::temp_directory_path() / "sluice.XXXXXX").string();
    folder = mkdtemp(name.data());
    usual_mask = ::umask(0);  // a mode that is right in spite of this does not come from the mask
    synced().clear();
  }
  ~PrivateFiles() override {
    ::umask(usual_mask);
    fs::remove_all(folder);
  }

  static unsigned mode(const fs::path& path) {
    struct stat found{};
    EXPECT_EQ(::stat(path.c_str(), &found), 0) << path;
    return found.st_mode & 07777;
  }
  static std::string content(const fs::path& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }

  fs::path folder;
  mode_t usual_mask;
};

TEST_F(PrivateFiles, what_is_made_is_closed_to_others_whatever_the_umask_is) {
  make_private_folder(folder / "above" / "data");
  make_private_file(folder / "above" / "data" / "file");
  EXPECT_EQ(mode(folder / "above" / "data"), 0700U);
  EXPECT_EQ(mode(folder / "above" / "data" / "file"), 0600U);
  make_private_folder(folder / "other" / "");
  EXPECT_EQ(mode(folder / "other"), 0700U);
}

TEST_F(PrivateFiles, a_folder_that_exists_keeps_its_mode_and_an_old_file_is_closed) {
  fs::create_directory(folder / "data");
  ::chmod((folder / "data").c_str(), 0755);
  make_private_folder(folder / "data");
  EXPECT_EQ(mode(folder / "data"), 0755U);
  std::ofstream(folder / "old") << "text";
  EXPECT_EQ(mode(folder / "old"), 0666U);
  close_to_others(folder / "old");
  EXPECT_EQ(mode(folder / "old"), 0600U);
  close_to_others(folder / "missing");
}

TEST_F(PrivateFiles, a_file_in_the_folders_place_is_an_error_that_names_it) {
  std::ofstream(folder / "data") << "text";
  try {
    make_private_folder(folder / "data");
    FAIL() << "no error";
  } catch (const std::system_error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr((folder / "data").string()));
  }
}

TEST_F(PrivateFiles, a_second_one_of_the_same_name_changes_nothing) {
  EXPECT_TRUE(create_durably(folder / "keys", "first"));
  EXPECT_FALSE(create_durably(folder / "keys", "second"));
  EXPECT_EQ(content(folder / "keys"), "first");
  EXPECT_EQ(mode(folder / "keys"), 0600U);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator{}), 1) << "no draft is left";
}

TEST_F(PrivateFiles, a_durable_file_is_synced_before_it_has_its_name_and_its_folder_afterwards) {
  create_durably(folder / "keys", "text");
  ASSERT_EQ(synced().size(), 2U);
  EXPECT_THAT(synced()[0], testing::StartsWith((folder / "keys.").string()));
  EXPECT_EQ(synced()[1], folder.string());
}

}  // namespace
}  // namespace sluice
