// SPDX-License-Identifier: Apache-2.0
// Small ONNX models that ask for much, name what is not there, or turn in circles: each ends with
// its message, within little memory and work.

#include <lightnet/lightnet.h>

#include "serial/onnx/onnx_testing.h"
#include "tests/test.h"

#define HUGE_NUMBER (INT64_C(1) << 62)

enum { INTS = 7, INT = 2 };

// ---- Writing ----

static void put_ints(pb *p, const char *name, int rank, int count, int64_t value)
{
    pb_begin(p, 5);
    if (rank > 0)
        pb_int(p, 1, count);
    pb_int(p, 2, PB_INT64);
    pb_str(p, 8, name);
    for (int i = 0; i < count; i++)
        pb_int(p, 7, value);
    pb_end(p);
}

static void put_attribute(pb *p, const char *name, int64_t value)
{
    pb_begin(p, 5);
    pb_str(p, 1, name);
    pb_int(p, 3, value);
    pb_int(p, 20, INT);
    pb_end(p);
}

// A node with two inputs, or one if `second` is NULL.
static void put_node(pb *p, const char *op, const char *first, const char *second, const char *out)
{
    pb_begin(p, 1);
    pb_str(p, 1, first);
    if (second)
        pb_str(p, 1, second);
    pb_str(p, 2, out);
    pb_str(p, 4, op);
    pb_end(p);
}

// The body of a Loop that carries one value; `loop` is a Loop inside, or what makes v anew.
static void put_body(pb *p, const char *suffix, void (*put_inner)(pb *p))
{
    char names[6][16];
    static const char *const stems[] = {"i", "c", "v", "d", "u", "q"};
    for (int i = 0; i < 6; i++)
        snprintf(names[i], sizeof names[i], "%s%s", stems[i], suffix);
    pb_begin(p, 5);
    pb_str(p, 1, "body");
    pb_begin(p, 6);
    pb_str(p, 2, "b");
    put_node(p, "Identity", names[1], NULL, names[3]);
    if (put_inner)
        put_inner(p);
    put_node(p, "Identity", put_inner ? names[5] : names[2], NULL, names[4]);
    pb_value(p, 11, names[0], PB_INT64, SCALAR);
    pb_value(p, 11, names[1], 9, SCALAR);
    pb_value(p, 11, names[2], PB_FLOAT, NULL);
    pb_value(p, 12, names[3], 9, SCALAR);
    pb_value(p, 12, names[4], PB_FLOAT, NULL);
    pb_end(p);
    pb_int(p, 20, 5);
    pb_end(p);
}

static void put_loop(pb *p, const char *in, const char *out, const char *suffix,
                     void (*put_inner)(pb *p))
{
    pb_begin(p, 1);
    pb_str(p, 1, "n");
    pb_str(p, 1, "");
    pb_str(p, 1, in);
    pb_str(p, 2, out);
    pb_str(p, 4, "Loop");
    put_body(p, suffix, put_inner);
    pb_end(p);
}

static void put_doubling(pb *p)
{
    pb_begin(p, 1);
    pb_str(p, 1, "v1");
    pb_str(p, 1, "v1");
    pb_str(p, 2, "q1");
    pb_str(p, 4, "Concat");
    put_attribute(p, "axis", 0);
    pb_end(p);
}

static void put_loop_inside(pb *p)
{
    put_loop(p, "v1", "q1", "2", NULL);
}

// ---- Traps ----

static void one_ints(pb *p, const char *op, int64_t value)
{
    put_node(p, op, "x", "s", "y");
    put_ints(p, "s", 1, 1, value);
}

static void constant_of_shape(pb *p)
{
    put_node(p, "ConstantOfShape", "s", NULL, "y");
    put_ints(p, "s", 1, 2, 46340);
}

static void expand(pb *p)
{
    put_node(p, "Expand", "o", "s", "y");
    put_ints(p, "o", 0, 1, 1);
    put_ints(p, "s", 1, 2, 65536);
}

