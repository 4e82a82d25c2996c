# What leaves the build: one static and one shared library, headers, commands, man page,
# pkg-config file, CMake package. The modules' objects go into both libraries unchanged.

include(CMakePackageConfigHelpers)

set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/lightnet)
install(TARGETS lightnet_shared lightnet_static EXPORT lightnet_targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/lightnet DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h"
  PATTERN "*.hpp")
install(EXPORT lightnet_targets NAMESPACE lightnet:: DESTINATION ${config_dir})
if(LN_COMMAND OR LN_TESTS)
  install(FILES docs/il2json.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()

file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/lightnet-config.cmake @ONLY CONTENT
  "include(\${CMAKE_CURRENT_LIST_DIR}/lightnet_targets.cmake)\n")
write_basic_package_version_file(${PROJECT_BINARY_DIR}/lightnet-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/lightnet-config.cmake
  ${PROJECT_BINARY_DIR}/lightnet-config-version.cmake DESTINATION ${config_dir})

# The pkg-config file finds the prefix from where it is, so the installed tree may move.
file(RELATIVE_PATH LN_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/lightnet.pc.in ${PROJECT_BINARY_DIR}/lightnet.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/lightnet.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# Programs to begin with, and what they read; `pkg-config --variable=examples lightnet` says where.
install(FILES examples/hello.c examples/classify.c examples/detect.c examples/serve.c examples/picture.h
  examples/digits.cc examples/digits.py examples/first_above.c examples/first_above.op examples/spots.net
  examples/README.md models/digits/digits.net models/digits/digits.safetensors models/digits/three.pgm
  DESTINATION ${CMAKE_INSTALL_DATADIR}/lightnet/examples)

# The documentation, which headers and messages name; `pkg-config --variable=docs lightnet` says where. Links to files that
# are in the sources alone become their text.
file(GLOB_RECURSE pages RELATIVE ${PROJECT_SOURCE_DIR}/docs CONFIGURE_DEPENDS docs/*.md docs/*.svg)
foreach(page IN LISTS pages)
  file(READ docs/${page} text)
  if(NOT page MATCHES "/") # from below a folder, `..` is docs itself
    string(REGEX REPLACE "\\[([^]\n]*)\\]\\(\\.\\./[^)\n]*\\)" "\\1" text "${text}")
  endif()
  file(WRITE ${PROJECT_BINARY_DIR}/docs/${page} "${text}")
endforeach()
install(DIRECTORY ${PROJECT_BINARY_DIR}/docs DESTINATION ${CMAKE_INSTALL_DATADIR}/lightnet)
