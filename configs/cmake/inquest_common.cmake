# Shared by the top level and by spank/, epilog/ and analyzer/ when one of them is configured alone.
# Gives: the source root, language standards, warnings, sanitizers, install paths, and inquest_part().
include_guard(GLOBAL)
include(GNUInstallDirs)

get_filename_component(INQUEST_ROOT "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()

find_program(INQUEST_CCACHE ccache)
if(INQUEST_CCACHE)
  # Paths below the root are hashed as relative ones, so that build directories and clones share the cache.
  set(INQUEST_LAUNCHER "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${INQUEST_ROOT}" CCACHE_NOHASHDIR=1 "${INQUEST_CCACHE}")
  set(CMAKE_C_COMPILER_LAUNCHER ${INQUEST_LAUNCHER})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${INQUEST_LAUNCHER})
endif()

option(INQUEST_WARNINGS_AS_ERRORS "Treat compiler warnings as errors" ON)
set(INQUEST_SANITIZE "" CACHE STRING "Value for -fsanitize=, empty for none")

add_compile_options(-Wall -Wextra -Wshadow -Wcast-qual -Wformat=2 -Wundef -Wvla -fstack-protector-strong)
if(INQUEST_WARNINGS_AS_ERRORS)
  add_compile_options(-Werror)
endif()
if(INQUEST_SANITIZE)
  add_compile_options(-fsanitize=${INQUEST_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${INQUEST_SANITIZE})
else()
  add_compile_definitions($<$<CONFIG:Release,RelWithDebInfo>:_FORTIFY_SOURCE=2>)
  add_link_options(-Wl,-z,relro,-z,now)
endif()

# Where things live once installed; compiled into programs through inquest_paths.h.
set(INQUEST_PRIVATE_LIBDIR "${CMAKE_INSTALL_FULL_LIBDIR}/inquest")
set(INQUEST_PRIVATE_LIBEXECDIR "${CMAKE_INSTALL_FULL_LIBEXECDIR}/inquest")
set(INQUEST_PRIVATE_DATADIR "${CMAKE_INSTALL_FULL_DATADIR}/inquest")
configure_file("${CMAKE_CURRENT_LIST_DIR}/inquest_paths.h.in" "${CMAKE_BINARY_DIR}/generated/inquest_paths.h")
include_directories("${INQUEST_ROOT}" "${CMAKE_BINARY_DIR}/generated")

# inquest_part(name SOURCES... [LIBS ...]): one static library per part of the code, target inquest_<name>.
function(inquest_part name)
  cmake_parse_arguments(PART "" "" "SOURCES;LIBS" ${ARGN})
  add_library(inquest_${name} STATIC ${PART_SOURCES})
  target_link_libraries(inquest_${name} PUBLIC ${PART_LIBS})
endfunction()

# inquest_unit_test(name SOURCES... [LIBS ...]): one Catch2 program, registered with ctest under its name.
# Catch2 2 (Debian 12) and 3 (Debian 13) differ in header and main; tests include "tests/unit/catch.h".
function(inquest_unit_test name)
  cmake_parse_arguments(UNIT "" "" "SOURCES;LIBS" ${ARGN})
  add_executable(${name} ${UNIT_SOURCES})
  target_link_libraries(${name} PRIVATE inquest_catch ${UNIT_LIBS})
  # Half of a first build is Catch2's headers; no test runs long enough to be worth more.
  target_compile_options(${name} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O1;-g1>)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 120 LABELS unit)
endfunction()
