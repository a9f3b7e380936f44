/// \file
/// The exceptions that Stoker throws. Each message reads `[operation] what was expected, what came, what to do`,
/// followed by the line of the program that asked for it, where one is known.
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace stoker {

/// A line of the user's program.
struct Loc {
  const char* file = nullptr;
  int line = 0;
  static constexpr Loc here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) { return {file, line}; }
  explicit operator bool() const { return file != nullptr; }
};

/// "train.cpp:42", or an empty string for an unknown line.
std::string to_string(Loc loc);

class Error : public std::runtime_error {
 public:
  Error(std::string_view operation, std::string_view message, Loc loc = {});
  /// The operation, function or file reader that refused.
  const std::string& operation() const { return operation_; }
  Loc where() const { return loc_; }

 private:
  std::string operation_;
  Loc loc_;
};

/// Shapes, ranks, axes or indices that an operation cannot take.
struct ShapeError : Error {
  using Error::Error;
};
/// An element type that an operation cannot take.
struct DTypeError : Error {
  using Error::Error;
};
/// Tensors on different devices, an unknown device, or a device that failed.
struct DeviceError : Error {
  using Error::Error;
};
/// An argument or option outside its range.
struct ValueError : Error {
  using Error::Error;
};
/// A call that the state of the graph does not allow: a second backward, a consumed gradient, an updated cell.
struct GraphError : Error {
  using Error::Error;
};
/// Something that this build or device cannot do.
struct Unsupported : Error {
  using Error::Error;
};
/// A file that is not what it says it is.
struct FormatError : Error {
  using Error::Error;
};
/// A file of another version.
struct VersionError : Error {
  using Error::Error;
};
/// The operating system refused to read or write.
struct IoError : Error {
  using Error::Error;
};

/// A device has no memory left for a request. Nothing was changed by the step that met it.
class OutOfMemory : public Error {
 public:
  struct Holder {
    std::string what;
    int64_t bytes;
  };
  OutOfMemory(std::string_view operation, std::string_view message, int64_t requested, int64_t available,
              int64_t largest_block, std::vector<Holder> holders, Loc loc = {});
  int64_t requested() const { return requested_; }
  int64_t available() const { return available_; }
  int64_t largest_block() const { return largest_block_; }
  /// The ten largest holders of memory, largest first.
  const std::vector<Holder>& holders() const { return holders_; }

 private:
  int64_t requested_, available_, largest_block_;
  std::vector<Holder> holders_;
};

/// Gets what the library has to say besides errors, such as plans that keep changing. Without a handler nothing is
/// said: the library never prints on its own. May be called from any thread.
using WarningHandler = std::function<void(const std::string& message)>;
void set_warning_handler(WarningHandler handler);

}  // namespace stoker
