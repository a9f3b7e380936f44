// The caching allocator: reuse, statistics, limits, and the error when there is no more.
#include <gtest/gtest.h>

#include <stoker/stoker.h>

#include "runtime/buffer.h"

namespace stoker::runtime {
namespace {

TEST(Allocator, ReusesReturnedBlocks) {
  Allocator& a = allocator(cpu());
  a.trim();
  const void* first = a.allocate(10000, {"test", {}})->address().base;
  const int64_t reserved = a.stats().reserved;
  EXPECT_EQ(a.allocate(9999, {"test", {}})->address().base, first);
  EXPECT_EQ(a.stats().reserved, reserved);
}

TEST(Allocator, CountsWhatIsOut) {
  Allocator& a = allocator(cpu());
  const int64_t before = a.stats().in_use;
  {
    const Ref<Buffer> x = a.allocate(1000, {"x", {}});
    EXPECT_EQ(a.stats().in_use - before, Allocator::rounded(1000));
  }
  EXPECT_EQ(a.stats().in_use, before);
}

TEST(Allocator, LimitGivesAnErrorThatNamesTheLargestHolders) {
  Allocator& a = allocator(cpu());
  a.trim();
  const Ref<Buffer> big = a.allocate(int64_t(1) << 20, {"the big one", {}});
  a.set_limit(a.stats().reserved + 4096);
  try {
    (void)a.allocate(int64_t(1) << 20, {"one more", {}});
    a.set_limit(0);
    FAIL();
  } catch (const OutOfMemory& e) {
    a.set_limit(0);
    EXPECT_EQ(e.requested(), int64_t(1) << 20);
    ASSERT_FALSE(e.holders().empty());
    EXPECT_EQ(e.holders()[0].what, "the big one");
    EXPECT_NE(std::string(e.what()).find("the big one"), std::string::npos) << e.what();
  }
  EXPECT_NO_THROW((void)a.allocate(int64_t(1) << 20, {"one more", {}}));
}

TEST(Allocator, GivesUpKeptBlocksBeforeItFails) {
  Allocator& a = allocator(cpu());
  a.trim();
  { const Ref<Buffer> kept = a.allocate(1 << 20, {"kept", {}}); }
  a.set_limit(a.stats().reserved + 4096);
  EXPECT_NO_THROW((void)a.allocate(600 * 1024, {"smaller", {}}))
      << "the kept block is too large to reuse, but can be returned";
  a.set_limit(0);
}

TEST(Allocator, AbsurdRequestsAreAnErrorNotACrash) {
  EXPECT_THROW((void)allocator(cpu()).allocate(int64_t(1) << 60, {"absurd", {}}), OutOfMemory);
  EXPECT_THROW((void)zeros({int64_t(1) << 40, 1024}).to_vector<float>(), Error);
  EXPECT_THROW((void)zeros({int64_t(1) << 62, int64_t(1) << 62}), ShapeError);
}

TEST(MemoryLimit, RefusesNegativeBytes) { EXPECT_THROW(set_memory_limit(cpu(), -1), ValueError); }

}  // namespace
}  // namespace stoker::runtime
