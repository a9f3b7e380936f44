#include <fmt/format.h>

#include <stoker/data.h>

#include "data/batch_maker.h"
#include "data/prefetch.h"

namespace stoker::data {
namespace {

class EpochStream final : public BatchStream {
 public:
  EpochStream(std::shared_ptr<const Dataset> dataset, const DataLoaderOptions& options, Device device,
              std::shared_ptr<LoaderState> state)
      : maker_(std::move(dataset), options, state->epoch, device),
        position_(state->position),
        state_(std::move(state)),
        inline_(options.num_workers == 0),
        prefetcher_(maker_, position_, options.num_workers, options.prefetch_factor) {}

  std::optional<Sample> next() override {
    eval();
    if (ended_) return std::nullopt;
    if (position_ == maker_.count()) {
      ended_ = true;
      *state_ = {state_->epoch + 1, 0};
      return std::nullopt;
    }
    ended_ = true;  // unless the batch arrives
    Sample batch = inline_ ? maker_.make(position_, -1, [] { return false; }) : prefetcher_.take();
    ended_ = false;
    state_->position = ++position_;
    return batch;
  }

 private:
  const BatchMaker maker_;
  int64_t position_;
  std::shared_ptr<LoaderState> state_;
  bool inline_;
  bool ended_ = false;
  Prefetcher prefetcher_;
};

}  // namespace

DataLoader::DataLoader(std::shared_ptr<const Dataset> dataset, DataLoaderOptions options)
    : dataset_(std::move(dataset)), options_(std::move(options)), state_(std::make_shared<LoaderState>()) {
  const auto at_least = [](std::string_view name, int64_t value, int64_t least) {
    if (value < least)
      throw ValueError("DataLoader", fmt::format("expected {} of at least {}, got {}", name, least, value));
  };
  if (!dataset_) throw ValueError("DataLoader", "expected a dataset, got none");
  at_least("batch_size", options_.batch_size, 1);
  at_least("num_workers", options_.num_workers, 0);
  at_least("prefetch_factor", options_.prefetch_factor, 1);
}

std::shared_ptr<BatchStream> DataLoader::start(Device device) {
  // A pass that was left early is over, unless the loader was put where it stands.
  if (state_->position > 0 && !resumed_) *state_ = {state_->epoch + 1, 0};
  resumed_ = false;
  // An earlier stream that is still held must not move this one's state.
  state_ = std::make_shared<LoaderState>(*state_);
  eval();  // a worker that reads a tensor must not cut the record of a thread that goes on recording
  return std::make_shared<EpochStream>(dataset_, options_, device, state_);
}

int64_t DataLoader::batches() const { return BatchMaker::count(*dataset_, options_); }

int64_t DataLoader::samples() const { return options_.drop_last ? batches() * options_.batch_size : dataset_->size(); }

void DataLoader::set_state(LoaderState state) {
  if (state.epoch < 0 || state.position < 0 || state.position > batches())
    throw ValueError("DataLoader", fmt::format("expected an epoch of at least 0 and a position in 0..{}, got epoch {}, "
                                               "position {}; was the state taken with another batch_size?",
                                               batches(), state.epoch, state.position));
  state_ = std::make_shared<LoaderState>(state);
  resumed_ = true;
}

}  // namespace stoker::data
