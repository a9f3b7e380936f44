#include "graph/ops/rows.h"

namespace stoker::graph {

void register_all_ops() {
  register_leaves();
  register_elementwise();
  register_activations();
  register_compare();
  register_reductions();
  register_scans();
  register_views();
  register_indexing();
  register_joins();
  register_matmul();
  register_convolution();
  register_pooling();
  register_norms();
  register_softmax();
  register_random();
  register_optimizers();
  register_special();
}

}  // namespace stoker::graph
