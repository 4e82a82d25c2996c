# ln_generate_ops(ARCH OUT_VAR FILES ... [BASES ...] [MTYPE ...]): C from operator descriptions.
#
# All .op files together become <build>/generated/op/ARCH.c, which defines `ln_op_rows
# ln_ops_ARCH`, and a header with the prototypes of all functions that they name, which sources
# include as "arch/ARCH/functions.h", or "op/functions.h" for arch `none`. OUT_VAR receives the path
# of the first, to be given to ln_module(... GENERATED). BASES are files whose descriptions may be
# inherited from; those of arch `none` in them are what the operators of other archs are variants
# of. MTYPE is the memory that the arch works on, LN_MEM_CPU if it is not said. Paths are relative to
# the current source folder.
function(ln_generate_ops arch out_var)
  cmake_parse_arguments(ARG "" "MTYPE" "FILES;BASES" ${ARGN})
  set(header ${PROJECT_BINARY_DIR}/generated/arch/${arch}/functions.h)
  if(arch STREQUAL "none")
    set(header ${PROJECT_BINARY_DIR}/generated/op/functions.h)
  endif()
  get_filename_component(header_folder ${header} DIRECTORY)
  file(MAKE_DIRECTORY ${header_folder})
  set(mtype_args "")
  if(ARG_MTYPE)
    set(mtype_args --mtype ${ARG_MTYPE})
  endif()
  set(folder ${PROJECT_BINARY_DIR}/generated/op)
  set(output ${folder}/${arch}.c)
  file(MAKE_DIRECTORY ${folder})
  set(base_args "")
  set(paths "")
  foreach(base IN LISTS ARG_BASES)
    get_filename_component(path ${base} ABSOLUTE)
    list(APPEND base_args --base ${path})
    list(APPEND paths ${path})
  endforeach()
  set(files "")
  foreach(file IN LISTS ARG_FILES)
    get_filename_component(path ${file} ABSOLUTE)
    list(APPEND files ${path})
  endforeach()
  add_custom_command(
    OUTPUT ${output}
    BYPRODUCTS ${header}
    COMMAND lightnet-gen rows --arch ${arch} ${mtype_args} ${base_args} -o ${output}
      --header ${header} ${files}
    DEPENDS lightnet-gen ${paths} ${files}
    COMMENT "Operators of ${arch}"
    VERBATIM)
  set_property(GLOBAL APPEND PROPERTY LN_OP_FILES ${files})
  set(${out_var} ${output} PARENT_SCOPE)
endfunction()

# ln_generate_rules(NAME OUT_VAR FILES ...): C from rewrite rules.
#
# All .rules files together become `const ln_rule_set ln_rules_NAME` in
# <build>/generated/rules/NAME.c. OUT_VAR receives its path, to be given to ln_module(... GENERATED).
# Paths are relative to the current source folder.
function(ln_generate_rules name out_var)
  cmake_parse_arguments(ARG "" "" "FILES" ${ARGN})
  set(folder ${PROJECT_BINARY_DIR}/generated/rules)
  file(MAKE_DIRECTORY ${folder})
  set(paths "")
  foreach(file IN LISTS ARG_FILES)
    get_filename_component(path ${file} ABSOLUTE)
    list(APPEND paths ${path})
  endforeach()
  add_custom_command(
    OUTPUT ${folder}/${name}.c
    COMMAND lightnet-gen rules --name ${name} -o ${folder}/${name}.c ${paths}
    DEPENDS lightnet-gen ${paths}
    COMMENT "Rewrite rules ${name}"
    VERBATIM)
  set(${out_var} ${folder}/${name}.c PARENT_SCOPE)
endfunction()
