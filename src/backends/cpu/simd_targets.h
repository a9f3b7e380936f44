// Included before Highway: the instruction sets that vector code is compiled for. On x86 these are AVX-512, AVX2 and a
// portable one; what lies between would only lengthen the build.
#pragma once

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
