// A fuzzing engine for compilers that bring none: runs every file of the given folders, then mutations of
// them until the time or the number of runs is used up. Its options are libFuzzer's:
//
//   stoker_fuzz_x [-max_total_time=SECONDS] [-runs=N] [-seed=N] [FILE or FOLDER]...
//
// The input being run is kept in <program>.input, which therefore holds the culprit after a crash; give that
// file alone to run it again.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t kLongest = 1 << 16;

Bytes read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

void run(const Bytes& input, const std::string& kept) {
  std::ofstream(kept, std::ios::binary)
      .write(reinterpret_cast<const char*>(input.data()), static_cast<std::streamsize>(input.size()));
  LLVMFuzzerTestOneInput(input.data(), input.size());
}

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t bound) { return random_() % bound; }

  Bytes mutate(Bytes input, const Bytes& other) {
    for (std::size_t left = 1 + below(4); left > 0; --left) change(input, other);
    input.resize(std::min(input.size(), kLongest));
    return input;
  }

 private:
  // The numbers that parsers trip over: zero, all ones, largest and smallest of each width.
  static constexpr std::uint64_t kNumbers[] = {0,      1,          0x7f,       0x80,       0xff,       0x7fff,
                                               0x8000, 0x7fffffff, 0x80000000, 0xffffffff, 1ull << 63, ~0ull};

  void change(Bytes& input, const Bytes& other) {
    const std::size_t at = below(input.size() + 1);
    const std::size_t rest = input.size() - at;
    const auto here = input.begin() + static_cast<std::ptrdiff_t>(at);
    switch (below(6)) {
      case 0:
        if (rest > 0) *here ^= static_cast<std::uint8_t>(1u << below(8));
        break;
      case 1:
        input.insert(here, static_cast<std::uint8_t>(below(256)));
        break;
      case 2:
        input.erase(here, here + static_cast<std::ptrdiff_t>(below(rest + 1)));
        break;
      case 3: {
        const Bytes again(here, here + static_cast<std::ptrdiff_t>(below(std::min<std::size_t>(rest, 64) + 1)));
        input.insert(here, again.begin(), again.end());
        break;
      }
      case 4: {
        std::uint64_t number = kNumbers[below(std::size(kNumbers))];
        const std::size_t width = std::min(rest, std::size_t{1} << below(4));
        const bool big_endian = below(2) == 1;
        for (std::size_t i = 0; i < width; ++i, number >>= 8) {
          input[at + (big_endian ? width - 1 - i : i)] = static_cast<std::uint8_t>(number);
        }
        break;
      }
      default:
        input.resize(at);
        input.insert(input.end(), other.begin() + static_cast<std::ptrdiff_t>(below(other.size() + 1)), other.end());
    }
  }

  std::mt19937_64 random_;
};

}  // namespace

int main(int argc, char** argv) {
  double seconds = 0;
  long runs = -1;
  std::uint64_t seed = 1;
  std::vector<Bytes> corpus;

  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const auto value = [&](std::string_view option) {
      return argument.starts_with(option) ? argv[i] + option.size() : nullptr;
    };
    if (const char* text = value("-max_total_time=")) {
      seconds = std::atof(text);
    } else if (const char* text = value("-runs=")) {
      runs = std::atol(text);
    } else if (const char* text = value("-seed=")) {
      seed = std::strtoull(text, nullptr, 10);
    } else if (fs::is_directory(argument)) {
      std::vector<fs::path> files;
      for (const auto& entry : fs::directory_iterator(argument)) files.push_back(entry.path());
      std::sort(files.begin(), files.end());
      std::transform(files.begin(), files.end(), std::back_inserter(corpus), read);
    } else {
      corpus.push_back(read(argument));
    }
  }

  const std::string kept = fs::path(argv[0]).filename().string() + ".input";
  if (corpus.empty()) corpus.emplace_back();
  for (const Bytes& input : corpus) run(input, kept);

  Mutator mutator(seed);
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  long done = 0;
  const auto more = [&] { return runs >= 0 ? done < runs : std::chrono::steady_clock::now() < end; };
  for (; more(); ++done) {
    const Bytes& start = corpus[mutator.below(corpus.size())];
    run(mutator.mutate(start, corpus[mutator.below(corpus.size())]), kept);
  }
  fs::remove(kept);
  std::printf("%zu files, %ld mutations\n", corpus.size(), done);
}
