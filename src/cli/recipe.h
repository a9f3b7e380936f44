// Optimizers and learning-rate schedules as the command line names them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <stoker/optim.h>

namespace stoker::cli {

struct OptimizerRow {
  const char* name;
  double lr, weight_decay;  // when the command line gives none
  std::unique_ptr<optim::Optimizer> (*make)(std::vector<Tensor> params, double lr, double weight_decay);
};
const std::vector<OptimizerRow>& optimizers();
const OptimizerRow& find_optimizer(const std::string& name);

inline const std::vector<std::string> kSchedules = {"none", "step", "cosine"};

// Over `steps` optimizer steps: `warmup` steps of linear rise, then the rate of the name: constant; a tenth of it after
// one half of the rest and a hundredth after three quarters; or half a cosine down to 0.
std::unique_ptr<optim::LRScheduler> make_schedule(const std::string& name, optim::Optimizer& optimizer, int64_t steps,
                                                  int64_t warmup);

}  // namespace stoker::cli
