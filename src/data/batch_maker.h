// What a worker does: from the number of a batch to the batch.
#pragma once

#include <memory>
#include <vector>

#include <stoker/data.h>

namespace stoker::data {

// The batches of one epoch. make() may be called from several threads at once.
class BatchMaker {
 public:
  BatchMaker(std::shared_ptr<const Dataset> dataset, DataLoaderOptions options, int64_t epoch, Device device);

  // How many batches a dataset gives with these options.
  static int64_t count(const Dataset& dataset, const DataLoaderOptions& options);

  int64_t count() const { return count(*dataset_, options_); }
  // Throws LoaderError. `cancelled` is asked between samples; the batch is then empty.
  Sample make(int64_t batch, int worker, const std::function<bool()>& cancelled) const;

 private:
  std::vector<int64_t> indices_of(int64_t batch) const;

  std::shared_ptr<const Dataset> dataset_;
  DataLoaderOptions options_;
  int64_t epoch_;
  Device device_;
  std::vector<int64_t> order_;  // empty: as they come
};

}  // namespace stoker::data