static void tile(pb *p)
{
    one_ints(p, "Tile", HUGE_NUMBER);
}

static void pad(pb *p)
{
    put_node(p, "Pad", "x", "s", "y");
    put_ints(p, "s", 1, 2, HUGE_NUMBER);
}

static void reshape(pb *p)
{
    one_ints(p, "Reshape", HUGE_NUMBER);
}

static void gather(pb *p)
{
    one_ints(p, "Gather", 2);
}

static void gather_lowest(pb *p)
{
    one_ints(p, "Gather", INT64_MIN);
}

static void range(pb *p)
{
    pb_begin(p, 1);
    pb_str(p, 1, "a");
    pb_str(p, 1, "b");
    pb_str(p, 1, "c");
    pb_str(p, 2, "y");
    pb_str(p, 4, "Range");
    pb_end(p);
    put_ints(p, "a", 0, 1, INT64_MIN);
    put_ints(p, "b", 0, 1, INT64_MAX);
    put_ints(p, "c", 0, 1, 1);
}

static void endless_loop(pb *p)
{
    put_ints(p, "n", 0, 1, HUGE_NUMBER);
    put_loop(p, "x", "y", "1", NULL);
}

static void loops_in_loops(pb *p)
{
    put_ints(p, "n", 0, 1, HUGE_NUMBER);
    put_loop(p, "x", "y", "1", put_loop_inside);
}

static void doubling_loop(pb *p)
{
    put_ints(p, "n", 0, 1, HUGE_NUMBER);
    put_loop(p, "x", "y", "1", put_doubling);
}

static void circle(pb *p)
{
    put_node(p, "Add", "x", "z", "y");
    put_node(p, "Relu", "y", NULL, "z");
}

static void same_name_twice(pb *p)
{
    put_node(p, "Relu", "x", NULL, "y");
    put_node(p, "Abs", "x", NULL, "y");
}

static void not_there(pb *p)
{
    put_node(p, "Add", "x", "nowhere", "y");
}

static void stride_of_zero(pb *p)
{
    pb_begin(p, 1);
    pb_str(p, 1, "w");
    pb_str(p, 2, "y");
    pb_str(p, 4, "MaxPool");
    for (int i = 0; i < 2; i++) {
        pb_begin(p, 5);
        pb_str(p, 1, i == 0 ? "kernel_shape" : "strides");
        pb_int(p, 8, i == 0);
        pb_int(p, 8, i == 0);
        pb_int(p, 20, INTS);
        pb_end(p);
    }
    pb_end(p);
    pb_begin_tensor(p, 5, "w", PB_FLOAT, DIMS(1, 1, 1, 1));
    pb_bytes(p, 9, "1234", 4);
    pb_end(p);
}

typedef struct trap {
    void (*put)(pb *p);
    const char *message;
} trap;

static ln_status run_model(const pb *p)
{
    ln_limits limits = ln_limits_default();
    limits.memory_byte_count = (size_t)16 << 20;
    limits.work = 1e7;
    ln_context *ctx = ln_context_create();
    CHECK_NOT_NULL(ctx);
    ln_context_set_limits(ctx, &limits);
    ln_status status = ln_context_init_mem(ctx, p->bytes, p->len, "trap");
    if (status == LN_OK)
        status = ln_context_compile(ctx, "ref");
    if (status == LN_OK)
        status = ln_context_load(ctx, NULL);
    if (status == LN_OK)
        status = ln_context_run(ctx);
    ln_context_free(ctx);
    return status;
}

