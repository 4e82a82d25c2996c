# The two libraries, made of the objects of all modules.

get_property(modules GLOBAL PROPERTY LN_MODULES)
set(objects "")
foreach(module IN LISTS modules)
  list(APPEND objects $<TARGET_OBJECTS:${module}>)
endforeach()

function(ln_library target type)
  add_library(${target} ${type} ${objects})
  add_library(lightnet::${target} ALIAS ${target})
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME lightnet
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}
    LINKER_LANGUAGE C
    ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  target_include_directories(${target} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${target} PUBLIC m pthread ${CMAKE_DL_LIBS})
  if(LN_SANITIZE)
    target_link_options(${target} PUBLIC -fsanitize=${LN_SANITIZE})
  endif()
endfunction()

# A name that nothing defines is an error of the build, not of the program that loads the library.
# Sanitizers leave theirs to the program.
include(CheckLinkerFlag)
check_linker_flag(C "-Wl,--no-undefined" LN_HAS_NO_UNDEFINED)
function(ln_no_undefined target)
  if(LN_HAS_NO_UNDEFINED AND NOT LN_SANITIZE)
    target_link_options(${target} PRIVATE "-Wl,--no-undefined")
  endif()
endfunction()

ln_library(lightnet_shared SHARED)
add_library(lightnet::lightnet ALIAS lightnet_shared) # the name that find_package gives
ln_no_undefined(lightnet_shared)
# Tables of descriptions are mostly pointers; their relocations in one bit each instead of 24 bytes.
check_linker_flag(C "-Wl,-z,pack-relative-relocs" LN_HAS_PACKED_RELOCATIONS)
if(LN_HAS_PACKED_RELOCATIONS)
  target_link_options(lightnet_shared PRIVATE "-Wl,-z,pack-relative-relocs")
endif()
# Calls and addresses inside of the library are bound when it is linked, not by name when it is
# loaded; functions that nobody calls are left out.
# The map is what tools/size.sh reads.
foreach(flag -Wl,-Bsymbolic-functions -Wl,--gc-sections -Wl,-O1 -Wl,-Map=${PROJECT_BINARY_DIR}/liblightnet.map)
  string(MAKE_C_IDENTIFIER "LN_HAS${flag}" has_flag)
  check_linker_flag(C "${flag}" ${has_flag})
  if(${has_flag})
    target_link_options(lightnet_shared PRIVATE "${flag}")
  endif()
endforeach()
set_target_properties(lightnet_shared PROPERTIES EXPORT_NAME lightnet)
ln_library(lightnet_static STATIC)
set_target_properties(lightnet_static PROPERTIES EXPORT_NAME lightnet_static)
