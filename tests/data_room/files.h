// Files for tests: recorded ones, temporary ones, and their bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <stoker/tensor.h>

namespace stoker::test {

inline std::filesystem::path recorded(std::string_view name) {
  return std::filesystem::path(STOKER_TESTS_DIR) / "data" / "io" / name;
}

// A folder of its own for one test, gone when it ends.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    path_ = std::filesystem::temp_directory_path() / ("stoker-" + std::to_string(std::random_device()()));
    std::filesystem::create_directories(path_);
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_file(const std::filesystem::path& path, std::string_view content) {
  std::ofstream(path, std::ios::binary).write(content.data(), std::streamsize(content.size()));
}

// The elements as stored, so that NaN and -0 compare.
inline std::string bytes_of(const Tensor& tensor) {
  std::string bytes(size_t(tensor.bytes()), '\0');
  tensor.copy_to_host(bytes.data());
  return bytes;
}

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

template <class T>
std::string little(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

}  // namespace stoker::test
