// The loader: what it gives depends on dataset, seed and epoch alone; errors arrive; leaving early is safe.
#include <gtest/gtest.h>

#include <stoker/data.h>
#include <stoker/ops.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "data_room/files.h"

namespace stoker::data {
namespace {

using stoker::test::bytes_of;

// Sample i is the number i, and what `extra` makes of it.
class Numbers final : public Dataset {
 public:
  using Extra = std::function<int64_t(int64_t index)>;
  explicit Numbers(
      int64_t size, Extra extra = [](int64_t) { return 0; })
      : size_(size), extra_(std::move(extra)) {}
  int64_t size() const override { return size_; }
  Sample get(int64_t index) const override {
    return {tensor<int64_t>({index}, Shape{}), tensor<int64_t>({extra_(index)}, Shape{})};
  }

 private:
  int64_t size_;
  Extra extra_;
};

using Batches = std::vector<std::vector<int64_t>>;

// One epoch's first or second tensors.
Batches collect(DataLoader& loader, size_t field = 0) {
  Batches batches;
  for (const auto& batch : loader.on(cpu())) batches.push_back(batch[field].to_vector<int64_t>());
  return batches;
}

std::vector<int64_t> joined(const Batches& batches) {
  std::vector<int64_t> all;
  for (const auto& batch : batches) all.insert(all.end(), batch.begin(), batch.end());
  return all;
}

TEST(DataLoader, GivesEverySampleOnceInOrder) {
  for (int workers : {0, 1, 3}) {
    DataLoader loader(std::make_shared<Numbers>(10), {.batch_size = 4, .num_workers = workers});
    EXPECT_EQ(loader.batches(), 3);
    EXPECT_EQ(loader.samples(), 10);
    EXPECT_EQ(collect(loader), (Batches{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9}}));
  }
}

TEST(DataLoader, DropLastLeavesOutTheIncompleteBatch) {
  DataLoader loader(std::make_shared<Numbers>(10), {.batch_size = 4, .drop_last = true});
  EXPECT_EQ(loader.batches(), 2);
  EXPECT_EQ(loader.samples(), 8);
  EXPECT_EQ(collect(loader), (Batches{{0, 1, 2, 3}, {4, 5, 6, 7}}));
}

TEST(DataLoader, AnEmptyDatasetGivesNoBatches) {
  DataLoader loader(std::make_shared<Numbers>(0), {.batch_size = 4, .shuffle = true, .num_workers = 2});
  EXPECT_EQ(loader.batches(), 0);
  EXPECT_TRUE(collect(loader).empty());
}

TEST(DataLoader, ShuffleIsAPermutationThatTheSeedAndTheEpochChoose) {
  const auto epochs = [](uint64_t seed, int workers) {
    DataLoader loader(std::make_shared<Numbers>(100),
                      {.batch_size = 7, .shuffle = true, .num_workers = workers, .seed = seed});
    return std::array{joined(collect(loader)), joined(collect(loader))};
  };
  const auto [first, second] = epochs(1, 0);
  std::vector<int64_t> sorted = first;
  std::sort(sorted.begin(), sorted.end());
  for (int64_t i = 0; i < 100; ++i) EXPECT_EQ(sorted[size_t(i)], i);
  EXPECT_NE(first, sorted);
  EXPECT_NE(first, second);
  EXPECT_NE(first, epochs(2, 0)[0]);
  for (int workers : {1, 2, 5}) EXPECT_EQ(epochs(1, workers), (std::array{first, second}));
}

// BR-063
TEST(DataLoader, RandomAugmentationDependsOnSeedEpochAndIndexAlone) {
  const auto epochs = [](uint64_t seed, int workers) {
    const auto draw = [](int64_t) { return sample_random().below(1'000'000); };
    DataLoader loader(std::make_shared<Numbers>(16, draw), {.batch_size = 2, .num_workers = workers, .seed = seed});
    return std::array{joined(collect(loader, 1)), joined(collect(loader, 1))};
  };
  const auto [first, second] = epochs(123, 0);
  std::vector<int64_t> sorted = first;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(std::adjacent_find(sorted.begin(), sorted.end()), sorted.end());
  EXPECT_NE(first, second);
  for (int workers : {0, 2, 4}) EXPECT_EQ(epochs(123, workers), (std::array{first, second}));
  EXPECT_NE(epochs(124, 0)[0], first);
}

TEST(DataLoader, ContinuesWhereAnotherStopped) {
  const DataLoaderOptions options = {.batch_size = 8, .shuffle = true, .num_workers = 2};
  DataLoader whole(std::make_shared<Numbers>(100), options);
  const Batches first = collect(whole), second = collect(whole), third = collect(whole);

  DataLoader interrupted(std::make_shared<Numbers>(100), options);
  collect(interrupted);
  Batches seen;
  for (auto [x, extra] : interrupted.on(cpu())) {
    seen.push_back(x.to_vector<int64_t>());
    if (seen.size() == 5) break;
  }
  const LoaderState state = interrupted.state();
  EXPECT_EQ(state.epoch, 1);
  EXPECT_EQ(state.position, 5);

  DataLoader resumed(std::make_shared<Numbers>(100), options);
  resumed.set_state(state);
  const Batches rest = collect(resumed);
  seen.insert(seen.end(), rest.begin(), rest.end());
  EXPECT_EQ(seen, second);
  EXPECT_EQ(collect(resumed), third);
}

TEST(DataLoader, ContinuesAtTheEndOfAnEpochWithTheNextOne) {
  DataLoader whole(std::make_shared<Numbers>(20), {.batch_size = 8, .shuffle = true});
  collect(whole);
  const Batches second = collect(whole);
  DataLoader resumed(std::make_shared<Numbers>(20), {.batch_size = 8, .shuffle = true});
  resumed.set_state({.epoch = 0, .position = 3});
  EXPECT_TRUE(collect(resumed).empty());
  EXPECT_EQ(resumed.state().epoch, 1);
  EXPECT_EQ(collect(resumed), second);
}

TEST(DataLoader, APassThatWasLeftEarlyCountsAsAnEpoch) {
  DataLoader loader(std::make_shared<Numbers>(20), {.batch_size = 8});
  for (auto [x, extra] : loader.on(cpu())) break;
  EXPECT_EQ(collect(loader).size(), 3u);
  EXPECT_EQ(loader.state().epoch, 2);
}

TEST(DataLoader, StatesOutsideOfTheEpochAreRefused) {
  DataLoader loader(std::make_shared<Numbers>(20), {.batch_size = 8});
  EXPECT_THROW(loader.set_state({.epoch = 0, .position = 4}), ValueError);
  EXPECT_THROW(loader.set_state({.epoch = -1, .position = 0}), ValueError);
}

TEST(DataLoader, OptionsOutOfRangeAreRefused) {
  const auto numbers = std::make_shared<Numbers>(1);
  EXPECT_THROW(DataLoader(numbers, {.batch_size = 0}), ValueError);
  EXPECT_THROW(DataLoader(numbers, {.num_workers = -1}), ValueError);
  EXPECT_THROW(DataLoader(numbers, {.prefetch_factor = 0}), ValueError);
  EXPECT_THROW(DataLoader(nullptr), ValueError);
}

TEST(DataLoader, BatchesOfAnotherNumberOfTensorsNameTheRightCall) {
  DataLoader loader(std::make_shared<TensorDataset>(std::vector<Tensor>(3, tensor<int64_t>({1, 2}))));
  for (auto [a, b, c] : loader.on<3>(cpu())) EXPECT_EQ(bytes_of(a), bytes_of(c));
  try {
    for (auto [a, b] : loader.on(cpu())) FAIL();
  } catch (const ValueError& e) {
    EXPECT_NE(std::string(e.what()).find("on<3>(device)"), std::string::npos) << e.what();
  }
}

TEST(DataLoader, AUsersCollateMakesTheBatches) {
  const auto sum = [](const std::vector<Sample>& samples) {
    int64_t total = 0;
    for (const Sample& sample : samples) total += sample[0].item<int64_t>();
    return Sample{tensor<int64_t>({total}), tensor<int64_t>({int64_t(samples.size())})};
  };
  for (int workers : {0, 2}) {
    DataLoader loader(std::make_shared<Numbers>(5), {.batch_size = 2, .num_workers = workers, .collate_fn = sum});
    EXPECT_EQ(collect(loader), (Batches{{1}, {5}, {4}}));
  }
}

// Batches that are computed from a tensor of the program's own.
class Shifted final : public Dataset {
 public:
  explicit Shifted(Tensor shift) : shift_(std::move(shift)) {}
  int64_t size() const override { return 64; }
  Sample get(int64_t index) const override { return {shift_ + index}; }
  std::optional<Sample> get_batch(std::span<const int64_t> indices, Device) const override {
    return Sample{shift_ * 2 + indices[0]};
  }

