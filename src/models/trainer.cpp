#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <stoker/models.h>
#include <stoker/ops.h>

#include "models/checkpoint.h"

namespace stoker::models {
namespace {

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

Trainer::Trainer(nn::Module& net, optim::Optimizer& optimizer, optim::LRScheduler* schedule, data::DataLoader& train,
                 data::DataLoader* test, TrainerOptions options)
    : net_(net), optimizer_(optimizer), schedule_(schedule), train_(train), test_(test), options_(std::move(options)) {
  if (options_.epochs < 0 || options_.save_every < 0 || options_.report_seconds < 0)
    throw ValueError("train", "expected epochs, save_every and report_seconds of at least 0");
  if (train_.batches() == 0) throw ValueError("train", "expected training data, got none");
  reset_sums();
}

void Trainer::reset_sums() {
  loss_sum_ = zeros({}, options_.device);
  correct_ = zeros({}, {kI64, options_.device});
}

TrainResult Trainer::run() {
  run_begin_ = Clock::now();
  run_samples_ = 0;
  TrainResult result;
  if (!options_.output.empty()) std::filesystem::create_directories(options_.output);
  while (train_.state().epoch < options_.epochs && !result.stopped) {
    if (train_epoch())
      result.test = finish_epoch().test;
    else
      save_last();
    result.stopped = stop_requested() && train_.state().epoch < options_.epochs;
  }
  if (test_ && !result.test && !result.stopped) result.test = evaluate(net_, *test_, options_.device);
  result.best_accuracy = best_accuracy_;
  result.seconds = seconds_since(run_begin_);
  return result;
}

// Whether the epoch came to its end.
bool Trainer::train_epoch() {
  net_.train();
  epoch_begin_ = Clock::now();
  epoch_samples_ = 0;
  Clock::time_point reported = epoch_begin_;
  for (auto [x, y] : train_.on(options_.device)) {
    step(x, y);
    if (stop_requested()) return false;
    if (options_.save_every > 0 && train_.state().position % options_.save_every == 0) save_last();
    if (on_progress_ && options_.report_seconds > 0 && seconds_since(reported) >= options_.report_seconds) {
      on_progress_(progress());
      reported = Clock::now();
    }
  }
  return true;
}

// The sums are recorded before the optimizer's step, and so belong to its plan.
void Trainer::step(const Tensor& x, const Tensor& y) {
  optimizer_.zero_grad();
  const Tensor loss = forward_backward(x, y);
  loss_sum_ += loss * double(x.size(0));
  optimizer_.step();
  if (schedule_) schedule_->step();
  epoch_samples_ += x.size(0);
  run_samples_ += x.size(0);
}

Tensor Trainer::forward_backward(const Tensor& x, const Tensor& y) {
  const Tensor logits = net_(x);
  const Tensor loss = cross_entropy(logits, y);
  loss.backward();
  correct_ += eq(argmax(logits.detach(), 1), y).sum();
  return loss.detach();
}

EpochReport Trainer::finish_epoch() {
  EpochReport report;
  report.train = progress();
  reset_sums();
  if (test_) {
    report.test = evaluate(net_, *test_, options_.device);
    report.best = report.test->accuracy > best_accuracy_;
    best_accuracy_ = std::max(best_accuracy_, report.test->accuracy);
  }
  save_last();
  if (report.best && !options_.output.empty()) save(options_.output / "best.safetensors");
  report.seconds = seconds_since(epoch_begin_);
  if (on_epoch_) on_epoch_(report);
  return report;
}

// Reads the sums, and thereby waits for the steps so far.
Progress Trainer::progress() const {
  const data::LoaderState at = train_.state();
  const bool ended = at.position == 0;  // the loader stands at the next epoch already
  Progress p;
  p.epoch = ended ? at.epoch : at.epoch + 1;
  p.epochs = options_.epochs;
  p.steps = train_.batches();
  p.step = ended ? p.steps : at.position;
  const int64_t samples = std::min(p.step * train_.options().batch_size, train_.samples());
  p.loss = loss_sum_.item<double>() / double(samples);
  p.accuracy = double(correct_.item<int64_t>()) / double(samples);
  p.learning_rate = optimizer_.lr();
  if (!std::isfinite(p.loss))
    throw ValueError(
        "train", fmt::format("expected a finite loss, got {} in epoch {}; try a lower learning rate", p.loss, p.epoch));
  p.images_per_second = double(epoch_samples_) / seconds_since(epoch_begin_);
  const int64_t left = (p.epochs - p.epoch + 1) * train_.samples() - samples;
  if (run_samples_ > 0) p.seconds_left = seconds_since(run_begin_) / double(run_samples_) * double(left);
  return p;
}

void Trainer::save_last() const {
  if (!options_.output.empty()) save(options_.output / "last.safetensors");
}

void Trainer::save(const std::filesystem::path& path) const {
  write_checkpoint({.info = {.model = options_.model,
                             .model_options = options_.model_options,
                             .settings = options_.settings,
                             .position = train_.state(),
                             .epochs = options_.epochs,
                             .best_accuracy = best_accuracy_},
                    .batches = train_.batches(),
                    .random = random_state(),
                    .network = net_.state_dict(),
                    .optimizer = optimizer_.state_dict(),
                    .schedule = schedule_ ? schedule_->state_dict() : StateDict(),
                    .sums = {{"loss", loss_sum_}, {"correct", correct_}}},
                   path);
}

void Trainer::load(const std::filesystem::path& path) {
  const Checkpoint checkpoint = load_checkpoint(path);
  if (checkpoint.batches != train_.batches())
    throw ValueError(
        "train",
        fmt::format("{} was saved by a run of {} batches an epoch, this one has {}; use its data and batch size",
                    path.string(), checkpoint.batches, train_.batches()));
  if (checkpoint.schedule.empty() != (schedule_ == nullptr))
    throw ValueError("train",
                     fmt::format("{} was saved by a run {} a schedule, this one is {} one", path.string(),
                                 checkpoint.schedule.empty() ? "without" : "with", schedule_ ? "with" : "without"));
  const auto sum = [&](const std::string& name, const Tensor& like) {
    const auto found = checkpoint.sums.find(name);
    if (found == checkpoint.sums.end() || found->second.shape() != Shape() || found->second.dtype() != like.dtype())
      throw FormatError("checkpoint", fmt::format("{}, offset 8: expected the tensor sums.{}, one {}", path.string(),
                                                  name, name_of(like.dtype())));
    return found->second.to(options_.device);
  };
  const Tensor loss_sum = sum("loss", loss_sum_), correct = sum("correct", correct_);
  net_.load_state_dict(checkpoint.network);
  optimizer_.load_state_dict(checkpoint.optimizer);
  if (schedule_) schedule_->load_state_dict(checkpoint.schedule);
  train_.set_state(checkpoint.info.position);
  loss_sum_ = loss_sum;
  correct_ = correct;
  best_accuracy_ = checkpoint.info.best_accuracy;
  set_random_state(checkpoint.random);
}

}  // namespace stoker::models
