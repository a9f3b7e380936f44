// Trains a small convolutional network on Fashion-MNIST, on the first GPU if there is one.
#include <stoker/stoker.h>

#include <fmt/format.h>

using namespace stoker;

struct Net : nn::Module {
  nn::Conv2d conv{*this, "conv", {.in_channels = 1, .out_channels = 32, .kernel_size = 3, .padding = 1}};
  nn::Linear head{*this, "head", {.in_features = 32 * 14 * 14, .out_features = 10}};
  Tensor forward(const Tensor& x) override { return head(flatten(max_pool2d(relu(conv(x)), 2), 1)); }
};

int main() {
  const Device device = try_gpu();
  Net net;
  net.to(device);
  optim::AdamW opt(net.parameters(), {.lr = 1e-3});
  data::DataLoader loader(data::fashion_mnist("train"), {.batch_size = 128, .shuffle = true, .num_workers = 2});

  for (int epoch = 0; epoch < 5; ++epoch) {
    Tensor total = zeros({}, device);
    for (auto [x, y] : loader.on(device)) {  // prefetched while the device works
      const Tensor loss = cross_entropy(net(x), y);
      opt.zero_grad();
      loss.backward();
      total += loss.detach();  // stays on the device
      opt.step();              // one plan: forward, backward, update
    }
    fmt::print("epoch {}: loss {:.4f}\n", epoch, total.item<float>() / float(loader.batches()));
  }
  save(net.state_dict(), "net.safetensors");
}
