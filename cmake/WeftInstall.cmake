# `cmake --install`: one tree that runs from wherever it is moved to.
#
#   bin/infer-cli
#   lib/libweft.so, lib/libdnnl.so.3   found relative to each other, the build folder and the prefix of the set-up being gone
#   lib/cmake/weft                     find_package(weft)
#   include/weft
#   share/doc/weft                     our licence, and those of what we ship
include(CMakePackageConfigHelpers)

set_target_properties(weft PROPERTIES INSTALL_RPATH "$ORIGIN")
install(TARGETS weft EXPORT weftTargets LIBRARY DESTINATION lib)
install(DIRECTORY include/weft DESTINATION include FILES_MATCHING PATTERN "*.h")
# Under the name that the loader looks for, which a link to a file with a longer name would only repeat.
install(PROGRAMS "$<TARGET_FILE:DNNL::dnnl>" DESTINATION lib RENAME "$<TARGET_SONAME_FILE_NAME:DNNL::dnnl>")
if(TARGET infer-cli)
  set_target_properties(infer-cli PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
  install(TARGETS infer-cli RUNTIME DESTINATION bin)
endif()

install(EXPORT weftTargets NAMESPACE weft:: DESTINATION lib/cmake/weft)
configure_package_config_file(cmake/weftConfig.cmake.in "${PROJECT_BINARY_DIR}/weftConfig.cmake" INSTALL_DESTINATION lib/cmake/weft
  NO_SET_AND_CHECK_MACRO)
# Before 1.0 a minor version may break what the last one had.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/weftConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/weftConfig.cmake" "${PROJECT_BINARY_DIR}/weftConfigVersion.cmake" DESTINATION lib/cmake/weft)

install(FILES LICENSE docs/third-party.md DESTINATION share/doc/weft)
install(DIRECTORY "${weft_prefix}/share/doc/onednn" "${weft_prefix}/share/doc/onnx" DESTINATION share/doc/weft/third-party OPTIONAL)
# Those whose headers leave code in our binaries; Debian keeps their notices here.
foreach(package libabsl-dev libprotobuf-dev libcli11-dev nlohmann-json3-dev)
  install(FILES "/usr/share/doc/${package}/copyright" DESTINATION share/doc/weft/third-party RENAME "${package}.txt" OPTIONAL)
endforeach()
