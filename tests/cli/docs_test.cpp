// The commands in the documentation, as a reader types them.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/process.h"
#include "data_room/files.h"

namespace stoker::test {
namespace {

namespace fs = std::filesystem;

// The lines of a document's sh blocks that call `stoker`, as arguments.
std::vector<std::vector<std::string>> commands(const fs::path& document) {
  std::vector<std::vector<std::string>> all;
  std::ifstream file(document);
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("```")) inside = line == "```sh";
    std::istringstream words(line);
    std::string program;
    if (!inside || !(words >> program) || program != "build/release/bin/stoker") continue;
    std::vector<std::string>& arguments = all.emplace_back();
    for (std::string word; words >> word;) arguments.push_back(word);
  }
  return all;
}

class Documentation : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists("/usr/share/datasets/fashion-mnist")) GTEST_SKIP() << "dataset-fashion-mnist is not installed";
    before_ = fs::current_path();
    fs::current_path(folder_.path());
  }
  void TearDown() override {
    if (!before_.empty()) fs::current_path(before_);
  }

 private:
  TemporaryFolder folder_;
  fs::path before_;
};

TEST_F(Documentation, ItsCommandsRun) {
  const auto all = commands(fs::path(STOKER_TESTS_DIR) / ".." / "docs" / "guide.md");
  ASSERT_FALSE(all.empty());
  for (std::vector<std::string> arguments : all) {
    if (arguments[0] == "train") arguments.insert(arguments.end(), {"--limit", "200", "--epochs", "1"});
    Process process(arguments);
    EXPECT_EQ(process.wait(), 0) << process.errors;
  }
}

}  // namespace
}  // namespace stoker::test
