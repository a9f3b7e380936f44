// What `stoker train` says while it works.
#pragma once

#include <memory>
#include <string>

#include <stoker/models.h>

namespace stoker::cli {

// What is known before the first step.
struct RunFacts {
  std::string model, data;
  Device device;
  int64_t parameters = 0, train_images = 0, test_images = 0;
  std::string resumed;  // the checkpoint from which the run goes on, or empty
};

class Reporter {
 public:
  virtual ~Reporter() = default;
  // How often progress() wants to be called, in seconds; 0: never.
  virtual double interval() const { return 0; }
  virtual void start(const RunFacts&) {}
  virtual void progress(const models::Progress&) {}
  virtual void epoch(const models::EpochReport&) {}
  // `checkpoint`: from which a stopped run can go on; empty when nothing was saved.
  virtual void stopped(const std::string& checkpoint);
  virtual void finish(const models::TrainResult& result);
};

// One JSON object a line; or the result alone; or lines for people, the present epoch's rewritten on a terminal.
std::unique_ptr<Reporter> make_reporter(bool json, bool quiet);

// "92.31%".
std::string percent(double share);

}  // namespace stoker::cli
