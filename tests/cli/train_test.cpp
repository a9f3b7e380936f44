// Training, measuring and predicting by the command; interrupted and killed runs go on where they were.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <stoker/io.h>
#include <stoker/models.h>

#include <algorithm>
#include <regex>
#include <sstream>
#include <thread>

#include "cli/digits.h"
#include "cli/process.h"

namespace stoker::test {
namespace {

using nlohmann::json;

#define EXPECT_CONTAINS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

std::vector<json> lines(const std::string& output) {
  std::vector<json> all;
  std::istringstream text(output);
  for (std::string line; std::getline(text, line);) all.push_back(json::parse(line));
  return all;
}

// What must not depend on interruptions: losses and accuracies of the epochs, and the result.
std::map<std::string, json> outcome(const std::string& output) {
  std::map<std::string, json> result;
  for (const json& line : lines(output)) {
    if (line["event"] == "epoch")
      result[line["epoch"].dump()] = {line["loss"], line["accuracy"], line["test_loss"], line["test_accuracy"]};
    if (line["event"] == "result") result["result"] = {line["test_loss"], line["test_accuracy"], line["best_accuracy"]};
  }
  return result;
}

class Train : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { digits_ = new Digits; }
  static void TearDownTestSuite() { delete digits_; }

  std::string data() const { return digits_->path(); }
  std::string output() const { return (folder_ / "run").string(); }
  std::string last() const { return (folder_ / "run" / "last.safetensors").string(); }
  // Options of a run with everything that a resumed one must restore.
  std::vector<std::string> run(const std::string& output, const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {"train", "--data",       data(), "--output",  output, "--model",
                                          "mlp",   "--batch-size", "8",    "--dropout", "0.3",  "--warmup",
                                          "20",    "--seed",       "5",    "--device",  "cpu"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  TemporaryFolder folder_;

 private:
  static inline Digits* digits_ = nullptr;
};

TEST_F(Train, EndsWithTheTestAccuracyAndItsCheckpointsAgree) {
  const Finished train = stoker(run(output(), {"--epochs", "3"}));
  ASSERT_EQ(train.code, 0) << train.errors;
  std::smatch accuracy;
  ASSERT_TRUE(std::regex_search(train.output, accuracy, std::regex("\ntest accuracy: (\\d+\\.\\d\\d)%\n$")))
      << train.output;
  EXPECT_GT(std::stod(accuracy[1]), 90);
  EXPECT_CONTAINS(train.output, "epoch 3/3");
  EXPECT_EQ(train.output.find('\r'), std::string::npos);

  const Finished eval = stoker({"eval", "--checkpoint", last(), "--per-class", "--device", "cpu"});
  ASSERT_EQ(eval.code, 0) << eval.errors;
  EXPECT_CONTAINS(eval.output, "\ntest accuracy: " + accuracy[1].str() + "%\n");
  EXPECT_EQ(std::count(eval.output.begin(), eval.output.end(), '\n'), 6);

  const Finished as_json = stoker({"eval", "--checkpoint", last(), "--json"});
  EXPECT_EQ(json::parse(as_json.output)["images"], kTestDigits);
}

TEST_F(Train, QuietPrintsTheAccuracyAlone) {
  const Finished train = stoker({"train", "--data", data(), "--epochs", "1", "--quiet", "--limit", "50"});
  ASSERT_EQ(train.code, 0) << train.errors;
  EXPECT_TRUE(std::regex_match(train.output, std::regex("test accuracy: \\d+\\.\\d\\d%\n"))) << train.output;
}

TEST_F(Train, JsonIsOneObjectALine) {
  const Finished train =
      stoker({"train", "--data", data(), "--epochs", "2", "--json", "--limit", "100", "--model", "cnn"});
  ASSERT_EQ(train.code, 0) << train.errors;
  const std::vector<json> all = lines(train.output);
  EXPECT_EQ(all.front()["event"], "start");
  EXPECT_EQ(all.front()["train_images"], 100);
  EXPECT_EQ(all.back()["event"], "result");
  EXPECT_TRUE(all.back()["test_accuracy"].is_number());
}

TEST_F(Train, EveryOptimizerAndScheduleLearns) {
  for (const char* optimizer : {"sgd", "momentum", "adam", "adamw"}) {
    for (const char* schedule : {"none", "step", "cosine"}) {
      const Finished train = stoker({"train", "--data", data(), "--model", "mlp", "--epochs", "3", "--batch-size", "16",
                                     "--optimizer", optimizer, "--schedule", schedule, "--quiet"});
      ASSERT_EQ(train.code, 0) << train.errors;
      EXPECT_GT(std::stod(train.output.substr(train.output.find(':') + 1)), 50) << optimizer << " " << schedule;
    }
  }
}

TEST_F(Train, TheNumberOfWorkersChangesNothing) {
  const auto with_workers = [&](const char* workers) {
    return outcome(stoker(run((folder_ / workers).string(), {"--epochs", "1", "--json", "--workers", workers})).output);
  };
  const auto none = with_workers("0");
  EXPECT_EQ(none.size(), 2u);
  EXPECT_EQ(with_workers("3"), none);
}

TEST_F(Train, PredictsTestImagesAndArrays) {
  ASSERT_EQ(stoker(run(output(), {"--epochs", "3"})).code, 0);
  const Finished text = stoker({"predict", "--checkpoint", last(), "3", "--top", "2"});
  ASSERT_EQ(text.code, 0) << text.errors;
  EXPECT_TRUE(std::regex_match(text.output, std::regex("test image 3 \\(is \\d\\)\n( +\\d+\\.\\d\\d%  \\d\n){2}")))
      << text.output;

  // A bright lower right quadrant is class 3.
  std::vector<uint8_t> pixels(2 * kDigitExtent * kDigitExtent, 80);
  for (int y = kDigitExtent / 2; y < kDigitExtent; ++y)
    for (int x = kDigitExtent / 2; x < kDigitExtent; ++x) pixels[size_t(y * kDigitExtent + x)] = 140;
  save_npy(tensor(pixels, Shape{2, kDigitExtent, kDigitExtent}), folder_ / "images.npy");
  const Finished array = stoker({"predict", "--checkpoint", last(), (folder_ / "images.npy").string(), "--json"});
  ASSERT_EQ(array.code, 0) << array.errors;
  const std::vector<json> all = lines(array.output);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0]["classes"].size(), 3u);
  EXPECT_EQ(all[0]["classes"][0]["class"], 3);
  EXPECT_EQ(all[0]["input"], (folder_ / "images.npy").string() + "[0]");

