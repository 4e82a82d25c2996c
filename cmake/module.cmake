# ln_module(NAME DEPS ... [FAST ...] [APART REGEX]): one folder of sources, one target, its dependencies
# in words. Sources whose path matches REGEX become ln_NAME_apart, which the library does not have.
#
# Sources are found by name: x.c belongs to the module, x_test.c becomes the test <module>.x,
# x_fuzz.c a fuzz target, x_bench.c a benchmark. Each target is linked only with the module's own
# dependencies, so a wrong edge does not link.

add_library(ln_flags INTERFACE)
target_include_directories(ln_flags INTERFACE
  ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src ${PROJECT_BINARY_DIR}/generated)
target_compile_definitions(ln_flags INTERFACE _POSIX_C_SOURCE=200809L)
target_link_libraries(ln_flags INTERFACE m)
target_compile_options(ln_flags INTERFACE
  -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wundef -Wvla -Wcast-qual
  -Wconversion -Wno-sign-conversion
  -ffp-contract=off -fno-math-errno
  # Functions and data apart, so that the linker drops the unused ones.
  $<$<CONFIG:Release>:-ffunction-sections>
  $<$<CONFIG:Release>:-fdata-sections>)
if(LN_WERROR)
  target_compile_options(ln_flags INTERFACE -Werror)
