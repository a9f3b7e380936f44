#include "cli/recipe.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace stoker::cli {

const std::vector<OptimizerRow>& optimizers() {
  using Params = std::vector<Tensor>;
  using Made = std::unique_ptr<optim::Optimizer>;
  static const std::vector<OptimizerRow> rows = {
      {"sgd", 0.1, 0.0,
       [](Params params, double lr, double decay) -> Made {
         return std::make_unique<optim::SGD>(std::move(params), optim::SGDOptions{.lr = lr, .weight_decay = decay});
       }},
      {"momentum", 0.02, 0.0,
       [](Params params, double lr, double decay) -> Made {
         return std::make_unique<optim::SGD>(std::move(params),
                                             optim::SGDOptions{.lr = lr, .momentum = 0.9, .weight_decay = decay});
       }},
      {"adam", 1e-3, 0.0,
       [](Params params, double lr, double decay) -> Made {
         return std::make_unique<optim::Adam>(std::move(params), optim::AdamOptions{.lr = lr, .weight_decay = decay});
       }},
      {"adamw", 1e-3, 1e-2,
       [](Params params, double lr, double decay) -> Made {
         return std::make_unique<optim::AdamW>(std::move(params), optim::AdamWOptions{.lr = lr, .weight_decay = decay});
       }},
  };
  return rows;
}

const OptimizerRow& find_optimizer(const std::string& name) {
  return *std::find_if(optimizers().begin(), optimizers().end(),
                       [&](const OptimizerRow& row) { return row.name == name; });
}

std::unique_ptr<optim::LRScheduler> make_schedule(const std::string& name, optim::Optimizer& optimizer, int64_t steps,
                                                  int64_t warmup) {
  const auto factor = [=](int64_t step) {
    if (step < warmup) return double(step + 1) / double(warmup + 1);
    const double done = double(step - warmup) / double(std::max<int64_t>(steps - warmup, 1));
    if (name == "cosine") return (1 + std::cos(std::numbers::pi * std::min(done, 1.0))) / 2;
    if (name == "step") return done < 0.5 ? 1.0 : done < 0.75 ? 0.1 : 0.01;
    return 1.0;
  };
  return std::make_unique<optim::LambdaLR>(optimizer, factor);
}

}  // namespace stoker::cli
