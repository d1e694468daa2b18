# weft_library, weft_executable, weft_test: what every target of ours has in common.

# Compiled once for all checkouts: paths below the source folder are relative in ccache's eyes.
find_program(WEFT_CCACHE ccache)
mark_as_advanced(WEFT_CCACHE)
if(WEFT_CCACHE AND PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1 "${WEFT_CCACHE}")
endif()

# Whether a sanitizer's runtime comes with every executable.
string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
string(FIND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type}}" "-fsanitize" at)
if(at EQUAL -1)
  set(WEFT_SANITIZED OFF)
else()
  set(WEFT_SANITIZED ON)
endif()

# The language, the include roots and the flags; every target links it privately or through weft_base.
add_library(weft_options INTERFACE)
target_compile_features(weft_options INTERFACE cxx_std_20)
target_include_directories(weft_options INTERFACE "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
# Without contraction a float expression gives the same bits whatever instruction set its function is compiled for.
target_compile_options(weft_options INTERFACE -ffp-contract=off)
if(WEFT_DEVELOPER)
  # Attribute lists and op records are designated initialisers that leave members to their defaults.
  target_compile_options(weft_options INTERFACE -Wall -Wextra -Werror -Wno-missing-field-initializers)
  # g++ 12 takes the unused inline storage of absl::InlinedVector for uninitialised reads.
  target_compile_options(weft_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()

function(weft_target_defaults name)
  set_target_properties(${name} PROPERTIES
    CXX_EXTENSIONS OFF
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    POSITION_INDEPENDENT_CODE ON
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin"
    LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
endfunction()

# weft_library(NAME [SOURCES file...] [DEPS target...]): a static library; only its dependencies while the folder has no sources.
function(weft_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPS")
  if(arg_SOURCES)
    add_library(${name} STATIC ${arg_SOURCES})
    target_link_libraries(${name} PUBLIC weft_options ${arg_DEPS})
    weft_target_defaults(${name})
    set_property(GLOBAL APPEND PROPERTY weft_objects "$<TARGET_OBJECTS:${name}>")
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE weft_options ${arg_DEPS})
  endif()
endfunction()

# weft_test(NAME SOURCES file... [DEPS target...]): one GoogleTest executable and one ctest entry, since starting a process for each of
# many small cases takes longer than the cases.
function(weft_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPS")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE weft_options ${arg_DEPS} GTest::gmock GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE
    WEFT_SOURCE_DIR="${PROJECT_SOURCE_DIR}" WEFT_MODELS_DIR="${WEFT_MODELS_DIR}" WEFT_BINARY_DIR="${PROJECT_BINARY_DIR}")
  weft_target_defaults(${name})
  add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
  # Reports from inside libgomp and oneDNN, which are not built with ThreadSanitizer, are false.
  set_property(TEST ${name} PROPERTY ENVIRONMENT "TSAN_OPTIONS=ignore_noninstrumented_modules=1")
endfunction()