TEST(each_trap_has_its_message)
{
    static const trap traps[] = {
        {constant_of_shape, "over the limit of 1e+07"},
        {expand, "too many elements"},
        {tile, "too many elements"},
        {pad, "pads 4611686018427387904"},
        {reshape, "dimension 4611686018427387904"},
        {range, "a range of 18446744073709551615 elements"},
        {gather, "index 2 at 0 is outside 2 rows"},
        {gather_lowest, "index -9223372036854775808 at 0 is outside 2 rows"},
        {endless_loop, "beyond the limit of 1e+07 work units"},
        {loops_in_loops, "beyond the limit of 1e+07 work units"},
        {doubling_loop, "limit"},
        {circle, "the graph has a cycle"},
        {same_name_twice, "is made a second time"},
        {not_there, "'nowhere', which nothing makes"},
        {stride_of_zero, "strides[0] = 0"},
    };
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < sizeof traps / sizeof traps[0]; i++) {
        pb p = {0};
        pb_model(&p, 17);
        traps[i].put(&p);
        pb_value(&p, 11, "x", PB_FLOAT, DIMS(2));
        pb_value(&p, 12, "y", PB_FLOAT, NULL);
        pb_end(&p);
        CHECK_NE(run_model(&p), LN_OK);
        CHECK_MESSAGE(traps[i].message);
        pb_free(&p);
    }
    ln_arch_cleanup();
}

// Each call of a function brings its constant again.
static void write_function_calls(pb *p, int call_count, int elem_count)
{
    pb_begin(p, 8);
    pb_str(p, 1, "d");
    pb_int(p, 2, 1);
    pb_end(p);
    pb_begin(p, 25);
    pb_str(p, 1, "f");
    pb_str(p, 10, "d");
    pb_str(p, 5, "b");
    pb_begin(p, 9);
    pb_str(p, 1, "");
    pb_int(p, 2, 17);
    pb_end(p);
    pb_begin(p, 7);
    pb_str(p, 2, "b");
    pb_str(p, 4, "Constant");
    pb_begin(p, 5);
    pb_str(p, 1, "value");
    pb_begin(p, 5);
    pb_int(p, 1, elem_count);
    pb_int(p, 2, PB_INT64);
    pb_tag(p, 7, 2);
    pb_varint(p, (uint64_t)elem_count);
    for (int i = 0; i < elem_count; i++)
        pb_put(p, "\1", 1);
    pb_end(p);
    pb_int(p, 20, 4);
    pb_end(p);
    pb_end(p);
    pb_end(p);
    pb_begin(p, 8);
    pb_str(p, 1, "");
    pb_int(p, 2, 17);
    pb_end(p);
    pb_begin(p, 7);
    for (int i = 0; i < call_count; i++) {
        char name[16];
        snprintf(name, sizeof name, "y%d", i);
        pb_begin_node(p, "f", NULL, name);
        pb_str(p, 7, "d");
        pb_end(p);
    }
    pb_value(p, 12, "y0", PB_INT64, NULL);
    pb_end(p);
}

TEST(functions_do_not_multiply_weights_without_end)
{
    pb head = {0};
    pb_int(&head, 1, 8);
    write_function_calls(&head, 2000, 100000); // 1.6 GB of a file of 150 KB
    CHECK_OK(ln_arch_init());
    ln_context *ctx = ln_context_create();
    CHECK_NOT_NULL(ctx);
    CHECK_FAILS(ln_context_init_mem(ctx, head.bytes, head.len, "trap"), LN_LIMIT);
    ln_context_free(ctx);
    ln_arch_cleanup();
    pb_free(&head);
}

TEST(a_cost_asks_nothing_of_inputs_that_are_open)
{
    pb p = {0};
    pb_model(&p, 13);
    put_node(&p, "Gemm", "x", "w", "y");
    pb_value(&p, 11, "x", PB_FLOAT, DIMS(7));
    pb_value(&p, 11, "w", PB_FLOAT, NULL);
    pb_value(&p, 12, "y", PB_FLOAT, DIMS(8, 4));
    pb_end(&p);
    CHECK_OK(ln_arch_init());
    CHECK_NE(run_model(&p), LN_OK);
    pb_free(&p);
    ln_arch_cleanup();
}

TEST_LIST(each_trap_has_its_message, functions_do_not_multiply_weights_without_end,
          a_cost_asks_nothing_of_inputs_that_are_open)
