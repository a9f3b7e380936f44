// A small data set in MNIST's layout: one bright quadrant for each of four classes, and noise.
#pragma once

#include <filesystem>
#include <string>

#include "data_room/files.h"

namespace stoker::test {

inline constexpr int kDigitExtent = 8, kTrainDigits = 400, kTestDigits = 200;

class Digits {
 public:
  Digits() {
    write("train", kTrainDigits, 1);
    write("t10k", kTestDigits, 2);
  }
  std::string path() const { return folder_.path().string(); }

 private:
  void write(const std::string& split, uint32_t count, unsigned seed) const {
    std::mt19937 random(seed);
    std::string images, labels;
    for (uint32_t i = 0; i < count; ++i) {
      const unsigned label = random() % 4;
      labels += char(label);
      for (int y = 0; y < kDigitExtent; ++y)
        for (int x = 0; x < kDigitExtent; ++x) {
          const bool bright = unsigned(y * 2 / kDigitExtent * 2 + x * 2 / kDigitExtent) == label;
          images += char(random() % 160 + (bright ? 60 : 0));
        }
    }
    const uint32_t extent = kDigitExtent;
    write_file(folder_ / (split + "-images-idx3-ubyte"), header({count, extent, extent}) + images);
    write_file(folder_ / (split + "-labels-idx1-ubyte"), header({count}) + labels);
  }

  static std::string header(const std::vector<uint32_t>& extents) {
    std::string text{'\0', '\0', '\x08', char(extents.size())};
    for (uint32_t extent : extents) text += little(__builtin_bswap32(extent));
    return text;
  }

  TemporaryFolder folder_;
};

}  // namespace stoker::test