 private:
  Tensor shift_;
};

TEST(DataLoader, WorkersComputeWhileTheProgramRecords) {
  for (const bool whole : {false, true}) {
    DataLoaderOptions options{.num_workers = 3};
    if (!whole) options.collate_fn = [](const std::vector<Sample>& samples) { return samples[0]; };
    DataLoader loader(std::make_shared<Shifted>(full({1}, 5, kI64) + 1), options);
    Tensor sum = zeros({1}, kI64);
    for (const auto& batch : loader.on<1>(cpu())) {
      for (int i = 0; i < 20; ++i) sum = sum + 1;
      sum = sum + batch[0];
    }
    EXPECT_EQ(sum.item<int64_t>(), 64 * 20 + 64 * (whole ? 12 : 6) + 63 * 64 / 2);
  }
}

TEST(DefaultCollate, RefusesWhatDoesNotStack) {
  const Tensor two = tensor<int64_t>({1, 2}), three = tensor<int64_t>({1, 2, 3}), real = tensor<float>({1, 2});
  EXPECT_THROW(default_collate({}), ValueError);
  EXPECT_THROW(default_collate({{two}, {three}}), ShapeError);
  EXPECT_THROW(default_collate({{two}, {real}}), DTypeError);
  EXPECT_THROW(default_collate({{two}, {two, two}}), ValueError);
  EXPECT_EQ(default_collate({{two}, {two}})[0].to_vector<int64_t>(), (std::vector<int64_t>{1, 2, 1, 2}));
}

// --- errors ----------------------------------------------------------------------------------------------------------

struct OddError {
  int code;
  const char* word;
};
class TwoFields : public std::runtime_error {
 public:
  TwoFields(int code, const std::string& message) : std::runtime_error(message), code(code) {}
  const int code;
};

// BR-062
TEST(DataLoader, AnExceptionArrivesWithSampleWorkerAndItself) {
  for (int workers : {0, 1, 4}) {
    const auto fail = [](int64_t index) -> int64_t {
      if (index == 3) throw TwoFields(42, "message M");
      return 0;
    };
    DataLoader loader(std::make_shared<Numbers>(8, fail), {.batch_size = 2, .num_workers = workers});
    int64_t batches = 0;
    try {
      for (auto [x, y] : loader.on(cpu())) ++batches;
      FAIL() << "nothing was thrown";
    } catch (const LoaderError& e) {
      EXPECT_EQ(batches, 1);
      EXPECT_EQ(e.index(), 3);
      EXPECT_EQ(e.worker() < 0, workers == 0);
      EXPECT_LT(e.worker(), workers);
      EXPECT_NE(std::string(e.what()).find("sample 3"), std::string::npos) << e.what();
      EXPECT_NE(std::string(e.what()).find("message M"), std::string::npos) << e.what();
      try {
        e.rethrow_nested();
      } catch (const TwoFields& original) {
        EXPECT_EQ(original.code, 42);
      }
    }
  }
}

// BR-062
TEST(DataLoader, WhatIsNoStandardExceptionArrivesToo) {
  for (int workers : {0, 1, 4}) {
    const auto fail = [](int64_t) -> int64_t { throw OddError{7, "odd"}; };
    DataLoader loader(std::make_shared<Numbers>(8, fail), {.batch_size = 2, .num_workers = workers});
    try {
      collect(loader);
      FAIL() << "nothing was thrown";
    } catch (const LoaderError& e) {
      EXPECT_EQ(e.index(), 0);
      try {
        e.rethrow_nested();
      } catch (const OddError& original) {
        EXPECT_EQ(original.code, 7);
      }
    }
  }
}

// BR-062
TEST(DataLoader, AnExceptionInCollateArrives) {
  for (int workers : {0, 1, 4}) {
    const Collate fail = [](const std::vector<Sample>&) -> Sample { throw TwoFields(1, "no batch"); };
    DataLoader loader(std::make_shared<Numbers>(8), {.batch_size = 2, .num_workers = workers, .collate_fn = fail});
    try {
      collect(loader);
      FAIL() << "nothing was thrown";
    } catch (const LoaderError& e) {
      EXPECT_EQ(e.index(), 0);
      EXPECT_NE(std::string(e.what()).find("no batch"), std::string::npos) << e.what();
    }
  }
}

TEST(DataLoader, AStreamThatFailedHasEndedAndTheLoaderGoesOn) {
  std::atomic<bool> broken = true;
  const auto fail = [&broken](int64_t) -> int64_t { return broken ? throw TwoFields(1, "broken") : 0; };
  DataLoader loader(std::make_shared<Numbers>(8, fail), {.batch_size = 2, .num_workers = 2});
  const auto stream = loader.start(cpu());
  EXPECT_THROW(stream->next(), LoaderError);
  EXPECT_FALSE(stream->next());
  broken = false;
  EXPECT_EQ(collect(loader).size(), 4u);
}

// --- leaving early ---------------------------------------------------------------------------------------------------

TEST(DataLoader, LeavingEarlyWaitsForTheSamplesBeingReadAlone) {
  std::atomic<int> read = 0;
  const auto slow = [&read](int64_t) {
    ++read;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return int64_t(0);
  };
  DataLoader loader(std::make_shared<Numbers>(10'000, slow),
                    {.batch_size = 100, .num_workers = 4, .prefetch_factor = 4});
  const auto begin = std::chrono::steady_clock::now();
  {
    const auto stream = loader.start(cpu());
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
  EXPECT_LT(read, 100);
}

TEST(DataLoader, AStreamOutlivesItsLoader) {
  std::shared_ptr<BatchStream> stream;
  {
    DataLoader loader(std::make_shared<Numbers>(100), {.batch_size = 10, .num_workers = 3});
    stream = loader.start(cpu());
  }
  int64_t batches = 0;
  while (stream->next()) ++batches;
  EXPECT_EQ(batches, 10);
}

TEST(DataLoader, ManyShortPassesNeitherHangNorLeak) {
  DataLoader loader(std::make_shared<Numbers>(64), {.batch_size = 4, .shuffle = true, .num_workers = 4});
  for (int pass = 0; pass < 200; ++pass) {
    int64_t left = pass % 17;
    for (const auto& batch : loader.on(cpu())) {
      EXPECT_EQ(batch[0].size(0), 4);
      if (left-- == 0) break;
    }
  }
}

TEST(DataLoader, WorkersStayWithinThePrefetchWindow) {
  std::atomic<int64_t> furthest = 0;
  const auto note = [&furthest](int64_t index) {
    for (int64_t seen = furthest; index > seen && !furthest.compare_exchange_weak(seen, index);) continue;
    return int64_t(0);
  };
  DataLoader loader(std::make_shared<Numbers>(1000, note), {.batch_size = 1, .num_workers = 2, .prefetch_factor = 3});
  const auto stream = loader.start(cpu());
  stream->next();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_LE(furthest, 6);  // one taken, six ahead
}

}  // namespace
}  // namespace stoker::data
