// Threads inside a kernel. A kernel runs on its device's executor thread, which owns the one team; parallel_for hands
// pieces of a range to that team and runs serially where there is none, or where one thread is enough.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <mutex>
#include <type_traits>

#ifdef STOKER_HAVE_OPENMP
#include <omp.h>
#endif

namespace stoker::backends::cpu {

// Threads that parallel_for on the calling thread may use; 1 inside of a parallel_for.
inline int thread_count() {
#ifdef STOKER_HAVE_OPENMP
  return omp_in_parallel() ? 1 : omp_get_max_threads();
#else
  return 1;
#endif
}

// Sets the size of the calling thread's team for a scope. oneDNN divides the work when a primitive is made, so the
// thread that lowers a step needs the executor's size too.
class ThreadCountScope {
 public:
#ifdef STOKER_HAVE_OPENMP
  explicit ThreadCountScope(int count) : previous_(omp_get_max_threads()) { omp_set_num_threads(count); }
  ~ThreadCountScope() { omp_set_num_threads(previous_); }
#else
  explicit ThreadCountScope(int) {}
#endif
  ThreadCountScope(const ThreadCountScope&) = delete;
  ThreadCountScope& operator=(const ThreadCountScope&) = delete;

 private:
  int previous_ = 1;
};

// Keeps the first exception of a parallel region, which must not leave it by itself.
class FirstError {
 public:
  template <class F>
  void guard(const F& f) noexcept {
    try {
      f();
    } catch (...) {
      std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
    }
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr error_;
};

// The piece-th of `pieces` nearly equal parts of [0, n).
struct Piece {
  int64_t begin, end;
  Piece(int64_t n, int64_t pieces, int64_t piece) {
    const int64_t quotient = n / pieces, rest = n % pieces;
    begin = piece * quotient + std::min(piece, rest);
    end = begin + quotient + (piece < rest ? 1 : 0);
  }
};

// Calls body(begin, end) or body(begin, end, piece) for contiguous pieces that cover [0, n), at most thread_count() of
// them and none, but for the only one, smaller than `grain`. Pieces run at the same time; `piece` counts from 0.
template <class Body>
void parallel_for(int64_t n, int64_t grain, const Body& body) {
  const auto call = [&](Piece part, int piece) {
    if constexpr (std::is_invocable_v<const Body&, int64_t, int64_t, int>)
      body(part.begin, part.end, piece);
    else
      body(part.begin, part.end);
  };
  const int64_t pieces = std::min<int64_t>(thread_count(), n / std::max<int64_t>(grain, 1));
  if (pieces <= 1) {
    if (n > 0) call(Piece(n, 1, 0), 0);
    return;
  }
#ifdef STOKER_HAVE_OPENMP
  FirstError error;
#pragma omp parallel
  for (int64_t piece = omp_get_thread_num(); piece < pieces; piece += omp_get_num_threads())
    error.guard([&] { call(Piece(n, pieces, piece), int(piece)); });
  error.rethrow();
#endif
}

}  // namespace stoker::backends::cpu
