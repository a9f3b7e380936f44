// The real command, run as a person or a script would.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <stdexcept>
#include <string>
#include <vector>

namespace stoker::test {

// A running `stoker`.
class Process {
 public:
  explicit Process(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), STOKER_COMMAND);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    int out[2], err[2];
    if (::pipe2(out, O_CLOEXEC) != 0 || ::pipe2(err, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(out[1], STDOUT_FILENO);
      ::dup2(err[1], STDERR_FILENO);
      ::execv(argv[0], argv.data());
      ::_exit(127);
    }
    ::close(out[1]);
    ::close(err[1]);
    pipes_[0] = out[0];
    pipes_[1] = err[0];
  }
  ~Process() {
    if (!reaped_) {
      signal(SIGKILL);
      wait();
    }
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void signal(int number) { ::kill(pid_, number); }

  // Reads until standard output holds `text`, or the process ends; tells which.
  bool wait_for(const std::string& text) {
    while (output.find(text) == std::string::npos)
      if (!read()) return false;
    return true;
  }

  // Reads everything and waits for the end. The exit code, or 128 and the signal's number.
  int wait() {
    while (read()) continue;
    int status = 0;
    ::waitpid(pid_, &status, 0);
    reaped_ = true;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  std::string output, errors;

 private:
  // Waits for output of either kind; false when both have ended.
  bool read() {
    pollfd polled[2] = {{pipes_[0], POLLIN, 0}, {pipes_[1], POLLIN, 0}};
    if (pipes_[0] < 0 && pipes_[1] < 0) return false;
    ::poll(polled, 2, -1);
    for (int i = 0; i < 2; ++i) {
      if (polled[i].revents == 0) continue;
      char buffer[4096];
      const ssize_t count = ::read(pipes_[i], buffer, sizeof buffer);
      if (count > 0) {
        (i == 0 ? output : errors).append(buffer, size_t(count));
      } else {
        ::close(pipes_[i]);
        pipes_[i] = -1;
      }
    }
    return true;
  }

  pid_t pid_ = -1;
  int pipes_[2] = {-1, -1};
  bool reaped_ = false;
};

struct Finished {
  int code;
  std::string output, errors;
};

inline Finished stoker(std::vector<std::string> arguments) {
  Process process(std::move(arguments));
  const int code = process.wait();
  return {code, process.output, process.errors};
}

}  // namespace stoker::test
