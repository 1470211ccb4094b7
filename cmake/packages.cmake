# Third-party libraries, each from Debian's packages. A room links what it needs privately.

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(Boost 1.81 REQUIRED)
find_package(OpenSSL 3 REQUIRED)
find_package(EXPAT REQUIRED)
find_package(LibXml2 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PostgreSQL REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(fmt REQUIRED)
find_package(simdjson REQUIRED)
find_package(CLI11 REQUIRED)
find_package(GTest REQUIRED)
find_package(benchmark REQUIRED)
pkg_check_modules(tomlplusplus REQUIRED IMPORTED_TARGET tomlplusplus)
pkg_check_modules(hiredis REQUIRED IMPORTED_TARGET hiredis)
pkg_check_modules(rdkafka REQUIRED IMPORTED_TARGET rdkafka)
pkg_check_modules(libsodium REQUIRED IMPORTED_TARGET libsodium)
pkg_check_modules(libidn2 REQUIRED IMPORTED_TARGET libidn2)
pkg_check_modules(libxxhash REQUIRED IMPORTED_TARGET libxxhash)

# Asio and Beast's parser are compiled once (cmake/asio.cpp, cmake/beast.cpp), not in every file that uses them.
add_library(sluice_asio STATIC ${CMAKE_SOURCE_DIR}/cmake/asio.cpp ${CMAKE_SOURCE_DIR}/cmake/beast.cpp)
target_link_libraries(sluice_asio PUBLIC Boost::headers Threads::Threads OpenSSL::SSL)
target_compile_definitions(sluice_asio PUBLIC
  BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION BOOST_ASIO_NO_DEPRECATED
  BOOST_ALLOW_DEPRECATED_HEADERS)
if(SLUICE_FUZZ)  # Beast's parser meets bytes from outside
  target_compile_options(sluice_asio PRIVATE ${SLUICE_COVERAGE})
endif()
