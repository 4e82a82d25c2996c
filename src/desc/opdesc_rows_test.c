// SPDX-License-Identifier: Apache-2.0
// Rows of operators: a variant says what differs from its base, equal lists are there once, and
// code is complete.

#include "desc/opdesc_rows.h"

#include "tests/oom.h"
#include "tests/test.h"

#define BASE                                                                                       \
    "half {optype: 'half', arch: 'none', doc: 'what it does', dtypes: 'floats',"                   \
    "tensors_in: [{arg_name: 'src', doc: 'any shape'}], tensors_out: [{arg_name: 'dst'}],"         \
    "params: [{int: 'k', default: 2, doc: 'a number'}], infer: 'infer_half'}\n"

#define VARIANT "half_cpu {compute: 'compute_half', tensors_in: [{}], tensors_out: [{}]}"

#define OTHER                                                                                      \
    "half_cpu {doc: 'in another way', tensors_in: [{optional: true}], tensors_out: [{}],"          \
    "compute: 'compute_half', commutes: 'commutes_half'}"

typedef void print_fn(const ln_opdesc_set *set, const char *arch, ln_text *code);

static void print_prose(const ln_opdesc_set *set, const char *arch, ln_text *code)
{
    (void)arch;
    ln_opdesc_print_prose(set, code);
}

static void print(print_fn *print_as, const char *text, const char *arch, ln_text *code)
{
    ln_opdesc_set set = {0};
    CHECK_OK(ln_opdesc_read_text(&set, text, strlen(text), "t", false));
    print_as(&set, arch, code);
    CHECK_OK(code->status);
    ln_opdesc_set_deinit(&set);
}

static void check_parts(const ln_text *code, const char *const *parts, bool is_there)
{
    for (; *parts; parts++)
        if (!strstr(code->bytes, *parts) == is_there)
            fail_msg("the code %s '%s':\n%s", is_there ? "does not contain" : "contains", *parts,
                     code->bytes);
}

TEST(a_variant_says_what_differs_from_its_base)
{
    static const char *const has[] = {"#include \"ir/op_rows.h\"\n",
                                      "ln_status compute_half(ln_call *call);\n",
                                      ".optype = \"half_cpu\"",
                                      ".base = \"half\"",
                                      ".mtype = LN_MEM_CPU",
                                      ".compute = compute_half,",
                                      "ln_op_rows ln_ops_cpu = {\n",
                                      "    .base = &ln_ops_none,\n",
                                      NULL};
    static const char *const lacks[] = {"ln_arg_info", "ln_param_row", ".facts", ".infer", NULL};
    ln_text code = {0};
    print(ln_opdesc_print_rows, BASE VARIANT, "cpu", &code);
    check_parts(&code, has, true);
    check_parts(&code, lacks, false);
    ln_text_deinit(&code);
}

TEST(a_list_that_differs_is_written_and_the_others_are_not)
{
    static const char *const has[] = {
        "static const ln_arg_info t0[] = {\n    {\"src\", NULL, LN_ARG_OPTIONAL, LN_MEM_CPU,",
        "int commutes_half(ln_op_arg *op_arg);\n",
        ".facts = &(const ln_op_facts){.ins = t0, .commutes = commutes_half, },", NULL};
    static const char *const lacks[] = {"ln_param_row", ".outs", "any shape", ".infer", NULL};
    ln_text code = {0};
    print(ln_opdesc_print_rows, BASE OTHER, "cpu", &code);
    check_parts(&code, has, true);
    check_parts(&code, lacks, false);
    ln_text_deinit(&code);
}

TEST(equal_lists_are_there_once)
{
    static const char second[] =
        "third {optype: 'third', arch: 'none', tensors_in: [{arg_name: 'src'}],"
        "tensors_out: [{arg_name: 'dst'}], params: [{int64: 'm', default: 12}, {number: 'n'}],"
        "infer: 'infer_third'}";
    static const char *const has[] = {
        "{.ins = t0, .outs = t1, .params = t2, .infer = infer_half, }",
        "{.ins = t0, .outs = t1, .params = t3, .infer = infer_third, }",
        "{\"k\", \"2\", LN_PARAM_NUMBER, false, LN_WHOLE_INT}",
        "{\"m\", \"12\", LN_PARAM_NUMBER, false, LN_WHOLE_ANY}",
        "{\"n\", NULL, LN_PARAM_NUMBER, false, LN_NOT_WHOLE}",
        NULL};
    char text[2048];
    snprintf(text, sizeof text, "%s%s", BASE, second);
    ln_text code = {0};
    print(ln_opdesc_print_rows, text, "none", &code);
    check_parts(&code, has, true);
    ln_text_deinit(&code);
}

TEST(prose_is_apart_and_a_variant_has_its_own_only_if_it_differs)
{
    static const char *const has[] = {".doc = \"what it does\"", ".dtypes = \"floats\"",
                                      "\"any shape\"", "\"a number\"", NULL};
    static const char *const variant[] = {".optype = \"half_cpu\"", NULL};
    ln_text code = {0}, other = {0};
    print(print_prose, BASE VARIANT, "", &code);
    print(print_prose, BASE OTHER, "", &other);
    check_parts(&code, has, true);
    check_parts(&code, variant, false);
    check_parts(&other, variant, true);
    ln_text_deinit(&other);
    ln_text_deinit(&code);
}

TEST(out_of_memory_gives_no_code)
{
    ln_opdesc_set set = {0};
    CHECK_OK(ln_opdesc_read_text(&set, BASE VARIANT, strlen(BASE VARIANT), "t", false));
    OOM_SWEEP(n)
    {
        ln_text code = {0};
        ln_opdesc_print_rows(&set, n % 2 ? "cpu" : "none", &code);
        CHECK(code.status == LN_OK || code.status == LN_NO_MEMORY);
        ln_text_deinit(&code);
    }
    ln_opdesc_set_deinit(&set);
}

TEST_LIST(a_variant_says_what_differs_from_its_base,
          a_list_that_differs_is_written_and_the_others_are_not, equal_lists_are_there_once,
          prose_is_apart_and_a_variant_has_its_own_only_if_it_differs, out_of_memory_gives_no_code)
