// SPDX-License-Identifier: Apache-2.0
// Generated texts: a golden file, the examples of the documentation compiled, tables, failures.

#include "desc/opdesc_gen.h"

#include <stdlib.h>
#include <unistd.h>

#include "desc/opdesc_api.h"
#include <lightnet/allocator.h>

#include "tests/oom.h"
#include "tests/test.h"

#define GOLDEN LN_SOURCE_DIR "/tests/golden/desc/scale"

static const char *const compile_flags =
    "-std=c11 -D_POSIX_C_SOURCE=200809L -fsyntax-only -Wall -Wextra -Wshadow -Wconversion "
    "-Wno-sign-conversion -Wcast-qual -Wvla -Wwrite-strings -Wmissing-prototypes -Wundef -Werror";

// `text` as C compiles without a warning.
static void check_compiles(const char *text, const char *what)
{
    char path[512], command[2048];
    snprintf(path, sizeof path, "%s/opdesc_gen_test.%ld.c", LN_BUILD_DIR, (long)getpid());
    CHECK_OK(ln_text_write_file(path, text, strlen(text)));
    snprintf(command, sizeof command, "cc %s -I'%s/include' '%s'", compile_flags, LN_SOURCE_DIR,
             path);
    int rc = system(command);
    if (rc != 0)
        fail_msg("%s does not compile; see %s", what, path);
    unlink(path);
}

static bool has_headers(void)
{
    return access(LN_SOURCE_DIR "/include/lightnet/opck.h", R_OK) == 0 &&
           access(LN_SOURCE_DIR "/include/lightnet/tensor.h", R_OK) == 0 &&
           system("cc --version > /dev/null 2>&1") == 0;
}

TEST(the_code_of_a_small_operator_is_as_it_was)
{
    const char *path = GOLDEN ".op";
    char *code, *golden;
    CHECK_OK(ln_opdesc_generate(&path, 1, 0, &code));
    CHECK_OK(ln_text_read_file(GOLDEN ".c", 1 << 20, &golden, NULL));
    if (strcmp(code, golden) != 0) {
        print_message("%s\nto accept this: lightnet-gen op -o %s.c %s.op\n", code, GOLDEN, GOLDEN);
        fail_msg("the code differs from %s.c", GOLDEN);
    }
    ln_free(code);
    ln_free(golden);
}

// Every kind of parameter, default, input and output at once.
static const char everything[] =
    "all_cpu { optype: 'all_cpu', author: 'x', arch: 'cpu', include: '<math.h>', "
    "extra_privs: [{type: 'float *', name: 'buffer'}, {type: 'int', name: 'count'}], "
    "tensors_in: ["
    " {arg_name: 'a', mtype: 'LN_MEM_CPU', dtype: 'TL_FLOAT', ndim: 'a->ndim', len: 4, static: true},"
    " {arg_name: 'v', mtype: 'LN_MEM_CPU', variadic: true, sametype: 'v', sameshape: 'a', "
    "  static: false, check: 'v_count < 9, \"many: %d\", v_count'},"
    " {arg_name: 'o', mtype: 'LN_MEM_CPU', optional: true, sametype: 'v', check: 'o->ndim > 0'},"
    " {arg_name: 'q', mtype: 'LN_MEM_CPU', optional: true, sameshape: 'o', custom: 'int n = 2'}], "
    "tensors_out: ["
    " {arg_name: 'x', mtype: 'LN_MEM_CPU', dims: [], dtype: 'TL_INT8', owner: 'v'},"
    " {arg_name: 'y', mtype: 'LN_MEM_CPU', dims: ['n', 3], dtype: 'v[0]->dtype', owner: 'a_name', "
    "  len: 'n * 3', static: true},"
    " {arg_name: 'z', mtype: 'LN_MEM_CPU', scratch: true, "
    "  custom: 'z_ndim = 1; z_dims = ln_alloc(4); if (z_dims) z_dims[0] = n; z_dtype = TL_BOOL', "
    "  cleanup: 'ln_free(z_dims)'}], "
    "params: ["
    " {arg_name: 's', ptype: 'LN_PARAM_STRING', default: 'a\\\"b', check: 'strlen(s) > 0'},"
    " {arg_name: 't', ptype: 'LN_PARAM_STRING', realtype: 'tl_dtype', from_func: 'tl_dtype_from_str'},"
    " {arg_name: 'i1', ptype: 'LN_PARAM_NUMBER', realtype: 'int', eq: 1, default: -2147483648},"
    " {arg_name: 'f1', ptype: 'LN_PARAM_NUMBER', realtype: 'float', gt: 0, le: 1.5, default: 1e300},"
    " {arg_name: 'd1', ptype: 'LN_PARAM_NUMBER', realtype: 'double', ne: 'i1', default: 0.1},"
    " {arg_name: 'b1', ptype: 'LN_PARAM_BOOL', default: true},"
    " {arg_name: 'nn', ptype: 'LN_PARAM_NULL'},"
    " {arg_name: 'as', ptype: 'LN_PARAM_ARRAY_STRING', default: ['x', 'y'], len: 2},"
    " {arg_name: 'at', ptype: 'LN_PARAM_ARRAY_STRING', realtype: 'int', from_func: 'tl_dtype_from_str', "
    "  default: []},"
    " {arg_name: 'ai', ptype: 'LN_PARAM_ARRAY_NUMBER', realtype: 'int', ge: 0, lt: 5, default: []},"
    " {arg_name: 'ad', ptype: 'LN_PARAM_ARRAY_NUMBER', realtype: 'double', default: [1, -0.5]},"
    " {arg_name: 'ab', ptype: 'LN_PARAM_ARRAY_BOOL', default: [true, false]}], "
    "checks: ['i1 < ai_len || ab[0]', {check: 'ad[0] > 0, \"ad\"'}], custom: 'if (as_len > 9) return', "
    "static_run: 'priv->count = v_count + (int)t + ab_len', "
    "run: `for (int k = 0; k < v_count; k++)\n    (void)v[k], (void)v_entry[k];\n"
    "      if (o && o_name && q_entry && strcmp(s, as[0]) == 0 && b1)\n    y->len = (int)sqrt(f1 + d1);`,"
    "post_run: 'ln_free(priv->buffer)', calc_offset: 'te->offset + (size_t)x->len', "
    "macs: 'y->len * 2.0', cost: 'y->len + x->len', step_cost: 2.5 } "
    "free_ref { optype: 'free_ref', author: 'x', arch: 'ref', variable_length: true, "
    "tensors_in: [], tensors_out: [], params: [], run: '', post_run: '(void)op_arg', "
    "calc_offset: 'return te ? 1 : 0', macs: 1 } "
    "split_cpu { optype: 'split_cpu', author: 'x', arch: 'cpu', "
    "tensors_in: [{arg_name: 'src', mtype: 'LN_MEM_CPU'}], "
    "tensors_out: [{arg_name: 'dst', mtype: 'LN_MEM_CPU', variadic: true, owner: 'src', "
    "  dims: ['src->len / dst_count'], dtype: 'src->dtype'}], params: [], "
    "check: 'src->len % dst_count == 0', "
    "run: `for (int k = 0; k < dst_count; k++) (void)dst[k], (void)dst_entry[k];` }";

