// A folder for a server's data and configuration.
#pragma once

#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/temporary_folder.h"

namespace sluice::test {

struct ServerFolder : testing::Test {
  std::string data() const { return (folder / "data").string(); }
  std::string write_config(const std::string& text) const {
    const std::string file = (folder / "sluice.toml").string();
    std::ofstream(file) << text;
    return file;
  }

  TemporaryFolder folder;
};

}  // namespace sluice::test
