// Datasets: tensors, images, parts of others, and the folders they are read from.
#include <gtest/gtest.h>

#include <stoker/data.h>

#include <chrono>
#include <cstdlib>
#include <numeric>

#include "data_room/files.h"

namespace stoker::data {
namespace {

using stoker::test::bytes_of;
using stoker::test::little;
using stoker::test::TemporaryFolder;
using stoker::test::write_file;

// --- random numbers --------------------------------------------------------------------------------------------------

TEST(Random, IsPhilox) {
  // Random123's known answer for counter and key of zeros: 6627e8d5 e169c58d bc57ac4c 9b00dbd8.
  Random random(0);
  EXPECT_EQ(random(), 0xe169c58d6627e8d5u);
  EXPECT_EQ(random(), 0x9b00dbd8bc57ac4cu);
}

TEST(Random, SequencesOfDifferentNamesDiffer) {
  EXPECT_NE(Random(1, 2, 3)(), Random(1, 2, 4)());
  EXPECT_NE(Random(1, 2, 3)(), Random(1, 3, 3)());
  EXPECT_NE(Random(1, 2, 3)(), Random(2, 2, 3)());
  EXPECT_EQ(Random(1, 2, 3)(), Random(1, 2, 3)());
}

TEST(Random, DistributionsHaveTheirMoments) {
  Random random(5);
  double sum = 0, squares = 0, uniform = 0;
  std::array<int, 3> counts{};
  constexpr int kDraws = 100'000;
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.normal(), u = random.uniform();
    ASSERT_TRUE(u >= 0 && u < 1);
    sum += x;
    squares += x * x;
    uniform += u;
    ++counts[size_t(random.below(3))];
  }
  EXPECT_NEAR(sum / kDraws, 0, 0.02);
  EXPECT_NEAR(squares / kDraws, 1, 0.02);
  EXPECT_NEAR(uniform / kDraws, 0.5, 0.005);
  for (int count : counts) EXPECT_NEAR(double(count) / kDraws, 1.0 / 3, 0.01);
  EXPECT_THROW(random.below(0), ValueError);
}

// --- tensors ---------------------------------------------------------------------------------------------------------

TEST(TensorDataset, SampleIsRowOfEach) {
  const TensorDataset dataset({tensor<float>({1, 2, 3, 4, 5, 6}, Shape{3, 2}), tensor<int64_t>({7, 8, 9})});
  EXPECT_EQ(dataset.size(), 3);
  const Sample sample = dataset.get(1);
  EXPECT_EQ(sample[0].shape(), Shape({2}));
  EXPECT_EQ(sample[0].to_vector<float>(), (std::vector<float>{3, 4}));
  EXPECT_EQ(sample[1].shape(), Shape());
  EXPECT_EQ(sample[1].item<int64_t>(), 8);

  const Sample batch = *dataset.get_batch(std::vector<int64_t>{2, 0}, cpu());
  EXPECT_EQ(batch[0].shape(), Shape({2, 2}));
  EXPECT_EQ(batch[0].to_vector<float>(), (std::vector<float>{5, 6, 1, 2}));
  EXPECT_EQ(batch[1].to_vector<int64_t>(), (std::vector<int64_t>{9, 7}));
}

TEST(TensorDataset, RefusesWhatDoesNotFit) {
  EXPECT_THROW(TensorDataset({}), ValueError);
  EXPECT_THROW(TensorDataset({tensor<float>({1, 2}), tensor<float>({1, 2, 3})}), ShapeError);
  EXPECT_THROW(TensorDataset({tensor<float>({1}, Shape{})}), ShapeError);
  const TensorDataset dataset({tensor<float>({1, 2})});
  EXPECT_THROW(dataset.get(2), ValueError);
  EXPECT_THROW(dataset.get(-1), ValueError);
  EXPECT_THROW(dataset.get_batch(std::vector<int64_t>{0, 2}, cpu()), ValueError);
}

TEST(Subset, GivesTheChosenSamples) {
  const auto numbers = std::make_shared<TensorDataset>(std::vector{tensor<int64_t>({10, 11, 12, 13})});
  const Subset subset(numbers, {3, 1});
  EXPECT_EQ(subset.size(), 2);
  EXPECT_EQ(subset.get(0)[0].item<int64_t>(), 13);
  EXPECT_EQ((*subset.get_batch(std::vector<int64_t>{1, 0}, cpu()))[0].to_vector<int64_t>(),
            (std::vector<int64_t>{11, 13}));
  EXPECT_THROW(subset.get(2), ValueError);
  EXPECT_THROW(Subset(numbers, {4}), ValueError);
  EXPECT_EQ(take(numbers, 3)->size(), 3);
  EXPECT_EQ(take(numbers, 9)->size(), 4);
}

// --- images ----------------------------------------------------------------------------------------------------------

TEST(ImageDataset, PixelsBecomeNumbersAndAreNormalised) {
  const Tensor images = tensor<uint8_t>({0, 51, 102, 255, 1, 2, 3, 4}, Shape{2, 2, 2});
  const Tensor labels = tensor<uint8_t>({3, 1});
  const ImageDataset plain(images, labels);
  EXPECT_EQ(plain.size(), 2);
  EXPECT_EQ(plain.image_shape(), Shape({1, 2, 2}));
  EXPECT_EQ(plain.classes(), 4);
  const Sample sample = plain.get(0);
  EXPECT_EQ(sample[0].shape(), Shape({1, 2, 2}));
  EXPECT_EQ(sample[0].to_vector<float>(), (std::vector<float>{0, 51 / 255.0f, 102 / 255.0f, 1}));
  EXPECT_EQ(sample[1].item<int64_t>(), 3);

  const ImageDataset normalised(images, labels, {.mean = {0.5}, .std = {0.25}});
  const Sample batch = *normalised.get_batch(std::vector<int64_t>{1, 0}, cpu());
  EXPECT_EQ(batch[0].shape(), Shape({2, 1, 2, 2}));
  EXPECT_EQ(batch[0].to_vector<float>()[7], 2.0f);
  EXPECT_EQ(batch[0].to_vector<float>()[0], (1 / 255.0f - 0.5f) / 0.25f);
  EXPECT_EQ(batch[1].to_vector<int64_t>(), (std::vector<int64_t>{1, 3}));
}

TEST(ImageDataset, StatisticsAreOfEachChannel) {
  const Tensor images = tensor<uint8_t>({0, 255, 51, 51, 255, 0, 51, 51}, Shape{2, 2, 1, 2});
  const ImageDataset bytes(images, tensor<int64_t>({0, 1}));
  const ImageOptions measured = bytes.statistics();
  EXPECT_EQ(measured.mean, (std::vector<double>{0.5, 51.0 / 255}));
  EXPECT_EQ(measured.std, (std::vector<double>{0.5, 1}));  // the second channel has no contrast
  const ImageDataset normalised(bytes, measured);
  EXPECT_EQ(normalised.get(1)[0].to_vector<float>(), (std::vector<float>{1, -1, 0, 0}));
  EXPECT_EQ(bytes.get(1)[0].to_vector<float>(), (std::vector<float>{1, 0, 0.2f, 0.2f}));
}

TEST(ImageDataset, ChannelsHaveTheirOwnNumbers) {
  const Tensor images = tensor<uint8_t>({255, 255}, Shape{1, 2, 1, 1});
  const ImageDataset dataset(images, tensor<int64_t>({0}), {.mean = {0, 1}, .std = {0.5, 1}});
  EXPECT_EQ(dataset.get(0)[0].to_vector<float>(), (std::vector<float>{2, 0}));
  EXPECT_THROW(ImageDataset(images, tensor<int64_t>({0}), {.mean = {0, 1, 2}}), ValueError);
}

TEST(ImageDataset, RefusesWhatDoesNotFit) {
  const Tensor images = tensor<uint8_t>({1, 2}, Shape{2, 1, 1});
  EXPECT_THROW(ImageDataset(images, tensor<int64_t>({0})), ShapeError);
  EXPECT_THROW(ImageDataset(images, tensor<float>({0, 0})), DTypeError);
  EXPECT_THROW(ImageDataset(images, tensor<int64_t>({0, -1})), ValueError);
  EXPECT_THROW(ImageDataset(tensor<float>({1, 2}, Shape{2, 1, 1}), tensor<int64_t>({0, 0})), ShapeError);
  EXPECT_THROW(ImageDataset(tensor<uint8_t>({1, 2}), tensor<int64_t>({0, 0})), ShapeError);
}

// --- folders ---------------------------------------------------------------------------------------------------------

std::string idx(std::vector<uint32_t> extents, const std::string& data) {
  std::string file{'\0', '\0', '\x08', char(extents.size())};
  for (uint32_t extent : extents) file += little(__builtin_bswap32(extent));
  return file + data;
}

TEST(IdxFolder, ReadsImagesAndLabels) {
  const TemporaryFolder folder;
  write_file(folder / "train-images-idx3-ubyte", idx({2, 1, 2}, std::string("\0\xff\1\2", 4)));
  write_file(folder / "train-labels-idx1-ubyte", idx({2}, std::string("\5\0", 2)));
  const auto train = idx_folder(folder.path(), "train");
  EXPECT_EQ(train->image_shape(), Shape({1, 1, 2}));
  EXPECT_EQ(train->get(0)[0].to_vector<float>(), (std::vector<float>{0, 1}));
  EXPECT_EQ(train->get(0)[1].item<int64_t>(), 5);
  EXPECT_THROW(idx_folder(folder.path(), "test"), IoError);
  EXPECT_THROW(idx_folder(folder.path(), "validation"), ValueError);
  write_file(folder / "train-labels-idx1-ubyte", idx({3}, std::string(3, '\0')));
  EXPECT_THROW(idx_folder(folder.path(), "train"), FormatError);
}

TEST(FashionMnist, AnAbsentFolderSaysWhatToInstall) {
  const TemporaryFolder folder;
  const auto message = [](const std::filesystem::path& root) {
    try {
      fashion_mnist("train", root);
    } catch (const IoError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_NE(message(folder.path()).find("apt install dataset-fashion-mnist"), std::string::npos);
  ::setenv("STOKER_DATA", folder.path().c_str(), 1);
  EXPECT_NE(message({}).find((folder / "fashion-mnist").string()), std::string::npos);
  ::unsetenv("STOKER_DATA");
}

class InstalledFashionMnist : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists("/usr/share/datasets/fashion-mnist"))
      GTEST_SKIP() << "dataset-fashion-mnist is not installed";
  }
};

