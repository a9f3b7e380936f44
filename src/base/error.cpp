#include <stoker/error.h>

#include <fmt/format.h>

namespace stoker {

std::string to_string(Loc loc) { return loc ? fmt::format("{}:{}", loc.file, loc.line) : std::string(); }

namespace {
std::string compose(std::string_view operation, std::string_view message, Loc loc) {
  return loc ? fmt::format("[{}] {} (at {})", operation, message, to_string(loc))
             : fmt::format("[{}] {}", operation, message);
}
}  // namespace

Error::Error(std::string_view operation, std::string_view message, Loc loc)
    : std::runtime_error(compose(operation, message, loc)), operation_(operation), loc_(loc) {}

OutOfMemory::OutOfMemory(std::string_view operation, std::string_view message, int64_t requested, int64_t available,
                         int64_t largest_block, std::vector<Holder> holders, Loc loc)
    : Error(operation, message, loc),
      requested_(requested),
      available_(available),
      largest_block_(largest_block),
      holders_(std::move(holders)) {}

}  // namespace stoker
