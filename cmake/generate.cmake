# ln_generate_ops(ARCH OUT_VAR FILES ... [BASES ...]): C from operator descriptions.
#
# Each .op file becomes <build>/generated/op/<arch>/<stem>.c (onnx/x.op: onnx_x.c), and all of them together the table
# ln_arch_ops_<arch> in table.c. OUT_VAR receives the paths, to be given to ln_module(... GENERATED).
# BASES are files whose descriptions may be inherited from; files of FILES may inherit from earlier
# ones only through BASES. Paths are relative to the current source folder.
function(ln_generate_ops arch out_var)
  cmake_parse_arguments(ARG "" "" "FILES;BASES" ${ARGN})
  set(folder ${PROJECT_BINARY_DIR}/generated/op/${arch})
  file(MAKE_DIRECTORY ${folder})

  set(base_args "")
  set(base_paths "")
  foreach(base IN LISTS ARG_BASES)
    get_filename_component(path ${base} ABSOLUTE)
    list(APPEND base_args --base ${path})
    list(APPEND base_paths ${path})
  endforeach()

  set(outputs "")
  set(paths "")
  foreach(file IN LISTS ARG_FILES)
    get_filename_component(path ${file} ABSOLUTE)
    string(REPLACE "/" "_" stem ${file})
    get_filename_component(stem ${stem} NAME_WE)
    list(APPEND paths ${path})
    set(output ${folder}/${stem}.c)
    add_custom_command(
      OUTPUT ${output}
      COMMAND lightnet-gen op ${base_args} -o ${output} ${path}
      DEPENDS lightnet-gen ${path} ${base_paths}
      COMMENT "Operators of ${arch} from ${file}"
      VERBATIM)
    list(APPEND outputs ${output})
  endforeach()

  add_custom_command(
    OUTPUT ${folder}/table.c
    COMMAND lightnet-gen table --arch ${arch} ${base_args} -o ${folder}/table.c ${paths}
    DEPENDS lightnet-gen ${paths} ${base_paths}
    COMMENT "Table of the operators of ${arch}"
    VERBATIM)
  list(APPEND outputs ${folder}/table.c)
  set(${out_var} ${outputs} PARENT_SCOPE)
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
