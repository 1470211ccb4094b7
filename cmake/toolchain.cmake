# Compiler, sanitizers, linker and cache: everything that holds for all of the code.

set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
# The same for libraries and programs, so that they share one precompiled header.
add_compile_options(-fPIE)
add_link_options(-pie)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang" OR CMAKE_CXX_COMPILER_VERSION VERSION_LESS 19)
  message(FATAL_ERROR "Sluice is built with clang 19 or later (GCC 12 miscompiles coroutines). Use ./dev build.")
endif()

set(SLUICE_SANITIZE "" CACHE STRING "Sanitizers to build with, as -fsanitize= takes them")

option(SLUICE_FUZZ "Watch which code runs, so that tests/fuzz can be built" OFF)
# What -fsanitize=fuzzer-no-link does, as an option that code with and without it can share a precompiled header.
set(SLUICE_COVERAGE -fsanitize-coverage=inline-8bit-counters,indirect-calls,trace-cmp,pc-table)

find_program(CCACHE ccache)
if(CCACHE)
  # A precompiled header carries no time stamp, is known by the sum of what it includes (tools/compile_pch), and is named
  # in a way that ccache understands: so ccache serves the files that use it, also in another clone.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 CCACHE_PCH_EXTSUM=1
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE})
  set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -include-pch <PCH_FILE>)
  add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
endif()

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wimplicit-fallthrough -Wswitch-enum
                    -Wunused -Werror -fno-omit-frame-pointer -ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)
add_link_options(-fuse-ld=lld-19)
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1")
# Light optimization: the sanitized tests do real work, and -O0 coroutines are several times slower.
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g1")

if(SLUICE_SANITIZE)
  add_compile_options(-fsanitize=${SLUICE_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${SLUICE_SANITIZE})
endif()
