# Everything that a person may choose at configure time.

option(STOKER_ONEDNN "Use oneDNN when it is found" ON)
option(STOKER_OPENMP "Use OpenMP when it is found" ON)
option(STOKER_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(STOKER_BENCH "Build the benchmarks when Google Benchmark is found" ${PROJECT_IS_TOP_LEVEL})
option(STOKER_EXAMPLES "Build the examples" ${PROJECT_IS_TOP_LEVEL})
option(STOKER_WERROR "Treat warnings as errors" OFF)
set(STOKER_SANITIZE "" CACHE STRING "Sanitizers to build with, as in address,undefined")
set(STOKER_FUZZ_SECONDS 5 CACHE STRING "How long each fuzz test mutates its inputs")
set(STOKER_ROOMS "" CACHE STRING "Build a library of these rooms alone, lowest first (default: all)")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
