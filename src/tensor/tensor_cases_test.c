// SPDX-License-Identifier: Apache-2.0
// The table of tensor routines: inputs, parameters and the outputs that are right for them.

#include <lightnet/tensor.h>

#include "tests/test.h"

typedef struct tensor_literal {
    tl_dtype dtype;
    int ndim;
    int dims[TL_MAXDIM];
    const double *data;
} tensor_literal;

typedef struct tensor_case {
    const char *why;
    void (*run)(const struct tensor_case *c, tl_tensor **in, tl_tensor **out);
    tensor_literal in[2];
    tensor_literal out[2];
    int out_count;
    int ints[6];     // axis, start, len, ... in the order of the routine
    double reals[6]; // start, stop, step, ...
    double tolerance;
} tensor_case;

static tl_tensor *from_literal(const tensor_literal *literal)
{
    tl_tensor *t = tl_tensor_zeros(literal->ndim, literal->dims, literal->dtype);
    CHECK_NOT_NULL(t);
    CHECK_OK(tl_convert_n(t->data, t->dtype, literal->data, TL_DOUBLE, (size_t)t->len));
    return t;
}

// ---- One function per routine ----

static void run_clone(const tensor_case *c, tl_tensor **in, tl_tensor **out)
{
    (void)c;
    out[0] = tl_tensor_clone(in[0]);
}

static void run_repeat(const tensor_case *c, tl_tensor **in, tl_tensor **out)
{
    out[0] = tl_tensor_repeat(in[0], c->ints[0]);
}

static void run_arange(const tensor_case *c, tl_tensor **in, tl_tensor **out)
{
    (void)in;
    out[0] = tl_tensor_arange(c->reals[0], c->reals[1], c->reals[2], c->out[0].dtype);
}

static void run_rearange(const tensor_case *c, tl_tensor **in, tl_tensor **out)
{
    CHECK_OK(tl_tensor_rearange(in[0], c->reals[0], c->reals[1], c->reals[2]));
    out[0] = tl_tensor_clone(in[0]);
}

static void run_zeros(const tensor_case *c, tl_tensor **in, tl_tensor **out)
{
    (void)in;
    out[0] = tl_tensor_zeros(c->out[0].ndim, c->out[0].dims, c->out[0].dtype);
}

// Short data is followed by zeros.
static void run_create(const tensor_case *c, tl_tensor **in, tl_tensor **out)
{
    (void)in;
    out[0] = tl_tensor_zeros(c->out[0].ndim, c->out[0].dims, c->out[0].dtype);
    tl_convert_n(out[0]->data, out[0]->dtype, c->reals, TL_DOUBLE, (size_t)c->ints[0]);
}

static void run_zeros_slice(const tensor_case *c, tl_tensor **in, tl_tensor **out)
{
    out[0] = tl_tensor_zeros_slice(in[0], c->ints[0], c->ints[1], c->out[0].dtype);
}

static void run_slice(const tensor_case *c, tl_tensor **in, tl_tensor **out)
{
    out[0] = tl_tensor_slice(in[0], NULL, c->ints[0], c->ints[1], c->ints[2]);
}

static void run_slice_nocopy(const tensor_case *c, tl_tensor **in, tl_tensor **out)
{
    out[0] = tl_tensor_slice_nocopy(in[0], NULL, c->ints[0], c->ints[1], c->ints[2]);
}

static void run_concat(const tensor_case *c, tl_tensor **in, tl_tensor **out)
{
    out[0] = tl_tensor_concat(in[0], in[1], NULL, c->ints[0]);
}

static void run_maxreduce(const tensor_case *c, tl_tensor **in, tl_tensor **out)
{
    tl_tensor *arg = NULL;
    if (c->out_count == 2)
        arg = tl_tensor_zeros(c->out[1].ndim, c->out[1].dims, c->out[1].dtype);
    out[0] = tl_tensor_maxreduce(in[0], NULL, arg, c->ints[0]);
    out[1] = arg;
}

// The only operation in the table.
static void run_elew_param(const tensor_case *c, tl_tensor **in, tl_tensor **out)
{
    out[0] = tl_tensor_elew_param(in[0], c->reals[0], NULL, TL_MUL);
}

static void run_transpose(const tensor_case *c, tl_tensor **in, tl_tensor **out)
{
    out[0] = tl_tensor_transpose(in[0], NULL, c->ints);
}

static void run_lrelu(const tensor_case *c, tl_tensor **in, tl_tensor **out)
{
    out[0] = tl_tensor_lrelu(in[0], NULL, (float)c->reals[0]);
}

static void run_convert(const tensor_case *c, tl_tensor **in, tl_tensor **out)
{
    out[0] = tl_tensor_convert(in[0], NULL, c->out[0].dtype);
}

static void run_resize(const tensor_case *c, tl_tensor **in, tl_tensor **out)
{
    out[0] = tl_tensor_resize(in[0], NULL, c->ints, TL_NEAREST);
}

static void run_submean(const tensor_case *c, tl_tensor **in, tl_tensor **out)
{
    out[0] = tl_tensor_submean(in[0], NULL, c->reals);
}

static void run_transform_bboxSQD(const tensor_case *c, tl_tensor **in, tl_tensor **out)
{
    out[0] = tl_tensor_transform_bboxSQD(in[0], in[1], NULL, c->ints[0], c->ints[1], c->ints[2],
                                         c->ints[3], c->ints[4], c->ints[5]);
}

static const tensor_case cases[] = {
#include "tensor_cases.inc"
};

static void check_output(const tensor_case *c, const tl_tensor *actual, const tl_tensor *expected)
{
    if (!actual)
        fail_msg("%s: %s", c->why, ln_error_message());
    if (actual->dtype != expected->dtype || !tl_tensor_issameshape(actual, expected))
        fail_msg("%s: wrong dtype or shape", c->why);
    for (int i = 0; i < actual->len; i++) {
        double a, b;
        tl_convert(&a, TL_DOUBLE, tl_pointer_add(actual->data, i, actual->dtype), actual->dtype);
        tl_convert(&b, TL_DOUBLE, tl_pointer_add(expected->data, i, expected->dtype),
                   expected->dtype);
        if (!(a - b <= c->tolerance && b - a <= c->tolerance))
            fail_msg("%s: element %d is %.9g instead of %.9g", c->why, i, a, b);
    }
}

TEST(every_case_of_the_table_holds)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const tensor_case *c = &cases[i];
        tl_tensor *in[2] = {NULL}, *out[2] = {NULL};
        for (int k = 0; k < 2; k++) {
            if (c->in[k].data)
                in[k] = from_literal(&c->in[k]);
        }
        c->run(c, in, out);
        for (int k = 0; k < c->out_count; k++) {
            tl_tensor *expected = from_literal(&c->out[k]);
            check_output(c, out[k], expected);
            tl_tensor_free_data_too(expected);
            tl_tensor_free_data_too(out[k]);
        }
        tl_tensor_free_data_too(in[0]);
        tl_tensor_free_data_too(in[1]);
    }
}

TEST_LIST(every_case_of_the_table_holds)
