/// \file
/// Neural networks: modules, layers, initialisers and gradient clipping, with PyTorch's names and defaults. Losses and
/// the functions that the layers call are in ops.h. Options are aggregates: `{.in_features = 8, .out_features = 4}`.
/// The room stands on the tensor API alone; beside it optim updates what it holds.
#pragma once

#include <stoker/nn/activation.h>
#include <stoker/nn/clip_grad.h>
#include <stoker/nn/containers.h>
#include <stoker/nn/conv.h>
#include <stoker/nn/init.h>
#include <stoker/nn/linear.h>
#include <stoker/nn/module.h>
#include <stoker/nn/norm.h>
