# See CMakeLists.txt, which names the variables.
cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(REPLACE ";" " " command "${ARGV}")
  message("$ ${command}\n${output}")
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "exit code ${result}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

set(ENV{LD_LIBRARY_PATH} "")
set(work "${BINARY_DIR}/install_test")
file(REMOVE_RECURSE "${work}")
run("${CMAKE_COMMAND}" --install "${BINARY_DIR}" --prefix "${work}/first")
file(RENAME "${work}/first" "${work}/moved to")  # a path with a space is as good as any
set(tree "${work}/moved to")

foreach(file share/doc/weft/LICENSE share/doc/weft/third-party.md share/doc/weft/third-party/onednn/THIRD-PARTY-PROGRAMS
             share/doc/weft/third-party/onnx/LICENSE)
  if(NOT EXISTS "${tree}/${file}")
    message(FATAL_ERROR "${file} is not installed")
  endif()
endforeach()

# Nothing points to where it came from.
file(GLOB_RECURSE texts "${tree}/lib/cmake/*" "${tree}/include/*")
foreach(file IN LISTS texts)
  file(READ "${file}" text)
  foreach(origin "${BINARY_DIR}" "${SOURCE_DIR}" "${PREFIX}")
    string(FIND "${text}" "${origin}" at)
    if(NOT at EQUAL -1)
      message(FATAL_ERROR "${file} names ${origin}")
    endif()
  endforeach()
endforeach()
foreach(file bin/infer-cli lib/libweft.so)
  run(ldd "${tree}/${file}")
  if(output MATCHES "not found" OR NOT output MATCHES "libdnnl.so.3 => ${tree}")
    message(FATAL_ERROR "${file} does not find its libraries in the tree")
  endif()
endforeach()

run("${tree}/bin/infer-cli" test "${SOURCE_DIR}/models/digits")

# The examples, and a project in C where there is no Abseil.
foreach(project examples tests/install/consumer)
  get_filename_component(name "${project}" NAME)
  run("${CMAKE_COMMAND}" -S "${SOURCE_DIR}/${project}" -B "${work}/${name}" -G "${GENERATOR}"
    "-DCMAKE_PREFIX_PATH=${tree}" "-DCMAKE_BUILD_TYPE=${BUILD_TYPE}"
    "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}" "-DCMAKE_CXX_FLAGS=${CXX_FLAGS}" "-DCMAKE_C_FLAGS=${CXX_FLAGS}")
  run("${CMAKE_COMMAND}" --build "${work}/${name}")
endforeach()
run("${CMAKE_CTEST_COMMAND}" --test-dir "${work}/examples" --output-on-failure)
run("${work}/consumer/consumer" "${SOURCE_DIR}/models/digits/model.onnx")
