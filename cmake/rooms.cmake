# One library per room: all .cpp files of src/ROOM and its folders, and ROOM_test from its *_test.cpp files.
#
#   sluice_room(http ROOMS base runtime PRIVATE OpenSSL::SSL)
#
# ROOMS are the rooms whose headers it may include (tools/check_rooms.py holds the table against the includes);
# PRIVATE are the third-party clients that only this room sees. THREADS means that its tests share objects between
# threads, so they also run under TSan. FUZZED adds coverage for fuzz targets.

# The tests that `./dev test` builds in the tsan preset.
add_custom_target(thread_tests)

add_library(sluice_pch STATIC ${CMAKE_SOURCE_DIR}/cmake/pch.cpp)
target_link_libraries(sluice_pch PUBLIC sluice_asio fmt::fmt)
target_include_directories(sluice_pch PUBLIC ${CMAKE_SOURCE_DIR}/src)
target_precompile_headers(sluice_pch PRIVATE ${CMAKE_SOURCE_DIR}/cmake/pch.h)
# Without ccache: a precompiled header from another clone would look for that clone's files.
set_target_properties(sluice_pch PROPERTIES CXX_COMPILER_LAUNCHER ${CMAKE_SOURCE_DIR}/tools/compile_pch)

# Tests have a precompiled header of their own, with GoogleTest in it, and are not optimized in the debug presets: the code
# they try is, and theirs takes a third of the time to compile that way.
add_library(sluice_test_pch STATIC ${CMAKE_SOURCE_DIR}/cmake/pch.cpp)
target_link_libraries(sluice_test_pch PUBLIC sluice_asio fmt::fmt GTest::gtest_main GTest::gmock)
target_include_directories(sluice_test_pch PUBLIC ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR})
target_compile_options(sluice_test_pch PUBLIC $<$<CONFIG:Debug>:-O0>)
target_precompile_headers(sluice_test_pch PRIVATE ${CMAKE_SOURCE_DIR}/cmake/test_pch.h)
set_target_properties(sluice_test_pch PROPERTIES CXX_COMPILER_LAUNCHER ${CMAKE_SOURCE_DIR}/tools/compile_pch)

function(sluice_room name)
  cmake_parse_arguments(ROOM "THREADS;FUZZED" "" "ROOMS;PRIVATE" ${ARGN})
  string(REPLACE "/" "_" id ${name})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.cpp)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$|/main\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(TRANSFORM ROOM_ROOMS REPLACE "/" "_" OUTPUT_VARIABLE rooms)
  list(TRANSFORM rooms PREPEND "sluice_")

  if(IS_DIRECTORY ${CMAKE_SOURCE_DIR}/src/${name}/migrations)
    sluice_migrations(${name} migrations)
    list(APPEND sources ${migrations})
  endif()
  if(sources)
    add_library(sluice_${id} STATIC ${sources})
    target_link_libraries(sluice_${id} PUBLIC sluice_asio fmt::fmt ${rooms} PRIVATE ${ROOM_PRIVATE})
    target_include_directories(sluice_${id} PUBLIC ${CMAKE_SOURCE_DIR}/src)
    target_precompile_headers(sluice_${id} REUSE_FROM sluice_pch)
    if(SLUICE_FUZZ AND ROOM_FUZZED)
      target_compile_options(sluice_${id} PRIVATE ${SLUICE_COVERAGE})
    endif()
  else()
    add_library(sluice_${id} INTERFACE)
    target_link_libraries(sluice_${id} INTERFACE sluice_asio fmt::fmt ${rooms})
    target_include_directories(sluice_${id} INTERFACE ${CMAKE_SOURCE_DIR}/src)
  endif()

  if(tests)
    set(threads)
    if(ROOM_THREADS)
      set(threads THREADS)
    endif()
    sluice_test(${id}_test SOURCES ${tests} ROOMS ${name} PRIVATE ${ROOM_PRIVATE} ${threads})
  endif()
endfunction()

# A test program, run by ctest under its own name.
#
#   sluice_test(sql_contract SOURCES a.cpp b.cpp ROOMS adapters/sqlite [PRIVATE libs] [LABELS contract] [TIMEOUT 300]
#               [THREADS])
function(sluice_test name)
  cmake_parse_arguments(TEST "THREADS" "TIMEOUT" "SOURCES;ROOMS;PRIVATE;LABELS" ${ARGN})
  list(TRANSFORM TEST_ROOMS REPLACE "/" "_" OUTPUT_VARIABLE rooms)
  list(TRANSFORM rooms PREPEND "sluice_")
  add_executable(${name} ${TEST_SOURCES})
  target_link_libraries(${name} PRIVATE ${rooms} ${TEST_PRIVATE} sluice_test_pch)
  target_precompile_headers(${name} REUSE_FROM sluice_test_pch)
  add_test(NAME ${name} COMMAND ${name})
  if(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 300)  # only a test that hangs takes so long
  endif()
  if(NOT TEST_LABELS)
    set(TEST_LABELS unit)
  endif()
  if(TEST_THREADS)
    list(APPEND TEST_LABELS threads)
    add_dependencies(thread_tests ${name})
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${TEST_LABELS}" TIMEOUT ${TEST_TIMEOUT}
    ENVIRONMENT "SLUICE_BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY};SLUICE_SOURCE=${CMAKE_SOURCE_DIR}")
endfunction()

# Every header of src/ once by itself, without the precompiled header: `ninja headers` proves that each compiles alone.
function(sluice_lone_headers)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/src/*.h)
  set(sources)
  foreach(header IN LISTS headers)
    set(source ${CMAKE_BINARY_DIR}/headers/${header}.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "#include \"${header}\"\n")
    list(APPEND sources ${source})
  endforeach()
  add_library(headers OBJECT EXCLUDE_FROM_ALL ${sources})
  target_link_libraries(headers PRIVATE sluice_asio fmt::fmt)
  target_include_directories(headers PRIVATE ${CMAKE_SOURCE_DIR}/src)
endfunction()
