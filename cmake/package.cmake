# What `cmake --install` lays down: library, headers, command, and the files that find_package(Stoker) reads.

include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Stoker)
install(TARGETS stoker EXPORT StokerTargets)
install(DIRECTORY include/stoker DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT StokerTargets NAMESPACE Stoker:: DESTINATION ${package_dir})
if(TARGET stoker_command)
  install(TARGETS stoker_command)
endif()

configure_package_config_file(cmake/StokerConfig.cmake.in StokerConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(StokerConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/StokerConfig.cmake ${PROJECT_BINARY_DIR}/StokerConfigVersion.cmake
        DESTINATION ${package_dir})