  save_npy(zeros({3, 3}), folder_ / "small.npy");
  const Finished small = stoker({"predict", "--checkpoint", last(), (folder_ / "small.npy").string()});
  EXPECT_EQ(small.code, 1);
  EXPECT_CONTAINS(small.errors, "[1, 8, 8]");
  const Finished beyond = stoker({"predict", "--checkpoint", last(), "200"});
  EXPECT_EQ(beyond.code, 1);
  EXPECT_CONTAINS(beyond.errors, "0..199");
}

// --- going on --------------------------------------------------------------------------------------------------------

TEST_F(Train, AnInterruptedRunGoesOnBitForBit) {
  const std::vector<std::string> options = {"--epochs", "6", "--json"};
  const auto whole = outcome(stoker(run((folder_ / "whole").string(), options)).output);
  ASSERT_EQ(whole.size(), 7u);

  Process first(run(output(), options));
  ASSERT_TRUE(first.wait_for("\"epoch\",\"epoch\":2"));
  first.signal(SIGINT);
  ASSERT_EQ(first.wait(), 130) << first.errors;
  EXPECT_EQ(lines(first.output).back()["event"], "stopped");
  EXPECT_EQ(lines(first.output).back()["checkpoint"], last());

  const Finished second = stoker({"train", "--output", output(), "--resume", "--json", "--device", "cpu"});
  ASSERT_EQ(second.code, 0) << second.errors;
  auto joined = outcome(first.output);
  joined.merge(outcome(second.output));
  EXPECT_EQ(joined, whole);
}

TEST_F(Train, AnInterruptedRunSaysHowToGoOn) {
  Process process(run(output(), {"--epochs", "1000"}));
  ASSERT_TRUE(process.wait_for("epoch 1/1000"));
  process.signal(SIGTERM);
  EXPECT_EQ(process.wait(), 130);
  EXPECT_CONTAINS(process.output, "continue with: stoker train --resume " + last());
}

TEST_F(Train, KillingARunLosesNoEarlierCheckpoint) {
  const std::vector<std::string> options = {"--epochs", "3", "--json", "--save-every", "1"};
  const auto whole = outcome(stoker(run((folder_ / "whole").string(), {"--epochs", "3", "--json"})).output);
  ASSERT_EQ(whole.size(), 4u);

  std::mt19937 random(11);
  int64_t steps = 0;
  for (int kill = 0; kill < 8; ++kill) {
    std::vector<std::string> arguments = run(output(), options);
    if (std::filesystem::exists(last())) arguments.push_back("--resume");
    Process process(arguments);
    process.wait_for("\"start\"");
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 120));
    process.signal(SIGKILL);
    process.wait();
    if (!std::filesystem::exists(last())) continue;
    const models::CheckpointInfo info = models::read_checkpoint(last());
    const int64_t now = info.position.epoch * kTrainDigits / 8 + info.position.position;
    EXPECT_GE(now, steps);
    steps = now;
  }
  ASSERT_GT(steps, 0);
  const Finished end = stoker({"train", "--resume", last(), "--json", "--device", "cpu"});
  ASSERT_EQ(end.code, 0) << end.errors;
  EXPECT_EQ(outcome(end.output)["result"], whole.at("result"));
}

TEST_F(Train, AFinishedRunMayBeTrainedForLonger) {
  ASSERT_EQ(stoker(run(output(), {"--epochs", "1", "--schedule", "none"})).code, 0);
  const Finished longer = stoker({"train", "--resume", last(), "--epochs", "2", "--json"});
  ASSERT_EQ(longer.code, 0) << longer.errors;
  const auto whole =
      outcome(stoker(run((folder_ / "whole").string(), {"--epochs", "2", "--schedule", "none", "--json"})).output);
  EXPECT_EQ(outcome(longer.output)["result"], whole.at("result"));
  const Finished again = stoker({"train", "--resume", last(), "--quiet"});
  EXPECT_TRUE(again.output.starts_with("test accuracy: ")) << again.output;
}

TEST_F(Train, OptionsThatContradictTheResumedRunAreRefused) {
  ASSERT_EQ(stoker(run(output(), {"--epochs", "1"})).code, 0);
  const Finished other = stoker({"train", "--resume", last(), "--batch-size", "16"});
  EXPECT_EQ(other.code, 2);
  EXPECT_CONTAINS(other.errors, "--batch-size 16 differs from the run that is resumed, which has 8");
  EXPECT_EQ(stoker({"train", "--resume", last(), "--batch-size", "8", "--quiet"}).code, 0);
}

}  // namespace
}  // namespace stoker::test
