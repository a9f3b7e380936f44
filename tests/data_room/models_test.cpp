// The registry of networks, evaluation and prediction.
#include <gtest/gtest.h>

#include <stoker/models.h>
#include <stoker/ops.h>

#include <cmath>

namespace stoker::models {
namespace {

TEST(Models, TheRegistryHasMlpAndCnn) {
  std::vector<std::string> names;
  for (const ModelEntry& entry : registry()) names.push_back(entry.name);
  EXPECT_EQ(names, (std::vector<std::string>{"cnn", "mlp"}));
}

TEST(Models, UnknownNamesAndOptionsListWhatThereIs) {
  const auto message = [](std::string_view name, const ModelOptions& options) {
    try {
      create(name, options);
    } catch (const ValueError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_NE(message("lenet", {}).find("cnn, mlp"), std::string::npos) << message("lenet", {});
  EXPECT_NE(message("cnn", {{"heigth", 28}}).find("dropout, height, in_channels"), std::string::npos);
  EXPECT_NE(message("cnn", {{"height", 2}}).find("at least 4"), std::string::npos);
  EXPECT_NE(message("mlp", {{"num_classes", 2.5}}).find("whole number"), std::string::npos);
  EXPECT_NE(message("mlp", {{"num_classes", NAN}}).find("whole number"), std::string::npos);
}

TEST(Models, ANewNetworkIsOneCallOfAdd) {
  struct Tiny : nn::Module {
    explicit Tiny(int64_t classes) : head(*this, "head", {.in_features = 4, .out_features = classes}) {}
    Tensor forward(const Tensor& x) override { return head(flatten(x, 1)); }
    nn::Linear head;
  };
  const auto make = [](const ModelOptions& o) { return std::make_unique<Tiny>(int64_t(o.at("num_classes"))); };
  static const bool added = add({"tiny", "for this test", {{"num_classes", 3}}, make});
  EXPECT_TRUE(added);
  EXPECT_EQ((*create("tiny"))(zeros({2, 4})).shape(), Shape({2, 3}));
  EXPECT_EQ((*create("tiny", {{"num_classes", 5}}))(zeros({2, 4})).shape(), Shape({2, 5}));
  EXPECT_THROW(add({"tiny", "again", {}, make}), ValueError);
}

int64_t parameters(const nn::Module& net) {
  int64_t count = 0;
  for (const Tensor& parameter : net.parameters()) count += parameter.numel();
  return count;
}

TEST(Models, NetworksHaveTheirShapesAndParameters) {
  const auto cnn = create("cnn");
  // 9*32+32, 9*32*64+64, 3136*128+128, 128*10+10
  EXPECT_EQ(parameters(*cnn), 421'642);
  EXPECT_EQ((*cnn)(zeros({2, 1, 28, 28})).shape(), Shape({2, 10}));
  const auto mlp = create("mlp");
  // 784*256+256, 256*256+256, 256*10+10
  EXPECT_EQ(parameters(*mlp), 269'322);
  EXPECT_EQ((*mlp)(zeros({2, 1, 28, 28})).shape(), Shape({2, 10}));
  const auto small = create("cnn", {{"in_channels", 3}, {"height", 9}, {"width", 12}, {"num_classes", 4}});
  EXPECT_EQ((*small)(zeros({2, 3, 9, 12})).shape(), Shape({2, 4}));
  EXPECT_EQ(parameters(*create("mlp", {{"hidden_layers", 0}})), 784 * 10 + 10);
}

// Logits that are its input.
struct Echo : nn::Module {
  Tensor forward(const Tensor& x) override { return x; }
};

TEST(Evaluate, CountsByClassAndAveragesTheLoss) {
  const Tensor logits = tensor<float>({2, 0, 0, 0, 3, 0, 1, 0, 0, 0, 0, 5}, Shape{4, 3});
  const auto dataset = std::make_shared<data::TensorDataset>(std::vector{logits, tensor<int64_t>({0, 1, 2, 2})});
  data::DataLoader loader(dataset, {.batch_size = 3});
  Echo net;
  const Evaluation result = evaluate(net, loader, cpu());
  EXPECT_EQ(result.samples, 4);
  EXPECT_EQ(result.class_samples, (std::vector<int64_t>{1, 1, 2}));
  EXPECT_EQ(result.class_correct, (std::vector<int64_t>{1, 1, 1}));
  EXPECT_EQ(result.accuracy, 0.75);
  const auto loss = [](double a, double b, double c, double target) {
    return std::log(std::exp(a) + std::exp(b) + std::exp(c)) - target;
  };
  EXPECT_NEAR(result.loss, (loss(2, 0, 0, 2) + loss(0, 3, 0, 3) + loss(1, 0, 0, 0) + loss(0, 0, 5, 5)) / 4, 1e-6);
  EXPECT_TRUE(net.training());
}

TEST(Predict, GivesProbabilities) {
  Echo net;
  const std::vector<float> p = predict(net, tensor<float>({0, std::log(3.0f)}, Shape{1, 2})).to_vector<float>();
  EXPECT_NEAR(p[0], 0.25, 1e-6);
  EXPECT_NEAR(p[1], 0.75, 1e-6);
}

}  // namespace
}  // namespace stoker::models
