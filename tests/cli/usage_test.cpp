// Help, versions and errors: what the command says, where, and what it gives back to the shell.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "cli/process.h"
#include "data_room/files.h"

namespace stoker::test {
namespace {

#define EXPECT_CONTAINS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

void expect_one_line(const std::string& text) {
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
  EXPECT_TRUE(text.ends_with('\n')) << text;
}

TEST(Usage, VersionIsPrinted) {
  for (const char* argument : {"--version", "version"}) {
    const Finished run = stoker({argument});
    EXPECT_EQ(run.code, 0);
    EXPECT_TRUE(run.output.starts_with("stoker " STOKER_VERSION "\n")) << run.output;
    EXPECT_EQ(run.errors, "");
  }
}

TEST(Usage, HelpTeachesWithExamples) {
  const Finished all = stoker({"--help"});
  EXPECT_EQ(all.code, 0);
  for (const char* command : {"train", "eval", "predict", "version"}) EXPECT_CONTAINS(all.output, command);
  for (const char* command : {"train", "eval", "predict"}) {
    const Finished run = stoker({command, "--help"});
    EXPECT_EQ(run.code, 0);
    EXPECT_CONTAINS(run.output, "Examples:");
    EXPECT_CONTAINS(run.output, std::string("stoker ") + command + " --");
  }
}

TEST(Usage, WrongUseIsOneLineAndCodeTwo) {
  const std::vector<std::vector<std::string>> wrong = {
      {},
      {"trian"},
      {"train", "--modle", "cnn"},
      {"train", "--model", "lenet"},
      {"train", "--epochs", "many"},
      {"train", "--batch-size", "0"},
      {"train", "--optimizer", "rmsprop"},
      {"train", "--schedule", "linear"},
      {"train", "--dropout", "2"},
      {"train", "--resume"},
      {"eval"},
      {"predict", "--checkpoint", "x"},
  };
  for (const auto& arguments : wrong) {
    const Finished run = stoker(arguments);
    EXPECT_EQ(run.code, 2) << run.errors;
    EXPECT_EQ(run.output, "");
    expect_one_line(run.errors);
    EXPECT_CONTAINS(run.errors, "--help");
  }
}

TEST(Usage, FailuresAreOneLineAndCodeOne) {
  const TemporaryFolder folder;
  write_file(folder / "text", "not a checkpoint");
  const std::vector<std::pair<std::vector<std::string>, std::string>> failures = {
      {{"train", "--data", folder.path().string()}, "train-images-idx3-ubyte"},
      {{"train", "--device", "abacus:0"}, "abacus"},
      {{"train", "--resume", (folder / "absent").string()}, "No such file or directory"},
      {{"eval", "--checkpoint", (folder / "absent").string()}, "No such file or directory"},
      {{"eval", "--checkpoint", (folder / "text").string()}, "offset 0"},
      {{"predict", "--checkpoint", (folder / "text").string(), "0"}, "offset 0"},
  };
  for (const auto& [arguments, part] : failures) {
    const Finished run = stoker(arguments);
    EXPECT_EQ(run.code, 1) << run.errors;
    EXPECT_EQ(run.output, "");
    expect_one_line(run.errors);
    EXPECT_CONTAINS(run.errors, part);
  }
}

TEST(Usage, AnAbsentDatasetSaysWhatToInstall) {
  const TemporaryFolder folder;
  ::setenv("STOKER_DATA", folder.path().c_str(), 1);
  const Finished run = stoker({"train", "--data", "fashion-mnist"});
  ::unsetenv("STOKER_DATA");
  EXPECT_EQ(run.code, 1);
  expect_one_line(run.errors);
  EXPECT_CONTAINS(run.errors, "apt install dataset-fashion-mnist");
}

}  // namespace
}  // namespace stoker::test
