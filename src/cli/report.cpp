#include "cli/report.h"

#include <unistd.h>

#include <cmath>
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace stoker::cli {
namespace {

using nlohmann::ordered_json;

void say(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

// 1234567 as "1,234,567".
std::string grouped(double number) {
  std::string digits = fmt::format("{:.0f}", number);
  for (auto at = ptrdiff_t(digits.size()) - 3; at > 0; at -= 3) digits.insert(size_t(at), 1, ',');
  return digits;
}

std::string duration(double seconds) {
  const auto whole = int64_t(std::lround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

class HumanReporter final : public Reporter {
 public:
  double interval() const override { return terminal_ ? 0.5 : 0; }

  void start(const RunFacts& facts) override {
    if (!facts.resumed.empty()) say(fmt::format("resuming from {}\n", facts.resumed));
    say(fmt::format("{} with {} parameters on {}; {}: {} training and {} test images\n", facts.model,
                    grouped(double(facts.parameters)), to_string(facts.device), facts.data,
                    grouped(double(facts.train_images)), grouped(double(facts.test_images))));
  }

  void progress(const models::Progress& p) override {
    rewrite(fmt::format("epoch {}/{}  {:3.0f}%  loss {:.4f}  {} images/s  {} left", p.epoch, p.epochs,
                        100.0 * double(p.step) / double(p.steps), p.loss, grouped(p.images_per_second),
                        duration(p.seconds_left)));
  }

  void epoch(const models::EpochReport& report) override {
    const models::Progress& p = report.train;
    rewrite("");
    const std::string test = report.test ? fmt::format("  test {}", percent(report.test->accuracy)) : "";
    const std::string left = p.epoch < p.epochs ? fmt::format("  {} left", duration(p.seconds_left)) : "";
    say(fmt::format("epoch {}/{}  loss {:.4f}  train {}{}  {} images/s{}{}\n", p.epoch, p.epochs, p.loss,
                    percent(p.accuracy), test, grouped(p.images_per_second), left, report.best ? "  best" : ""));
  }

  void stopped(const std::string& checkpoint) override {
    rewrite("");
    Reporter::stopped(checkpoint);
  }

 private:
  void rewrite(const std::string& text) {
    if (terminal_) say(fmt::format("\r\x1b[K{}", text));
  }

  const bool terminal_ = ::isatty(STDOUT_FILENO) == 1;
};

class JsonReporter final : public Reporter {
 public:
  double interval() const override { return 1; }

  void start(const RunFacts& facts) override {
    write({{"event", "start"},
           {"model", facts.model},
           {"data", facts.data},
           {"device", to_string(facts.device)},
           {"parameters", facts.parameters},
           {"train_images", facts.train_images},
           {"test_images", facts.test_images},
           {"resumed", facts.resumed}});
  }

  void progress(const models::Progress& p) override { write(line("progress", p)); }

  void epoch(const models::EpochReport& report) override {
    ordered_json out = line("epoch", report.train);
    out["seconds"] = report.seconds;
    out["best"] = report.best;
    if (report.test) {
      out["test_loss"] = report.test->loss;
      out["test_accuracy"] = report.test->accuracy;
    }
    write(out);
  }

  void stopped(const std::string& checkpoint) override { write({{"event", "stopped"}, {"checkpoint", checkpoint}}); }

  void finish(const models::TrainResult& result) override {
    ordered_json out = {{"event", "result"}, {"best_accuracy", result.best_accuracy}, {"seconds", result.seconds}};
    if (result.test) {
      out["test_loss"] = result.test->loss;
      out["test_accuracy"] = result.test->accuracy;
    }
    write(out);
  }

 private:
  static void write(const ordered_json& object) { say(object.dump() + "\n"); }

  static ordered_json line(const char* event, const models::Progress& p) {
    return {{"event", event},
            {"epoch", p.epoch},
            {"epochs", p.epochs},
            {"step", p.step},
            {"steps", p.steps},
            {"loss", p.loss},
            {"accuracy", p.accuracy},
            {"learning_rate", p.learning_rate},
            {"images_per_second", p.images_per_second},
            {"seconds_left", p.seconds_left}};
  }
};

}  // namespace

void Reporter::stopped(const std::string& checkpoint) {
  if (checkpoint.empty())
    say("stopped; nothing was saved, as there was no --output\n");
  else
    say(fmt::format("stopped and saved; continue with: stoker train --resume {}\n", checkpoint));
}

void Reporter::finish(const models::TrainResult& result) {
  if (result.test) say(fmt::format("test accuracy: {}\n", percent(result.test->accuracy)));
}

std::unique_ptr<Reporter> make_reporter(bool json, bool quiet) {
  if (json) return std::make_unique<JsonReporter>();
  if (quiet) return std::make_unique<Reporter>();
  return std::make_unique<HumanReporter>();
}

std::string percent(double share) { return fmt::format("{:.2f}%", 100 * share); }

}  // namespace stoker::cli