TEST(everything_at_once_compiles)
{
    ln_opdesc_set set = {0};
    ln_text code = {0};
    CHECK_OK(ln_opdesc_read_text(&set, everything, strlen(everything), "t", false));
    ln_opdesc_print_code(&set, "t", &code);
    CHECK_OK(code.status);
    CHECK_NOT_NULL(strstr(code.bytes, "is not written yet"));
    CHECK_NOT_NULL(strstr(code.bytes, "#include <math.h>\n"));
    if (has_headers())
        check_compiles(code.bytes, "the description with everything");
    ln_text_deinit(&code);
    ln_opdesc_set_deinit(&set);
}

TEST(places_become_a_table)
{
    static const char text[] =
        "a {optype: 'a', author: 'x', arch: 'none', calc_offset: '0', params: [],"
        "tensors_in: [{arg_name: 'p', mtype: 'LN_MEM_NONE'}, {arg_name: 'q', mtype: 'LN_MEM_NONE'},"
        "{arg_name: 'r', mtype: 'LN_MEM_NONE', variadic: true}], tensors_out: ["
        "{arg_name: 'x', mtype: 'LN_MEM_NONE', dims: [1], dtype: 'p->dtype', inplace: ['p', 'q']},"
        "{arg_name: 'y', mtype: 'LN_MEM_NONE', dims: [1], dtype: 'p->dtype', part_of: 'p'},"
        "{arg_name: 'z', mtype: 'LN_MEM_NONE', dims: [1], dtype: 'p->dtype', joins: 'r'}]}";
    ln_opdesc_set set = {0};
    ln_text code = {0};
    CHECK_OK(ln_opdesc_read_text(&set, text, strlen(text), "t", false));
    ln_opdesc_print_code(&set, "t", &code);
    CHECK_NOT_NULL(strstr(code.bytes, "static const ln_place_info a_places[] = {\n"
                                      "    {\"x\", \"p\", LN_PLACE_OVER},\n"
                                      "    {\"x\", \"q\", LN_PLACE_OVER},\n"
                                      "    {\"y\", \"p\", LN_PLACE_INSIDE},\n"
                                      "    {\"z\", \"r\", LN_PLACE_AROUND},\n"
                                      "    {NULL, NULL, LN_PLACE_OVER},\n};\n"));
    CHECK_NOT_NULL(strstr(code.bytes, "    .places = a_places,\n"));
    if (has_headers())
        check_compiles(code.bytes, "the description with places");
    ln_text_deinit(&code);
    ln_opdesc_set_deinit(&set);
}

