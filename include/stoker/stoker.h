/// \file
/// Everything: `#include <stoker/stoker.h>`.
#pragma once

#include <stoker/data.h>
#include <stoker/device.h>
#include <stoker/dtype.h>
#include <stoker/error.h>
#include <stoker/io.h>
#include <stoker/models.h>
#include <stoker/nn.h>
#include <stoker/ops.h>
#include <stoker/optim.h>
#include <stoker/shape.h>
#include <stoker/tensor.h>