endif()
if(LN_SANITIZE)
  # Reports need functions and lines, and -g1 writes those alone.
  target_compile_options(ln_flags INTERFACE
    -fsanitize=${LN_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all -g1)
  target_link_options(ln_flags INTERFACE -fsanitize=${LN_SANITIZE})
  # Programs at fixed addresses: what sanitizers note of each place in the code are millions of bytes
  # of pointers, which would be relocated whenever a program starts, and tests start thousands.
  target_link_options(ln_flags INTERFACE
    $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
endif()

# Every module in the library, in the order of their definition.
set_property(GLOBAL PROPERTY LN_MODULES "")

function(ln_module name)
  cmake_parse_arguments(ARG "" "APART" "DEPS;GENERATED;FAST" ${ARGN})
  set(onnx onnx/) # a part of the module, unless it is one of its own
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/onnx/CMakeLists.txt)
    set(onnx "")
  endif()
  file(GLOB sources CONFIGURE_DEPENDS *.c ${onnx}*.c)
  list(FILTER sources EXCLUDE REGEX "_(test|fuzz|bench|main)\\.c$")
  set(apart "")
  if(ARG_APART)
    set(apart ${sources})
    list(FILTER apart INCLUDE REGEX "${ARG_APART}")
    list(REMOVE_ITEM sources ${apart})
  endif()
  add_library(ln_${name} STATIC ${sources} ${ARG_GENERATED})
  target_link_libraries(ln_${name} PUBLIC ln_flags)
  target_compile_definitions(ln_${name} PRIVATE LN_CHECK_STATUS)
  set(test_library ln_${name})
  if(apart)
    set(test_library ln_${name}_apart)
    add_library(${test_library} STATIC ${apart})
    target_link_libraries(${test_library} PUBLIC ln_${name})
  endif()
  # What runs once for a model is small rather than fast; kernels are a library of their own. FAST
  # are sources with loops that gain from more.
  target_compile_options(ln_${name} PRIVATE $<$<CONFIG:Release>:-Oz>)
  set_source_files_properties(${ARG_FAST} PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release>:-O2>)
  foreach(dep IN LISTS ARG_DEPS)
    target_link_libraries(ln_${name} PUBLIC ln_${dep})
  endforeach()
  set_property(GLOBAL APPEND PROPERTY LN_MODULES ln_${name})

  if(LN_TESTS)
    file(GLOB tests CONFIGURE_DEPENDS *_test.c ${onnx}*_test.c)
    foreach(source IN LISTS tests)
      get_filename_component(stem ${source} NAME_WE)
      string(REGEX REPLACE "_test$" "" stem ${stem})
      ln_test(${name}.${stem} SOURCES ${source} LIBS ${test_library})
    endforeach()
    file(GLOB benches CONFIGURE_DEPENDS *_bench.c)
    foreach(source IN LISTS benches)
      ln_bench(${source} LIBS ln_${name})
    endforeach()
  endif()
  if(LN_HAS_FUZZ)
    file(GLOB targets CONFIGURE_DEPENDS *_fuzz.c)
    foreach(source IN LISTS targets)
      get_filename_component(stem ${source} NAME_WE)
      ln_fuzz(${stem} SOURCES ${source} LIBS ${test_library})
    endforeach()
  endif()
endfunction()

# Tests are three hundred programs, each linked with the whole library: gold takes half of the time.
include(CheckLinkerFlag)
check_linker_flag(C "-fuse-ld=gold" LN_HAS_GOLD)

# ln_test(NAME SOURCES ... LIBS ... [ARGS ...]): a cmocka program under CTest, tier "fast".
function(ln_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS;ARGS" ${ARGN})
  string(REPLACE "." "_" target "test_${name}")
  add_executable(${target} ${ARG_SOURCES})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${target} PRIVATE
    LN_SOURCE_DIR="${PROJECT_SOURCE_DIR}" LN_BUILD_DIR="${PROJECT_BINARY_DIR}")
  target_link_libraries(${target} PRIVATE ${ARG_LIBS} cmocka m pthread)
  if(LN_HAS_GOLD)
    target_link_options(${target} PRIVATE -fuse-ld=gold)
  endif()
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  add_test(NAME ${name} COMMAND ${target} ${ARG_ARGS})
  ln_tier(fast ${name})
endfunction()

# ln_tier(fast|full NAME...): when tests run, and how long they may. A test's labels are its tier, and
# its group: its name up to the first point.
function(ln_tier tier)
  set(timeout 300)
  if(tier STREQUAL full)
    set(timeout 1800)
  endif()
  foreach(name IN LISTS ARGN)
    string(FIND ${name} . point)
    string(SUBSTRING ${name} 0 ${point} group)
    set_tests_properties(${name} PROPERTIES LABELS "${tier};${group}" TIMEOUT ${timeout})
  endforeach()
endfunction()

# ln_label(LABEL NAME...): one label more, for those of the tests that this build has. What the labels
# mean, tools/test.sh says, which leaves tests out by them.
function(ln_label label)
  foreach(name IN LISTS ARGN)
    if(TEST ${name})
      set_property(TEST ${name} APPEND PROPERTY LABELS ${label})
    endif()
  endforeach()
endfunction()

# ln_thread_tests(NAME...): tests in which threads meet: those that the thread sanitizer is for, and the
# target `thread_tests`.
add_custom_target(thread_tests)
function(ln_thread_tests)
  foreach(name IN LISTS ARGN)
    ln_label(threads ${name})
    string(REPLACE "." "_" target "test_${name}")
    add_dependencies(thread_tests ${target})
  endforeach()
endfunction()

# ln_bench(SOURCE LIBS ...): a benchmark program in <build>/bench; tools/bench.sh runs them all. All of
# them: the target `benches`.
add_custom_target(benches)
function(ln_bench source)
  cmake_parse_arguments(ARG "" "" "LIBS" ${ARGN})
  get_filename_component(stem ${source} NAME_WE)
  add_executable(${stem} ${source})
  add_dependencies(benches ${stem})
  target_include_directories(${stem} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${stem} PRIVATE ${ARG_LIBS} m pthread)
  set_target_properties(${stem} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
endfunction()

# ln_fuzz(NAME SOURCES ... LIBS ...): a fuzz target NAME, x_fuzz; seeds are in tests/fuzz/x/. A libFuzzer
# program with LN_FUZZ; in another build with the address sanitizer a test, which runs the seeds and
# changes of them for some seconds. All of them: the target `fuzz_targets`.
add_custom_target(fuzz_targets)
function(ln_fuzz name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  add_dependencies(fuzz_targets ${name})
  if(LN_FUZZ)
    target_compile_options(${name} PRIVATE -fsanitize=fuzzer)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  else()
    string(REPLACE "_fuzz" "" stem ${name})
    target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/fuzz/without_libfuzzer.c)
    add_test(NAME fuzz.${stem} COMMAND ${name} ${PROJECT_SOURCE_DIR}/tests/fuzz/${stem} 3)
    ln_tier(fast fuzz.${stem})
    # The sanitizer of undefined behaviour tells its end by a signal, so that the input is printed.
    set_tests_properties(fuzz.${stem} PROPERTIES ENVIRONMENT
      "ASAN_OPTIONS=detect_leaks=1:hard_rss_limit_mb=2048;UBSAN_OPTIONS=abort_on_error=1:print_stacktrace=1")
  endif()
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_LIBS} m pthread)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
endfunction()
