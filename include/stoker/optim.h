/// \file
/// Optimizers and learning-rate schedules, with PyTorch's names and defaults. A step is recorded like any operation:
/// see "When things run" in the guide. The room stands on the tensor API alone, and knows nothing of modules.
#pragma once

#include <stoker/optim/adam.h>
#include <stoker/optim/lr_scheduler.h>
#include <stoker/optim/optimizer.h>
#include <stoker/optim/sgd.h>
