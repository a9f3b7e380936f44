# Language, compiler flags, linker and compiler cache. Flags for Stoker's own code hang on `stoker_flags`.

include(CheckLinkerFlag)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_program(STOKER_CCACHE ccache)
mark_as_advanced(STOKER_CCACHE)
if(STOKER_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Paths relative to the source folder, so that another clone or build folder finds the same objects.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
      ${STOKER_CCACHE})
endif()

set(STOKER_LINKER "the compiler's own")
foreach(linker mold lld)
  check_linker_flag(CXX -fuse-ld=${linker} STOKER_LINKS_WITH_${linker})
  if(STOKER_LINKS_WITH_${linker})
    add_link_options(-fuse-ld=${linker})
    set(STOKER_LINKER ${linker})
    break()
  endif()
endforeach()

# -ffp-contract=off: a multiplication and an addition stay two roundings unless the code asks for one,
# so that results do not depend on what the compiler chose to fuse.
add_library(stoker_flags INTERFACE)
target_compile_options(stoker_flags INTERFACE -Wall -Wextra -Wpedantic -ffp-contract=off)
if(STOKER_WERROR)
  target_compile_options(stoker_flags INTERFACE -Werror)
endif()

if(STOKER_SANITIZE)
  add_compile_options(-fsanitize=${STOKER_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${STOKER_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang AND STOKER_SANITIZE MATCHES address)
    add_compile_options(-fsanitize=fuzzer-no-link)
  endif()
endif()
