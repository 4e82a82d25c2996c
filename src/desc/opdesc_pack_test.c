// SPDX-License-Identifier: Apache-2.0
// Packed operators: what a variant shares with its base costs nothing, and code is complete.

#include "desc/opdesc_pack.h"

#include <lightnet/allocator.h>

#include "tests/oom.h"
#include "tests/test.h"

#define BASE                                                                                       \
    "half {optype: 'half', author: 'x', arch: 'none', doc: 'a long description of what it does',"  \
    "tensors_in: [{arg_name: 'src', mtype: 'LN_MEM_NONE', doc: 'any shape'}],"                     \
    "tensors_out: [{arg_name: 'dst', mtype: 'LN_MEM_NONE', ndim: 'src->ndim', dims: 'src->dims',"  \
    "dtype: 'src->dtype'}], params: [{arg_name: 'k', ptype: 'LN_PARAM_NUMBER', realtype: 'int',"   \
    "default: 2, doc: 'a number'}]}\n"

#define VARIANT                                                                                    \
    "half_cpu : half {optype: 'half_cpu', arch: 'cpu', tensors_in: [{mtype: 'LN_MEM_CPU'}],"       \
    "tensors_out: [{mtype: 'LN_MEM_CPU'}], run: 'half(src, dst, k)'}"

#define OTHER                                                                                       \
    "half_cpu : half {optype: 'half_cpu', arch: 'cpu', doc: 'quite another description, and long'," \
    "tensors_in: [{mtype: 'LN_MEM_CPU', doc: 'words'}], run: 'half(src, dst, k)'}"

static void print(const char *text, const char *arch, ln_text *code)
{
    ln_opdesc_set set = {0};
    CHECK_OK(ln_opdesc_read_text(&set, text, strlen(text), "t", false));
    ln_opdesc_print_packed(&set, arch, code);
    CHECK_OK(code->status);
    ln_opdesc_set_deinit(&set);
}

static long packed_bytes(const char *code)
{
    const char *size = strstr(code, "packed[");
    CHECK_NOT_NULL(size);
    return strtol(size + strlen("packed["), NULL, 10);
}

TEST(the_code_holds_functions_and_packed_tables)
{
    static const char *const parts[] = {
        "#include \"ir/packed_ops.h\"\n",          "static void half_cpu_run(ln_op_arg *op_arg)\n",
        "    (ln_packed_function)half_cpu_run,\n", "    LN_MEM_CPU,\n",
        "ln_packed_ops ln_ops_cpu = {\n",          "    .base = &ln_ops_none,\n",
    };
    ln_text code = {0};
    print(BASE VARIANT, "cpu", &code);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (!strstr(code.bytes, parts[i]))
            fail_msg("the code does not contain '%s':\n%s", parts[i], code.bytes);
    CHECK_NULL(strstr(code.bytes, "half_run"));
    CHECK_NULL(strstr(code.bytes, "ln_arg_info"));
    ln_text_deinit(&code);
}

TEST(a_variant_packs_what_differs_from_its_base)
{
    ln_text base = {0}, variant = {0}, other = {0};
    print(BASE, "none", &base);
    print(BASE VARIANT, "cpu", &variant);
    print(BASE OTHER, "cpu", &other);
    CHECK(packed_bytes(variant.bytes) < 40);
    CHECK(packed_bytes(other.bytes) > 70);
    CHECK(packed_bytes(base.bytes) > 90);
    CHECK_NULL(strstr(base.bytes, ".base"));
    ln_text_deinit(&other);
    ln_text_deinit(&variant);
    ln_text_deinit(&base);
}

TEST(out_of_memory_gives_no_code)
{
    ln_opdesc_set set = {0};
    CHECK_OK(ln_opdesc_read_text(&set, BASE VARIANT, strlen(BASE VARIANT), "t", false));
    OOM_SWEEP(n)
    {
        ln_text code = {0};
        ln_opdesc_print_packed(&set, "cpu", &code);
        CHECK(code.status == LN_OK || code.status == LN_NO_MEMORY);
        ln_text_deinit(&code);
    }
    ln_opdesc_set_deinit(&set);
}

TEST_LIST(the_code_holds_functions_and_packed_tables, a_variant_packs_what_differs_from_its_base,
          out_of_memory_gives_no_code)
