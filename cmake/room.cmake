# A room is a folder under src/, and one CMake target that links only the rooms below it.
#
#   stoker_room(<folder> [FOLDERS <subfolder>...] [DEPENDS <room>...] [LINKS <library>...]
#               [DEFINES <definition>...] [OPTIONS <compiler option>...])
#
# FOLDERS   subfolders whose .cpp files belong to the room too; every other subfolder is ignored
# DEPENDS   rooms directly below; what those depend on comes with them
# LINKS     libraries from outside; they reach the rooms above as well
# DEFINES   preprocessor definitions; they reach the rooms above as well
# OPTIONS   compiler options for this room's own files
#
# The target is stoker_<folder>, with / as _. scripts/check_arrows.py reads DEPENDS from these calls and
# holds the room's #include lines to it. A room of headers alone is an INTERFACE library.
function(stoker_room folder)
  cmake_parse_arguments(PARSE_ARGV 1 room "" "" "FOLDERS;DEPENDS;LINKS;DEFINES;OPTIONS")
  string(REPLACE / _ target stoker_${folder})

  set(patterns *.cpp)
  foreach(subfolder IN LISTS room_FOLDERS)
    list(APPEND patterns ${subfolder}/*.cpp)
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS ${patterns})

  if(sources)
    set(scope PUBLIC)
    add_library(${target} OBJECT ${sources})
    target_link_libraries(${target} PRIVATE stoker_flags)
    target_compile_options(${target} PRIVATE ${room_OPTIONS})
  else()
    set(scope INTERFACE)
    add_library(${target} INTERFACE)
  endif()
  target_include_directories(${target} ${scope} ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(${target} ${scope} ${room_DEFINES})
  target_link_libraries(${target} ${scope} ${room_LINKS})

  foreach(below IN LISTS room_DEPENDS)
    string(REPLACE / _ below_target stoker_${below})
    if(NOT TARGET ${below_target})
      message(FATAL_ERROR "Room ${folder} depends on ${below}, which does not stand below it in src/CMakeLists.txt")
    endif()
    target_link_libraries(${target} ${scope} ${below_target})
  endforeach()
endfunction()
