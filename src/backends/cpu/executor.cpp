#include "backends/cpu/executor.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "backends/cpu/parallel.h"
#include "backends/cpu/system.h"

namespace stoker::backends::cpu {

struct Executor::State {
  explicit State(Device d, int n) : device(d), threads(n), generation(fork_generation()) {}

  void run();
  void execute(const Batch& batch, int& step);
  void fail_pending();
  void stop();

  const Device device;
  const int threads;
  const int generation;
  mutable std::mutex mutex;
  std::condition_variable work, progress;
  std::deque<Batch> queue;
  Ticket submitted = 0;
  std::atomic<Ticket> completed{0};
  bool stopping = false;
  std::thread thread;
};

namespace {

// Executors whose thread must be gone before the process takes its libraries apart.
struct Running {
  std::mutex mutex;
  std::vector<std::function<void()>> stops;
  std::vector<const void*> owners;
};
Running& running() {
  static Running* r = new Running;
  return *r;
}

void stop_all() {
  std::vector<std::function<void()>> stops;
  {
    std::lock_guard lock(running().mutex);
    stops.swap(running().stops);
    running().owners.clear();
  }
  for (auto& stop : stops) stop();
}

void remember(const void* owner, std::function<void()> stop) {
  static const int registered = std::atexit(stop_all);
  (void)registered;
  std::lock_guard lock(running().mutex);
  running().owners.push_back(owner);
  running().stops.push_back(std::move(stop));
}

void forget(const void* owner) {
  std::lock_guard lock(running().mutex);
  auto& owners = running().owners;
  const auto at = std::find(owners.begin(), owners.end(), owner);
  if (at == owners.end()) return;
  running().stops.erase(running().stops.begin() + (at - owners.begin()));
  owners.erase(at);
}

void fail(const Batch& batch, const std::exception_ptr& error, int step) {
  if (!batch.completion) return;
  for (const Origin& old : batch.homes) batch.completion->lost.push_back(old.failure());
  batch.completion->error = error;
  batch.completion->failed_step = step;
}

}  // namespace

void Executor::State::execute(const Batch& batch, int& step) {
  for (const auto& [driver, ticket] : batch.after) driver->wait(ticket);
  for (const Origin& origin : batch.inputs_from)
    if (auto failure = origin.failure()) std::rethrow_exception(failure);
  for (const Batch::Step& s : batch.steps) {
    ++step;
    s.kernel->launch({.inputs = s.inputs, .outputs = s.outputs, .scratch = s.scratch, .loc = s.loc});
  }
}

void Executor::State::run() {
  pthread_setname_np(pthread_self(), fmt::format("stoker-{}", to_string(device)).c_str());
  const ThreadCountScope team(threads);
  std::unique_lock lock(mutex);
  for (;;) {
    work.wait(lock, [&] { return stopping || !queue.empty(); });
    if (stopping) return;
    Batch batch = std::move(queue.front());
    queue.pop_front();
    lock.unlock();
    int step = batch.first_step - 1;
    try {
      execute(batch, step);
    } catch (...) {
      fail(batch, std::current_exception(), step);
    }
    lock.lock();
    completed.fetch_add(1, std::memory_order_release);
    progress.notify_all();
    // What the batch kept alive may take locks that a waiting thread holds: it dies after the ticket is done.
    lock.unlock();
    batch = Batch();
    lock.lock();
  }
}

void Executor::State::fail_pending() {
  const auto error = std::make_exception_ptr(DeviceError(to_string(device), "the process ended before this work ran"));
  for (const Batch& batch : queue) fail(batch, error, batch.first_step - 1);
  queue.clear();
  completed = submitted;
}

void Executor::State::stop() {
  if (fork_generation() != generation) return;
  {
    std::lock_guard lock(mutex);
    stopping = true;
  }
  work.notify_all();
  if (thread.joinable()) thread.join();
  std::lock_guard lock(mutex);
  fail_pending();
  progress.notify_all();
}

Executor::Executor(Device device, int threads) : state_(std::make_unique<State>(device, threads)) {
  State* state = state_.get();
  state->thread = std::thread([state] { state->run(); });
  remember(state, [state] { state->stop(); });
}

Executor::~Executor() {
  forget(state_.get());
  if (fork_generation() != state_->generation) {
    (void)state_.release();  // the thread and the locks it held belong to the parent
    return;
  }
  wait(submitted());
  state_->stop();
}

void Executor::check_process() const {
  if (fork_generation() != state_->generation)
    throw DeviceError(to_string(state_->device),
                      "expected use by the process that opened the device, got a forked child of it; fork before the "
                      "first tensor, or start the child with exec");
}

Ticket Executor::submit(Batch batch) {
  check_process();
  State& s = *state_;
  Ticket ticket;
  {
    std::lock_guard lock(s.mutex);
    if (s.stopping) throw DeviceError(to_string(s.device), "expected work before the process ends, got some after");
    s.queue.push_back(std::move(batch));
    ticket = ++s.submitted;
  }
  s.work.notify_one();
  return ticket;
}

Ticket Executor::submitted() const {
  check_process();
  std::lock_guard lock(state_->mutex);
  return state_->submitted;
}

Ticket Executor::completed() const {
  check_process();
  return state_->completed.load(std::memory_order_acquire);
}

void Executor::wait(Ticket ticket) {
  check_process();
  State& s = *state_;
  if (s.completed.load(std::memory_order_acquire) >= ticket) return;
  std::unique_lock lock(s.mutex);
  s.progress.wait(lock, [&] { return s.completed.load(std::memory_order_relaxed) >= ticket; });
}

}  // namespace stoker::backends::cpu
