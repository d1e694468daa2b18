# Finds every third party. All come from Debian's packages but oneDNN and ONNX, which scripts/setup puts into WEFT_PREFIX.

if(WEFT_PREFIX)
  set(weft_prefix "${WEFT_PREFIX}")
else()
  set(weft_prefix "${PROJECT_SOURCE_DIR}/build/prefix")
endif()
list(PREPEND CMAKE_PREFIX_PATH "${weft_prefix}")

find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(absl CONFIG REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(re2 REQUIRED IMPORTED_TARGET re2)
if(WEFT_IMAGE_CODECS)
  pkg_check_modules(image_codecs REQUIRED IMPORTED_TARGET libturbojpeg libpng libtiff-4>=4.5 libwebp libopenjp2)
endif()
if(WEFT_BUILD_CLI)
  find_package(nlohmann_json CONFIG REQUIRED)
  find_package(CLI11 CONFIG REQUIRED)
  # Debian's CMake package of libzip also wants its tools; pkg-config does not.
  pkg_check_modules(libzip REQUIRED IMPORTED_TARGET libzip)
endif()

find_package(dnnl 3.2 CONFIG QUIET)
find_package(ONNX 1.23.2 CONFIG QUIET)
if(NOT dnnl_FOUND OR NOT ONNX_FOUND)
  message(FATAL_ERROR "oneDNN 3.2 or ONNX 1.23.2 not found in ${weft_prefix}: run scripts/setup first (WEFT_PREFIX names another place)")
endif()

if(WEFT_DEVELOPER)
  find_package(GTest CONFIG REQUIRED)
  find_package(benchmark CONFIG REQUIRED)
endif()

# The parts of Abseil that the public headers and the sources use.
set(WEFT_ABSL
  absl::core_headers absl::flat_hash_map absl::flat_hash_set absl::function_ref absl::hash absl::inlined_vector absl::span
  absl::status absl::statusor absl::str_format absl::strings absl::synchronization absl::time)