TEST(tables_list_the_operators_of_one_arch)
{
    ln_opdesc_set set = {0};
    ln_text table = {0};
    CHECK_OK(ln_opdesc_read_text(&set, everything, strlen(everything), "t", false));
    ln_opdesc_print_table(&set, "ref", &table);
    CHECK_NOT_NULL(strstr(table.bytes, "ln_op *ln_arch_ops_ref[] = {\n    &ln_opimpl_free_ref,\n"
                                       "    NULL,\n};\n"));
    CHECK_NULL(strstr(table.bytes, "all_cpu"));
    ln_text_deinit(&table);
    ln_opdesc_set_deinit(&set);
}

TEST(documentation_has_a_section_for_each_operator)
{
    const char *path = GOLDEN ".op";
    char *docs;
    CHECK_OK(ln_opdesc_generate_docs(&path, 1, 0, &docs));
    CHECK_NOT_NULL(strstr(docs, "\n| scale | [scale](#scale)"));
    CHECK_NOT_NULL(strstr(docs, "\n## scale\n\nx * factor on one axis.\n"));
    CHECK_NOT_NULL(strstr(docs, "| `src` | | rank 1 or more |\n"));
    CHECK_NOT_NULL(strstr(docs, "| `axis` | int >= 0 and < `src->ndim` | |  |\n"));
    CHECK_NOT_NULL(strstr(docs, "| `factors` | float array | `[0.5]` |  |\n"));
    ln_free(docs);
}

TEST(callers_mistakes_are_refused)
{
    const char *path = GOLDEN ".op";
    const char *missing = "/nonexistent.op";
    char *text = (char *)&path;
    CHECK_FAILS(ln_opdesc_generate(NULL, 0, 0, &text), LN_INVALID);
    CHECK_NULL(text);
    CHECK_FAILS(ln_opdesc_generate(&path, 1, 1, &text), LN_INVALID);
    CHECK_FAILS(ln_opdesc_generate(&missing, 1, 0, &text), LN_IO);
    CHECK_FAILS(ln_opdesc_generate_table("a b", &path, 1, 0, &text), LN_INVALID);
    CHECK_FAILS(ln_opdesc_generate_table(NULL, &path, 1, 0, &text), LN_INVALID);
}

// Functions of operators in call form need no header: their prototypes follow from the keys.
TEST(functions_that_are_named_are_declared)
{
    static const char ops[] =
        "id {infer: 'id_infer', cost: 'id_cost', is_random: 'id_random', "
        "calc_offset: 'id_place', tensors_in: [{arg_name: 'x'}], "
        "tensors_out: [{arg_name: 'y', inplace_first: 'x'}], params: []} "
        "id_cpu {accepts: 'id_accepts', prepare: 'id_prepare', compute: 'id_compute'}"
        "id_ref {prepare: 'id_prepare', compute: 'id_ref_compute'}";
    static const char of_cpu[] = "ln_status id_accepts(ln_call *call);\n"
                                 "ln_status id_prepare(ln_call *call);\n"
                                 "ln_status id_compute(ln_call *call);\n";
    ln_opdesc_set set = {0};
    ln_text code = {0}, header = {0}, abstract = {0};
    CHECK_OK(ln_opdesc_read_text(&set, ops, strlen(ops), "t", false));
    ln_opdesc_print_code(&set, "t", &code);
    ln_opdesc_print_header(&set, "cpu", &header);
    ln_opdesc_print_header(&set, "none", &abstract);
    ln_opdesc_set_deinit(&set);
    CHECK_NOT_NULL(strstr(header.bytes, of_cpu));
    CHECK_NULL(strstr(header.bytes, "id_infer"));
    CHECK_NULL(strstr(header.bytes, "id_ref_compute"));
    CHECK_NOT_NULL(strstr(abstract.bytes, "int id_random(const ln_op_arg *op_arg);\n"));
    CHECK_NOT_NULL(strstr(abstract.bytes, "double id_cost(const ln_call *call);\n"));
    CHECK_NOT_NULL(strstr(abstract.bytes, "size_t id_place(ln_op_arg *op_arg, ln_tensor_entry"));
    CHECK_NOT_NULL(strstr(code.bytes, "    .calc_offset = id_place,\n"));
    if (has_headers()) {
        check_compiles(code.bytes, "an operator in call form");
        check_compiles(header.bytes, "a header of prototypes");
    }
    ln_text_deinit(&code);
    ln_text_deinit(&header);
    ln_text_deinit(&abstract);
}

TEST(out_of_memory_gives_no_text)
{
    const char *path = GOLDEN ".op";
    OOM_SWEEP(n)
    {
        char *text;
        ln_status status = ln_opdesc_generate(&path, 1, 0, &text);
        CHECK(status == LN_OK ? text != NULL : status == LN_NO_MEMORY && !text);
        ln_free(text);
        status = ln_opdesc_generate_docs(&path, 1, 0, &text);
        CHECK(status == LN_OK ? text != NULL : status == LN_NO_MEMORY && !text);
        ln_free(text);
    }
}

TEST_LIST(the_code_of_a_small_operator_is_as_it_was, everything_at_once_compiles,
          places_become_a_table, tables_list_the_operators_of_one_arch,
          documentation_has_a_section_for_each_operator, callers_mistakes_are_refused,
          functions_that_are_named_are_declared, out_of_memory_gives_no_text)
