// Several devices: the CPU split in two by STOKER_CPU_DEVICES, which this file sets before the first device is opened.
#include <gtest/gtest.h>

#include <cstdlib>

#include <stoker/stoker.h>

namespace stoker {
namespace {

const int split = setenv("STOKER_CPU_DEVICES", "2", 1);

using Floats = std::vector<float>;

TEST(Devices, AreListedCountedAndNamed) {
  ASSERT_EQ(split, 0);
  EXPECT_EQ(device_count("cpu"), 2);
  EXPECT_EQ(devices().size(), 2u);
  EXPECT_EQ(to_string(cpu(1)), "cpu:1");
  EXPECT_FALSE(properties(cpu()).name.empty());
  EXPECT_GT(properties(cpu()).total_memory, 0);
}

TEST(Devices, UnknownOnesAreRefusedWithThoseThatExist) {
  try {
    (void)zeros({2}, Device("cuda:7")).to_vector<float>();
    FAIL();
  } catch (const DeviceError& e) {
    EXPECT_NE(std::string(e.what()).find("cpu:0, cpu:1"), std::string::npos) << e.what();
  }
  EXPECT_THROW(Device("CPU 1"), DeviceError);
  EXPECT_THROW(Device("cpu:x"), DeviceError);
  EXPECT_THROW(gpu(), DeviceError);
}

TEST(Devices, TryGpuFallsBackToTheCpu) {
  EXPECT_EQ(try_gpu(), cpu());
  EXPECT_EQ(try_all_gpus(), std::vector<Device>{cpu()});
}

TEST(Devices, ScopeChangesTheDefault) {
  EXPECT_EQ(ones({1}).device(), cpu(0));
  {
    DeviceScope scope(cpu(1));
    EXPECT_EQ(ones({1}).device(), cpu(1));
  }
  EXPECT_EQ(ones({1}).device(), cpu(0));
}

TEST(Devices, MixingThemNamesBothAndTheLine) {
  Tensor a = ones({2}, cpu(0)), b = ones({2}, cpu(1));
  int line = 0;
  try {
    line = __LINE__ + 1;
    (void)(a + b);
    FAIL();
  } catch (const DeviceError& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("cpu:0"), std::string::npos) << text;
    EXPECT_NE(text.find("cpu:1"), std::string::npos) << text;
    EXPECT_NE(text.find("devices_test.cpp:" + std::to_string(line)), std::string::npos) << text;
  }
}

TEST(Devices, ToReturnsTheSameTensorWhenItIsThere) {
  Tensor a = make_cell(ones({2}, cpu(1)));
  EXPECT_TRUE(a.to(cpu(1)).is_cell()) << "the very same handle";
  EXPECT_FALSE(a.copy_to(cpu(1)).is_cell());
  EXPECT_EQ(a.to(cpu(0)).device(), cpu(0));
}

TEST(Devices, CopiesCarryValuesAndGradientsAcross) {
  Tensor p = make_cell(tensor<float>({1, 2, 3}), true);
  Tensor there = p.to(cpu(1)) * 2;
  EXPECT_EQ(there.device(), cpu(1));
  Tensor back = there.to(cpu(0)) * p;
  back.sum().backward();
  EXPECT_EQ(back.to_vector<float>(), (Floats{2, 8, 18}));
  EXPECT_EQ(p.grad().to_vector<float>(), (Floats{4, 8, 12}));
  EXPECT_EQ(p.grad().device(), cpu(0));
}

TEST(Devices, CopyOfStridedViewIsDense) {
  Tensor t = tensor<float>({1, 2, 3, 4, 5, 6}, Shape{2, 3});
  EXPECT_EQ(t.transpose(0, 1).to(cpu(1)).to_vector<float>(), (Floats{1, 4, 2, 5, 3, 6}));
}

TEST(Devices, WorkAlternatesBetweenThemWithoutLosingOrder) {
  Tensor a = full({1000}, 1, cpu(0));
  for (int i = 0; i < 50; ++i) {
    a = (a + 1).to(cpu(1));
    a = (a * 2 - a).to(cpu(0));
    if (i % 10 == 9) eval();
  }
  EXPECT_EQ(a.to_vector<float>(), Floats(1000, 51));
}

constexpr int64_t kMany = int64_t(1) << 20;  // elements: copying them takes long enough to be overtaken

TEST(Devices, MemoryThatAnotherDeviceStillCopiesIsNotReused) {
  std::vector<Tensor> copies;
  for (int i = 0; i < 20; ++i) {
    copies.push_back(from_host(Floats(kMany, float(i)).data(), {kMany}, cpu(0)).to(cpu(1)));
    eval();
  }
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(copies[size_t(i)].to_vector<float>(), Floats(kMany, float(i)));
  }
}

TEST(Devices, AnUpdateWaitsForCopiesOfTheOldValue) {
  const Tensor p = make_cell(zeros({kMany}, cpu(0)));
  for (const bool in_one_plan : {false, true}) {
    p.assign(zeros({kMany}, cpu(0)));
    std::vector<Tensor> copies;
    for (int i = 0; i < 20; ++i) {
      copies.push_back(p.to(cpu(1)));
      if (!in_one_plan) eval();
      p.assign(p + 1);
      eval();
    }
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(copies[size_t(i)].to_vector<float>(), Floats(kMany, float(i)));
    }
  }
}

TEST(Devices, AFailureOnOneLeavesTheWorkOfTheOther) {
  const Tensor table = ones({4}, cpu(1)), far = full({1}, 9, {kI64, cpu(1)});
  for (int i = 0; i < 20; ++i) {
    const Tensor good = ones({kMany}, cpu(0)) + 1, bad = index_select(table, 0, far), spoilt = bad.to(cpu(0));
    eval();
    EXPECT_EQ(good.to_vector<float>(), Floats(kMany, 2));
    EXPECT_THROW((void)spoilt.to_vector<float>(), ValueError);
    EXPECT_THROW((void)bad.to_vector<float>(), ValueError);
  }
}

TEST(NullDevice, PlansAndDoesNotCompute) {
  const Device null("null", 0);
  Tensor x = zeros({1024, 1024}, null), w = make_cell(zeros({1024, 1024}, null), true);
  Tensor loss = relu(matmul(x, w)).sum();
  loss.backward();
  (void)w.grad();
  eval();
  EXPECT_GE(last_plan().flops, 2.0 * 2 * 1024 * 1024 * 1024) << "the product and one gradient";
  EXPECT_GE(last_plan().predicted_bytes, 4 * 1024 * 1024);
  EXPECT_THROW((void)loss.item<float>(), DeviceError);
}

}  // namespace
}  // namespace stoker
