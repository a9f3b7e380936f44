#include <numeric>

#include <stoker/models.h>
#include <stoker/ops.h>

namespace stoker::models {
namespace {

// Evaluation mode for a scope; afterwards the network is in the mode it was in.
class EvaluationMode {
 public:
  explicit EvaluationMode(nn::Module& net) : net_(net), training_(net.training()) { net_.eval(); }
  ~EvaluationMode() { net_.train(training_); }
  EvaluationMode(const EvaluationMode&) = delete;
  EvaluationMode& operator=(const EvaluationMode&) = delete;

 private:
  nn::Module& net_;
  bool training_;
  NoGrad no_grad_;
};

// Sums over batches, kept on the device.
struct Sums {
  Tensor loss, class_samples, class_correct;

  void add(const Tensor& logits, const Tensor& y) {
    if (!loss.defined()) {
      loss = zeros({}, logits.device());
      class_samples = class_correct = zeros({logits.size(1)}, {kI64, logits.device()});
    }
    loss += cross_entropy(logits, y, {.weight = {}, .reduction = Reduction::Sum});
    class_samples = index_add(class_samples, 0, y, ones_like(y));
    class_correct = index_add(class_correct, 0, y, eq(argmax(logits, 1), y).to(kI64));
  }
};

}  // namespace

Evaluation evaluate(nn::Module& net, data::DataLoader& loader, Device device) {
  const EvaluationMode mode(net);
  Sums sums;
  for (auto [x, y] : loader.on(device)) sums.add(net(x), y);
  Evaluation result;
  if (!sums.loss.defined()) return result;
  result.class_samples = sums.class_samples.to_vector<int64_t>();
  result.class_correct = sums.class_correct.to_vector<int64_t>();
  const auto total = [](const std::vector<int64_t>& counts) {
    return std::accumulate(counts.begin(), counts.end(), int64_t(0));
  };
  result.samples = total(result.class_samples);
  result.accuracy = double(total(result.class_correct)) / double(result.samples);
  result.loss = sums.loss.item<double>() / double(result.samples);
  return result;
}

Tensor predict(nn::Module& net, const Tensor& x) {
  const EvaluationMode mode(net);
  return softmax(net(x), 1);
}

}  // namespace stoker::models
