# ln_compat(NAME SYSTEM): the C API of SYSTEM over ours, in src/compat/NAME.
#
# It becomes a shared library of its own, lightnet-NAME, that is linked with the shared library of
# LightNet, so it can use the public API only. Its headers are below `include/` and are installed
# beside ours; what they mark is exported. Deleting the folder leaves the rest as it is.
function(ln_compat name LN_PC_SYSTEM)
  file(GLOB sources CONFIGURE_DEPENDS *.c)
  set(target lightnet_${name})
  add_library(${target} SHARED ${sources})
  add_library(lightnet::${name} ALIAS ${target}) # the name that find_package gives
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME lightnet-${name}
    EXPORT_NAME ${name}
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}
    INSTALL_RPATH "\$ORIGIN" # so that a program may open it by its path
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${target} PRIVATE ln_flags lightnet_shared)

  install(TARGETS ${target} EXPORT lightnet_targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
  file(RELATIVE_PATH LN_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  set(LN_PC_NAME lightnet-${name})
  configure_file(${PROJECT_SOURCE_DIR}/cmake/compat.pc.in
    ${PROJECT_BINARY_DIR}/${LN_PC_NAME}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${LN_PC_NAME}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