TEST_F(InstalledFashionMnist, HasItsImagesAndClasses) {
  const auto train = fashion_mnist("train"), test = fashion_mnist("test");
  EXPECT_EQ(train->size(), 60'000);
  EXPECT_EQ(test->size(), 10'000);
  EXPECT_EQ(train->image_shape(), Shape({1, 28, 28}));
  EXPECT_EQ(train->classes(), 10);
  EXPECT_EQ(train->get(0)[1].item<int64_t>(), 9);  // an ankle boot
  // The mean pixel that the dataset's users quote.
  double sum = 0;
  for (int64_t i = 0; i < 1000; ++i)
    for (float pixel : train->get(i * 60)[0].to_vector<float>()) sum += pixel;
  EXPECT_NEAR(sum / (1000 * 784), 0.2860, 0.005);
}

TEST_F(InstalledFashionMnist, IsGatheredFast) {
  DataLoader loader(fashion_mnist("train"), {.batch_size = 128, .shuffle = true, .num_workers = 2});
  const auto begin = std::chrono::steady_clock::now();
  int64_t images = 0;
  for (const auto& batch : loader.on(cpu())) images += batch[0].size(0);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(images, 60'000);
  RecordProperty("images_per_second", int(double(images) / taken.count()));
  std::printf("%.0f images/s\n", double(images) / taken.count());
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_GT(double(images) / taken.count(), 100'000);
#endif
}

}  // namespace
}  // namespace stoker::data
