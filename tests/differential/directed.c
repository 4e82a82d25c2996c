// SPDX-License-Identifier: Apache-2.0
// Builds each form operator by operator, with parameters that its faults depend on.

#include "tests/differential/directed.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "tests/differential/draw.h"

// ---- Presets ----

static void give(preset *p, const char *arg_name, int tensor)
{
    snprintf(p->ins[p->in_count].arg_name, MODEL_NAME, "%s", arg_name);
    p->ins[p->in_count++].tensor = tensor;
}

static void set(preset *p, const char *arg_name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void set(preset *p, const char *arg_name, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(p->params[p->param_count].value, sizeof p->params[0].value, format, args);
    va_end(args);
    p->params[p->param_count++].arg_name = arg_name;
}

// The first result of the operator that is added; -1 if the library takes none.
static int add(model *m, test_random *random, const sizes *s, const preset *p)
{
    int at;
    return operator_add(m, random, s, p, &at) ? m->ops[at].outs[0].tensor : -1;
}

static int add_act(model *m, test_random *random, const sizes *s, const char *act, int x)
{
    preset p = {.optype = "act", .has_plain_params = true};
    give(&p, "src", x);
    set(&p, "act", "%s", act);
    return add(m, random, s, &p);
}

static int add_constant(model *m, test_random *random, tl_dtype dtype, int ndim, const int *dims,
                        double low, double high)
{
    leaf l = {.dtype = dtype, .ndim = ndim, .low = low, .high = high};
    l.fill = low == high ? FILL_SAME : dtype == TL_FLOAT ? FILL_UNIFORM : FILL_INTEGERS;
    memcpy(l.dims, dims, (size_t)ndim * sizeof l.dims[0]);
    return model_add_leaf(m, random, &l);
}

static int add_number(model *m, test_random *random, tl_dtype dtype, double number)
{
    return add_constant(m, random, dtype, 0, (const int[]){0}, number, number);
}

// A result to start from, that no caller sees: of an input, or of a constant.
static int add_start(model *m, test_random *random, const sizes *s, int ndim, const int *dims,
                     bool is_input)
{
    leaf l = {.dtype = TL_FLOAT, .ndim = ndim, .is_input = is_input, .low = -2, .high = 2};
    memcpy(l.dims, dims, (size_t)ndim * sizeof l.dims[0]);
    static const char *const acts[] = {"tanh", "abs", "relu", "sigmoid"};
    const int x = model_add_leaf(m, random, &l);
    return x < 0 ? -1 : add_act(m, random, s, acts[test_random_below(random, 4)], x);
}

// An image with sizes that are not 0.
static int draw_image(test_random *random, const sizes *s, int *dims)
{
    const int rank = PICK(random, 4, 4, 4, 4, 3, 5);
    const int drawn[] = {s->n, s->c, s->h, s->w, 3};
    for (int d = 0; d < rank; d++)
        dims[d] = drawn[d] > 0 ? drawn[d] : 2;
    if (chance(random, 40)) // as many channels as columns
        dims[rank - 1] = dims[1];
    return rank;
}

// With numbers of its own, which no other operator of the model has by chance.
static void set_act(preset *p, test_random *random)
{
    const char *act = WORD(random, "relu", "relu", "sigmoid", "clip", "clip", "lrelu", "hard_swish",
                           "hard_sigmoid", "elu", "affine");
    set(p, "act", "%s", act);
    if (strcmp(act, "relu") == 0 || strcmp(act, "sigmoid") == 0)
        return;
    set(p, "alpha", "%s", WORD(random, "0", "0.1", "0.25", "-0.25"));
    set(p, "beta", "%s", WORD(random, "0.5", "1", "6", "0.75"));
}

// A convolution whose result has the shape of its source, of `outs` channels. `is_wide`: windows
// are larger than an element on all axes.
static int add_same_conv(model *m, test_random *random, const sizes *s, int x, int outs, int addend,
                         bool is_wide)
{
    const model_tensor src = m->tensors[x];
    const int spatial = src.ndim - 2;
    const int group = outs % src.dims[1] == 0 && chance(random, 25) ? src.dims[1] : 1;
    leaf w = {.dtype = TL_FLOAT, .ndim = src.ndim, .low = -1, .high = 1};
    char padding[100] = "[";
    int halves[MODEL_RANK];
    w.dims[0] = outs;
    w.dims[1] = src.dims[1] / group;
    for (int i = 0; i < spatial; i++) {
        halves[i] = is_wide ? PICK(random, 1, 1, 2) : PICK(random, 0, 1, 1, 1, 2);
        w.dims[2 + i] = 2 * halves[i] + 1;
    }
    for (int i = 0; i < 2 * spatial; i++)
        snprintf(padding + strlen(padding), sizeof padding - strlen(padding), "%s%d", i ? ", " : "",
                 halves[i % spatial]);
    strcat(padding, "]");
    preset p = {.optype = "conv", .has_plain_params = true};
    give(&p, "src", x);
    give(&p, "weight", model_add_leaf(m, random, &w));
    give(&p, "bias", chance(random, 50) ? ABSENT : -1);
    if (p.ins[2].tensor == -1)
        p.ins[2].tensor = add_constant(m, random, TL_FLOAT, 1, &outs, -1, 1);
    give(&p, "addend", addend >= 0 ? addend : ABSENT);
    set(&p, "padding", "%s", padding);
    if (group != 1)
        set(&p, "group", "%d", group);
    if (chance(random, 40))
        set_act(&p, random);
    return add(m, random, s, &p);
}

// The same with windows of `size` and a number of groups that are given.
static int add_sized_conv(model *m, test_random *random, const sizes *s, int x, int outs, int group,
                          int size, int addend)
{
    leaf w = {.dtype = TL_FLOAT, .ndim = 4, .low = -1, .high = 1};
    const int half = size / 2;
    w.dims[0] = outs;
    w.dims[1] = m->tensors[x].dims[1] / group;
    w.dims[2] = w.dims[3] = size;
    preset p = {.optype = "conv", .has_plain_params = true};
    give(&p, "src", x);
    give(&p, "weight", model_add_leaf(m, random, &w));
    give(&p, "bias",
         chance(random, 50) ? add_constant(m, random, TL_FLOAT, 1, &outs, -1, 1) : ABSENT);
    give(&p, "addend", addend >= 0 ? addend : ABSENT);
    if (size > 1)
        set(&p, "padding", "[%d, %d, %d, %d]", half, half, half, half);
    if (group != 1)
        set(&p, "group", "%d", group);
    if (chance(random, 40))
        set_act(&p, random);
    return add(m, random, s, &p);
}

// ---- After a convolution, in channels-last form ----

static int add_pooling_of(model *m, test_random *random, const sizes *s, int x, const char *kind)
{
    char size[60] = "[", stride[60] = "[", padding[100] = "[";
    const int spatial = m->tensors[x].ndim - 2;
    int window[MODEL_RANK];
    for (int i = 0; i < spatial; i++) {
        window[i] = PICK(random, 1, 2, 2, 3, 3, 4);
        snprintf(size + strlen(size), sizeof size - strlen(size), "%s%d", i ? ", " : "", window[i]);
        snprintf(stride + strlen(stride), sizeof stride - strlen(stride), "%s%d", i ? ", " : "",
                 PICK(random, 1, 1, 2, 3));
    }
    for (int i = 0; i < 2 * spatial; i++)
        snprintf(padding + strlen(padding), sizeof padding - strlen(padding), "%s%d", i ? ", " : "",
                 (int)test_random_below(random, (size_t)window[i % spatial]));
    strcat(size, "]");
    strcat(stride, "]");
    strcat(padding, "]");
    preset p = {.optype = "pool", .has_plain_params = true};
    give(&p, "src", x);
    set(&p, "kind", "%s", kind);
    set(&p, "size", "%s", size);
    set(&p, "stride", "%s", stride);
    if (chance(random, 85))
        set(&p, "padding", "%s", padding);
    else
        set(&p, "autopad", "%s", chance(random, 50) ? "SAME_UPPER" : "SAME_LOWER");
    set(&p, "count_include_pad", "%d", PICK(random, 0, 1, 1));
    set(&p, "ceil_mode", "%d", PICK(random, 0, 0, 1));
    return add(m, random, s, &p);
}

static int add_pooling(model *m, test_random *random, const sizes *s, int x)
{
    return add_pooling_of(m, random, s, x,
                          chance(random, 75)   ? "average"
                          : chance(random, 70) ? "max"
                                               : "lp");
}

static int add_pad(model *m, test_random *random, const sizes *s, int x)
{
    char pads[100] = "[";
    const int rank = m->tensors[x].ndim;
    for (int d = 0; d < 2 * rank; d++)
        snprintf(pads + strlen(pads), sizeof pads - strlen(pads), "%s%d", d ? ", " : "",
                 d % rank < 2 && chance(random, 85) ? 0 : PICK(random, 0, 1, 1, 2, -1));
    strcat(pads, "]");
    preset p = {.optype = "pad", .has_plain_params = true};
    give(&p, "src", x);
    give(&p, "filler", ABSENT);
    if (chance(random, 70))
        p.ins[1].tensor = add_number(m, random, TL_FLOAT, PICK(random, 3, -1, 0, 7));
    static const char *const modes[] = {"constant", "constant", "constant", "edge", "reflect"};
    set(&p, "mode", "%s", p.ins[1].tensor >= 0 ? "constant" : modes[test_random_below(random, 5)]);
    set(&p, "pads", "%s", pads);
    return add(m, random, s, &p);
}

static int add_prelu(model *m, test_random *random, const sizes *s, int x)
{
    const model_tensor *t = &m->tensors[x];
    int dims[MODEL_RANK], at = chance(random, 50) ? 1 : PICK(random, 0, t->ndim - 1, t->ndim - 2);
    for (int d = 0; d < t->ndim; d++)
        dims[d] = d == at ? t->dims[d] : 1;
    const int skipped = (int)test_random_below(random, (size_t)at + 1); // leading ones left out
    preset p = {.optype = "prelu", .has_plain_params = true};
    give(&p, "src", x);
    give(&p, "slope", add_constant(m, random, TL_FLOAT, t->ndim - skipped, dims + skipped, -1, 2));
    return add(m, random, s, &p);
}

// A scale for each index of an axis, with zero points that differ.
static int add_quantize(model *m, test_random *random, const sizes *s, int x)
{
    const model_tensor *t = &m->tensors[x];
    const tl_dtype dtype = chance(random, 50) ? TL_UINT8 : TL_INT8;
    int axis = chance(random, 60) ? 1 : (int)test_random_below(random, (size_t)t->ndim);
    const int count = t->dims[axis];
    axis = chance(random, 30) ? axis - t->ndim : axis;
    preset p = {.optype = "quantize", .has_plain_params = true};
    give(&p, "src", x);
    give(&p, "scale", add_constant(m, random, TL_FLOAT, 1, &count, 0.01, 0.2));
    give(&p, "zero", add_constant(m, random, dtype, 1, &count, 20, 120));
    set(&p, "axis", "%d", axis);
    const int q = add(m, random, s, &p);
    if (q < 0 || chance(random, 50))
        return q;
    preset back = p;
    back.optype = "dequantize";
    back.ins[0].tensor = q;
    return add(m, random, s, &back);
}

static int add_any(model *m, test_random *random, const sizes *s, int x)
{
    static const char *const types[] = {"batchnorm", "groupnorm", "resize",   "elew",   "concat",
                                        "slice",     "transpose", "softmax",  "reduce", "deconv",
                                        "act",       "reshape",   "layernorm"};
    preset p = {.optype = types[test_random_below(random, sizeof types / sizeof types[0])]};
    const ln_op_info *info = operator_info(p.optype);
    char name[MODEL_NAME];
    snprintf(name, sizeof name, info->ins[0].flags & LN_ARG_VARIADIC ? "%.50s1" : "%.50s",
             info->ins[0].arg_name);
    give(&p, name, x);
    return add(m, random, s, &p);
}

// Sizes that are whole multiples on all axes, on some or on none, to which a channels-last form
// may be restricted.
static int add_resize(model *m, test_random *random, const sizes *s, int x)
{
    const model_tensor t = m->tensors[x];
    char dims[100] = "[";
    for (int d = 0; d < t.ndim; d++) {
        const int n = t.dims[d];
        snprintf(dims + strlen(dims), sizeof dims - strlen(dims), "%s%d", d ? ", " : "",
                 d < 2 ? n : PICK(random, n, 2 * n, 2 * n, 3 * n, n + 1, 2 * n - 1, (n + 1) / 2));
    }
    strcat(dims, "]");
    preset p = {.optype = "resize", .has_plain_params = chance(random, 60)};
    give(&p, "src", x);
    set(&p, "dims", "%s", dims);
    set(&p, "mode", "%s",
        WORD(random, "TL_NEAREST", "TL_NEAREST", "TL_LINEAR", "nearest", "linear", "cubic"));
    if (chance(random, 50))
        set(&p, "coordinate_transformation_mode", "%s",
            WORD(random, "half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"));
    return add(m, random, s, &p);
}

// Over any axes: channels-last forms are for those of space alone.
static int add_reduce(model *m, test_random *random, const sizes *s, int x)
{
    char axes[60] = "[";
    const int rank = m->tensors[x].ndim, first = PICK(random, 2, 2, 1, 0, 3);
    for (int d = 0; d < rank; d++)
        if (d >= first || chance(random, 10))
            snprintf(axes + strlen(axes), sizeof axes - strlen(axes), "%s%d", axes[1] ? ", " : "",
                     chance(random, 20) ? d - rank : d);
    strcat(axes, "]");
    preset p = {.optype = "reduce", .has_plain_params = true};
    give(&p, "src", x);
    set(&p, "kind", "%s", chance(random, 75) ? "mean" : chance(random, 50) ? "sum" : "max");
    set(&p, "axes", "%s", axes);
    set(&p, "keepdims", "%d", PICK(random, 0, 1));
    return add(m, random, s, &p);
}

// With an operand of fewer axes, which may come in the run.
static int add_fewer_axes(model *m, test_random *random, const sizes *s, int x)
{
    static const char *const hows[] = {"TL_SUM", "TL_MUL", "TL_MAX", "TL_MIN", "TL_DIV"};
    const model_tensor t = m->tensors[x];
    const int skipped = 1 + (int)test_random_below(random, (size_t)t.ndim - 1);
    leaf l = {.dtype = TL_FLOAT, .ndim = t.ndim - skipped, .low = 0.5, .high = 2};
    for (int d = 0; d < l.ndim; d++)
        l.dims[d] = chance(random, 70) ? t.dims[skipped + d] : 1;
    l.is_input = chance(random, 50);
    preset p = {.optype = "elew", .has_plain_params = true};
    const bool is_second = chance(random, 30);
    const int other = model_add_leaf(m, random, &l);
    give(&p, "src1", is_second ? other : x);
    give(&p, "src2", is_second ? x : other);
    set(&p, "elew_op", "%s", hows[test_random_below(random, 5)]);
    return add(m, random, s, &p);
}

typedef int add_after(model *m, test_random *random, const sizes *s, int x);

static bool make_after_conv(model *m, test_random *random, const sizes *s, add_after *after)
{
    int dims[MODEL_RANK];
    const int rank = draw_image(random, s, dims);
    int x = add_start(m, random, s, rank, dims, true);
    const int outs = chance(random, 60) ? dims[1] : PICK(random, 1, 2, 4, 8, dims[rank - 1]);
    if (x >= 0 && chance(random, 85))
        x = add_same_conv(m, random, s, x, outs, -1, false);
    x = x < 0 ? -1 : after(m, random, s, x);
    if (x < 0)
        return false;
    const model_tensor t = m->tensors[x];
    if (t.dtype == TL_FLOAT && t.ndim == rank && t.dims[1] > 0 && chance(random, 40))
        (void)add_same_conv(m, random, s, x, PICK(random, 1, 3, 4), -1, false);
    return true;
}

static bool make_pooling(model *m, test_random *random, const sizes *s)
{
    return make_after_conv(m, random, s, add_pooling);
}

static bool make_pad(model *m, test_random *random, const sizes *s)
{
    return make_after_conv(m, random, s, add_pad);
}

// Zeros, as many as drawn on each side, that the convolution may take for its own padding.
static bool make_pad_before(model *m, test_random *random, const sizes *s)
{
    int dims[MODEL_RANK];
    const int rank = draw_image(random, s, dims);
    int x = add_start(m, random, s, rank, dims, true);
    x = x < 0 ? -1 : add_pad(m, random, s, x);
    return x >= 0 && model_element_count(&m->tensors[x]) > 0 &&
           add_same_conv(m, random, s, x, PICK(random, 1, 2, 4), -1, false) >= 0;
}

static bool make_prelu(model *m, test_random *random, const sizes *s)
{
    return make_after_conv(m, random, s, add_prelu);
}

static bool make_resize(model *m, test_random *random, const sizes *s)
{
    return make_after_conv(m, random, s, add_resize);
}

static bool make_quantize(model *m, test_random *random, const sizes *s)
{
    return make_after_conv(m, random, s, add_quantize);
}

static bool make_reduce(model *m, test_random *random, const sizes *s)
{
    return make_after_conv(m, random, s, add_reduce);
}

static bool make_fewer_axes(model *m, test_random *random, const sizes *s)
{
    return make_after_conv(m, random, s, add_fewer_axes);
}

static bool make_any(model *m, test_random *random, const sizes *s)
{
    return make_after_conv(m, random, s, add_any);
}

// ---- Orders of axes ----

static int add_sum(model *m, test_random *random, int a, int b)
{
    const bool is_first = chance(random, 50);
    model_op *op = model_add_op(m, "elew");
    model_op_add_in(m, op, "src1", is_first ? a : b);
    model_op_add_in(m, op, "src2", is_first ? b : a);
    model_op_set_param(m, op, "elew_op", "TL_SUM");
    const int sum = model_op_add_out(m, op, "dst");
    return model_check(m) ? sum : -1;
}

// Elements in another order, then constants of one, some or all axes, then maybe an order again.
static bool make_transposes(model *m, test_random *random, const sizes *s)
{
    int dims[MODEL_RANK], axes[MODEL_RANK];
    const int rank = PICK(random, 2, 3, 3, 4);
    const bool is_cube = chance(random, 30);
    for (int d = 0; d < rank; d++)
        dims[d] = is_cube ? 3 : PICK(random, 1, 2, 3, 4, 5);
    int x = add_start(m, random, s, rank, dims, true);
    for (int i = PICK(random, 1, 2, 2, 3); x >= 0 && i > 0; i--) {
        preset p = {.optype = "transpose", .has_plain_params = true};
        char text[60] = "[";
        for (int d = 0; d < rank; d++) {
            const int at = (int)test_random_below(random, (size_t)d + 1);
            axes[d] = axes[at];
            axes[at] = d;
        }
        for (int d = 0; d < rank; d++)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%d", d ? ", " : "",
                     axes[d]);
        strcat(text, "]");
        give(&p, "src", x);
        set(&p, "axes", "%s", text);
        x = add(m, random, s, &p);
        if (x < 0 || chance(random, 30))
            continue;
        int of[MODEL_RANK];
        for (int d = 0; d < rank; d++)
            of[d] = chance(random, 75) ? m->tensors[x].dims[d] : 1;
        x = add_sum(m, random, x, add_constant(m, random, TL_FLOAT, rank, of, -2, 2));
    }
    return x >= 0;
}

// ---- Parts of axes of an image ----

// Elements of an image in another order, as shuffles of channels and blocks of pixels are written:
// axes are parted, exchanged and joined, between convolutions, or in an order that is none of them.
static bool make_exchange(model *m, test_random *random, const sizes *s)
{
    static const struct {
        int parts, axes[6], joined[4]; // how many of the exchanged axes make one of the image
    } ways[] = {
        {5, {0, 2, 1, 3, 4}, {1, 2, 1, 1}},    {6, {0, 3, 4, 1, 5, 2}, {1, 1, 2, 2}},
        {6, {0, 1, 4, 2, 5, 3}, {1, 1, 2, 2}}, {6, {0, 3, 5, 1, 2, 4}, {1, 3, 1, 1}},
        {6, {0, 1, 3, 5, 2, 4}, {1, 3, 1, 1}}, {6, {0, 2, 1, 4, 3, 5}, {1, 2, 1, 2}},
    };
    const size_t at = test_random_below(random, sizeof ways / sizeof ways[0]);
    const int parts = ways[at].parts, a = PICK(random, 2, 2, 3), b = PICK(random, 2, 3, a);
    const int h = PICK(random, 2, 3, 4, a), w = PICK(random, 2, 3, 5, b), n = PICK(random, 1, 2);
    const int of[][6] = {{n, a, b, h, w},    {n, a, b, 2, h, w}, {n, 2, a, b, h, w},
                         {n, 2, h, a, w, b}, {n, 3, h, a, w, b}, {n, a, b, h, 2, w}};
    const int whole[][4] = {{n, a * b, h, w},     {n, a * b * 2, h, w}, {n, 2 * a * b, h, w},
                            {n, 2, h * a, w * b}, {n, 3, h * a, w * b}, {n, a * b, h, 2 * w}};
    int axes[6], dims[6], x = add_start(m, random, s, 4, whole[at], true);
    memcpy(axes, ways[at].axes, sizeof axes);
    if (chance(random, 25)) { // another order
        const int i = (int)test_random_below(random, (size_t)parts);
        const int k = (int)test_random_below(random, (size_t)parts);
        axes[i] = ways[at].axes[k];
        axes[k] = ways[at].axes[i];
    }
    if (x >= 0 && chance(random, 80))
        x = add_same_conv(m, random, s, x, whole[at][1], -1, false);
    for (int step = 0; step < 3 && x >= 0; step++) {
        preset p = {.optype = step == 1 ? "transpose" : "reshape", .has_plain_params = true};
        char text[60] = "[";
        int count = step == 2 ? 4 : parts;
        for (int d = 0, k = 0; d < count; d++) {
            dims[d] = step == 0 ? of[at][d] : step == 1 ? axes[d] : 1;
            for (int i = step == 2 ? ways[at].joined[d] : 0; i > 0; i--)
                dims[d] *= of[at][axes[k++]];
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%d", d ? ", " : "",
                     dims[d]);
        }
        strcat(text, "]");
        give(&p, "src", x);
        set(&p, step == 1 ? "axes" : "dims", "%s", text);
        x = add(m, random, s, &p);
    }
    if (x >= 0 && chance(random, 60))
        (void)add_same_conv(m, random, s, x, PICK(random, 1, 2, m->tensors[x].dims[1]), -1, false);
    return x >= 0;
}

// ---- One tensor on two operands ----

// conv(x) + x, where windows see elements that the sum may have overwritten; of images and of
// constants, of which all plans make but one copy.
static bool make_residual(model *m, test_random *random, const sizes *s)
{
    int dims[MODEL_RANK];
    const int rank = draw_image(random, s, dims);
    for (int d = 2; d < rank; d++)
        dims[d] = dims[d] < 4 ? dims[d] + 3 : dims[d];
    const bool is_constant = chance(random, 35);
    int x = add_start(m, random, s, rank, dims, !is_constant);
    for (int i = PICK(random, 1, 1, 2); x >= 0 && i > 0; i--) {
        const bool is_operand = chance(random, 60);
        int y = add_same_conv(m, random, s, x, dims[1], is_operand ? x : -1, true);
        if (y >= 0 && !is_operand)
            y = add_sum(m, random, x, y);
        if (y >= 0 && chance(random, 50))
            y = add_act(m, random, s, "relu", y);
        x = y;
    }
    return x >= 0;
}

// An operator whose operands are all one constant, or two, and are all of the model that is known.
static bool make_constants(model *m, test_random *random, const sizes *s)
{
    static const char *const types[] = {"conv",      "matmul",      "linear",   "elew",
                                        "prelu",     "select",      "deconv",   "concat",
                                        "layernorm", "scale_shift", "batchnorm"};
    const int size = PICK(random, 2, 3, 4, 5);
    int dims[MODEL_RANK] = {size, size, size, size};
    const char *type = types[test_random_below(random, sizeof types / sizeof types[0])];
    const ln_op_info *info = operator_info(type);
    const bool is_conv = strstr(type, "conv") != NULL;
    const int rank = is_conv                       ? PICK(random, 3, 4)
                     : strcmp(type, "linear") == 0 ? 2
                                                   : PICK(random, 1, 2, 3);
    const int x = add_start(m, random, s, rank, dims, true);
    const int c = chance(random, 50) ? add_start(m, random, s, rank, dims, false)
                                     : add_constant(m, random, TL_FLOAT, rank, dims, -2, 2);
    if (c < 0 || x < 0)
        return false;
    // A step of the run may read the constant, and come before those of loading.
    const int early = chance(random, 40) ? add_sum(m, random, x, c) : -1;
    preset p = {.optype = type, .has_plain_params = chance(random, 50)};
    for (const ln_arg_info *arg = info->ins; arg->arg_name; arg++) {
        char name[MODEL_NAME];
        snprintf(name, sizeof name, arg->flags & LN_ARG_VARIADIC ? "%.50s1" : "%.50s",
                 arg->arg_name);
        const bool is_last = arg > info->ins + 1;
        if (is_last && arg->flags & LN_ARG_OPTIONAL)
            continue;
        if (!is_last || rank == 1)
            give(&p, name, chance(random, 85) ? c : x);
        if (arg->flags & LN_ARG_VARIADIC) {
            snprintf(name, sizeof name, "%.50s2", arg->arg_name);
            give(&p, name, chance(random, 85) ? c : x);
        }
    }
    int y = add(m, random, s, &p);
    if (y < 0)
        return false;
    // What is made is of use in the run, mostly.
    const model_tensor t = m->tensors[y];
    if (t.ndim == rank && memcmp(t.dims, dims, (size_t)rank * sizeof dims[0]) == 0 &&
        chance(random, 80))
        y = add_sum(m, random, early >= 0 ? early : x, y);
    return y >= 0;
}

// An operator over a square that nothing else reads, so that its result may be in its place, if the
// description says so; all other operands are such squares too, mostly.
static bool make_in_place(model *m, test_random *random, const sizes *s)
{
    static const char *const types[] = {
        "matmul", "linear",  "take",    "gather", "cumsum",    "trilu",  "transpose",
        "pad",    "prelu",   "softmax", "reduce", "layernorm", "sort",   "scale_shift",
        "slice",  "reverse", "select",  "elew",   "concat",    "matmul", "linear"};
    const int size = PICK(random, 2, 3, 5, 17, 20), rank = PICK(random, 2, 2, 3);
    const int dims[] = {rank == 3 ? 2 : size, size, size};
    preset p = {.optype = types[test_random_below(random, sizeof types / sizeof types[0])],
                .has_plain_params = chance(random, 60)};
    const ln_op_info *info = operator_info(p.optype);
    for (const ln_arg_info *arg = info ? info->ins : NULL; arg && arg->arg_name; arg++) {
        char name[MODEL_NAME];
        snprintf(name, sizeof name, arg->flags & LN_ARG_VARIADIC ? "%.50s1" : "%.50s",
                 arg->arg_name);
        const bool is_float = arg->types == 0 || arg->types & LN_TYPE(TL_FLOAT);
        if (is_float && (arg == info->ins || chance(random, arg == info->ins + 1 ? 60 : 15)))
            give(&p, name, add_start(m, random, s, rank, dims, true));
    }
    return info && !m->is_overflown && add(m, random, s, &p) >= 0;
}

// ---- Quantized products ----

// Of what is quantized with nearly equal scales and zero points: rules ask for equal ones.
static double nearly(test_random *random, double number, double other)
{
    return chance(random, 75) ? number : other;
}

static int add_scaled(model *m, test_random *random, const sizes *s, const char *type, int x,
                      double scale, double zero, tl_dtype dtype)
{
    static const double ends[] = {INFINITY, 1e30, 1e-30, 1e-42, 3e38, -0.05, 0, NAN};
    preset p = {.optype = type, .has_plain_params = true};
    if (chance(random, 3)) // where products of scales leave the range of floats
        scale = ends[test_random_below(random, sizeof ends / sizeof ends[0])];
    give(&p, "src", x);
    give(&p, "scale", add_number(m, random, TL_FLOAT, scale));
    give(&p, "zero", dtype == TL_INT32 ? ABSENT : add_number(m, random, dtype, zero));
    return add(m, random, s, &p);
}

// A scale and a zero point for each column, the last of which is mostly 0.
static int add_scaled_columns(model *m, test_random *random, const sizes *s, int weight,
                              double scale)
{
    const model_tensor w = m->tensors[weight];
    // Now and then of another axis, which may be as long.
    const int of_outputs = w.ndim == 2 ? 1 : 0;
    const int own = w.dims[0] == w.dims[1] ? 50 : 85;
    const int axis = chance(random, own) ? of_outputs : 1 - of_outputs, count = w.dims[axis];
    const int scales = add_constant(m, random, TL_FLOAT, 1, &count, scale / 2, scale * 2);
    int zeros = ABSENT;
    if (chance(random, 70)) {
        char text[200] = "[";
        zeros = add_constant(m, random, w.dtype, 1, &count, -9, 9);
        for (int i = 0; i < count; i++)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%d", i ? ", " : "",
                     i == count - 1 && chance(random, 70) ? 0 : (int)test_random_below(random, 9));
        strcat(text, "]");
        model_op_set_param(m, &m->ops[model_maker(m, zeros)], "data", text);
    }
    preset p = {.optype = "dequantize", .has_plain_params = true};
    give(&p, "src", weight);
    give(&p, "scale", scales);
    give(&p, "zero", zeros);
    set(&p, "axis", "%d", axis);
    return add(m, random, s, &p);
}

static const double scales[] = {0.02, 0.05, 0.11, 0.5};

// A product of bytes, whose bias may be an integer in units of the sum, then an activation between
// bytes of the same scale and zero point, or nearly.
static bool make_product(model *m, test_random *random, const sizes *s)
{
    const tl_dtype dtype = chance(random, 60) ? TL_UINT8 : TL_INT8;
    const int k = PICK(random, 3, 4, 8, 17), n = PICK(random, 1, 3, 4, 5, 16, k, k, k, k);
    const bool is_conv = chance(random, 40);
    int src_dims[] = {s->n > 0 ? s->n : 1, k, 3, 3}, weight_dims[] = {n, k, 1, 1};
    const bool is_turned = !is_conv && chance(random, 35);
    int flat_dims[] = {is_turned ? n : k, is_turned ? k : n};
    const double src_scale = scales[test_random_below(random, 4)], weight_scale = 0.01;
    const double scale = scales[test_random_below(random, 4)];
    const double zero = PICK(random, 0, 10, 100), other = PICK(random, 0, 40, 120);
    leaf l = {.dtype = dtype, .ndim = is_conv ? 4 : 2, .is_input = true, .fill = FILL_INTEGERS};
    memcpy(l.dims, src_dims, sizeof src_dims);
    l.low = tl_dtype_min_double(dtype);
    l.high = tl_dtype_max_double(dtype);
    int x = add_scaled(m, random, s, "dequantize", model_add_leaf(m, random, &l), src_scale,
                       PICK(random, 0, 3, 100), dtype);
    int w = add_constant(m, random, TL_INT8, is_conv ? 4 : 2, is_conv ? weight_dims : flat_dims,
                         -127, 127);
    w = chance(random, 50) ? add_scaled(m, random, s, "dequantize", w, weight_scale, 0, TL_INT32)
                           : add_scaled_columns(m, random, s, w, weight_scale);
    int bias = ABSENT;
    if (chance(random, 60)) {
        const double most = chance(random, 50) ? 2000 : 6e6;
        const double end = chance(random, 50) ? 1 : -1;
        bias = chance(random, 15) // which leave no room for the sum itself in 32 bits
                   ? add_constant(m, random, TL_INT32, 1, &n,
                                  fmin(end * 2147482000.0, end * 2147483000.0),
                                  fmax(end * 2147482000.0, end * 2147483000.0))
                   : add_constant(m, random, TL_INT32, 1, &n, -most, most);
        bias = add_scaled(m, random, s, "dequantize", bias,
                          nearly(random, src_scale * weight_scale, 0.003), 0, TL_INT32);
    }
    if (x < 0 || w < 0)
        return false;
    const bool is_plain = !is_conv && bias < 0 && chance(random, 50);
    preset p = {.optype = is_conv ? "conv" : is_plain ? "matmul" : "linear"};
    p.has_plain_params = true;
    if (is_turned)
        set(&p, "transB", "1");
    give(&p, is_plain ? "src1" : "src", x);
    give(&p, is_plain ? "src2" : "weight", w);
    if (!is_plain)
        give(&p, "bias", bias >= 0 ? bias : ABSENT);
    int y = add(m, random, s, &p);
    if (y >= 0 && chance(random, 20)) { // of the channels, of the rows, or of the columns
        const model_tensor t = m->tensors[y];
        int of[] = {1, 1, 1, 1}, axis = PICK(random, 1, 1, t.ndim - 1, t.ndim - 2);
        of[axis] = t.dims[axis];
        const int skipped = (int)test_random_below(random, (size_t)axis + 1);
        y = add_sum(m, random, y,
                    add_constant(m, random, TL_FLOAT, t.ndim - skipped, of + skipped, -2, 2));
    }
    if (y >= 0)
        y = add_scaled(m, random, s, "quantize", y, scale, zero, dtype);
    for (int i = PICK(random, 1, 1, 2); y >= 0 && i > 0; i--) {
        static const char *const acts[] = {"relu", "relu",    "relu",  "clip",
                                           "clip", "sigmoid", "lrelu", NULL};
        const char *act = acts[test_random_below(random, 8)]; // NULL: what is quantized again
        y = add_scaled(m, random, s, "dequantize", y, nearly(random, scale, 0.07),
                       nearly(random, zero, other), dtype);
        preset a = {.optype = "act", .has_plain_params = true};
        give(&a, "src", y);
        if (act)
            set(&a, "act", "%s", act);
        if (act && strcmp(act, "clip") == 0) {
            set(&a, "alpha", "%d", PICK(random, 0, 0, -1));
            set(&a, "beta", "%d", PICK(random, 1, 3, 6));
        }
        y = y >= 0 && act ? add(m, random, s, &a) : y;
        if (y >= 0)
            y = add_scaled(m, random, s, "quantize", y, nearly(random, scale, 0.07),
                           nearly(random, zero, other), dtype);
    }
    return y >= 0;
}

// Stacks of matrices of bytes, both of which come in the run, broadcast against each other.
static bool make_stack(model *m, test_random *random, const sizes *s)
{
    const tl_dtype dtype = chance(random, 60) ? TL_UINT8 : TL_INT8;
    const int batch[] = {PICK(random, 1, 2, 3), PICK(random, 1, 2, 4)};
    const int k = PICK(random, 1, 3, 4, 8),
              inner[2][2] = {{PICK(random, 1, 2, 5, 7), k}, {k, PICK(random, 1, 3, 4, 16)}};
    int sides[2];
    for (int i = 0; i < 2; i++) {
        leaf l = {.dtype = i == 0 || chance(random, 70) ? dtype : TL_INT8,
                  .ndim = 4,
                  .is_input = i == 0 || chance(random, 80),
                  .fill = FILL_INTEGERS};
        for (int d = 0; d < 4; d++)
            l.dims[d] = d >= 2 ? inner[i][d - 2] : chance(random, 60) ? batch[d] : 1;
        while (l.ndim > 2 && chance(random, 30))
            memmove(l.dims, l.dims + 1, (size_t)--l.ndim * sizeof l.dims[0]);
        l.low = tl_dtype_min_double(l.dtype);
        l.high = tl_dtype_max_double(l.dtype);
        sides[i] =
            add_scaled(m, random, s, "dequantize", model_add_leaf(m, random, &l),
                       scales[test_random_below(random, 4)], PICK(random, 0, 3, 100), l.dtype);
        if (sides[i] < 0)
            return false;
    }
    preset p = {.optype = "matmul", .has_plain_params = true};
    give(&p, "src1", sides[0]);
    give(&p, "src2", sides[1]);
    int y = add(m, random, s, &p);
    if (y >= 0 && chance(random, 30))
        y = add_act(m, random, s, chance(random, 60) ? "relu" : "sigmoid", y);
    if (y >= 0 && chance(random, 80))
        y = add_scaled(m, random, s, "quantize", y, 2, PICK(random, 0, 10, 100), dtype);
    return y >= 0;
}

// ---- Parts of channels ----

static int add_slice(model *m, test_random *random, const sizes *s, int x, int axis, int from,
                     int len)
{
    preset p = {.optype = "slice", .has_plain_params = true};
    give(&p, "src", x);
    set(&p, "axis", "%d", axis);
    set(&p, "start", "%d", from);
    set(&p, "len", "%d", len);
    return add(m, random, s, &p);
}

static int add_concat(model *m, test_random *random, const sizes *s, const int *parts, int count,
                      int axis)
{
    preset p = {.optype = "concat", .has_plain_params = true};
    for (int i = 0; i < count; i++) {
        char name[16];
        snprintf(name, sizeof name, "src%d", i + 1);
        give(&p, name, parts[i]);
    }
    set(&p, "axis", "%d", axis);
    return add(m, random, s, &p);
}

// Windows of channels are read, added and written where they lie in wider images.
static bool make_parts(model *m, test_random *random, const sizes *s)
{
    const int c = PICK(random, 3, 4, 6, 8);
    const int dims[] = {PICK(random, 1, 1, 2), c, PICK(random, 2, 3, 5), PICK(random, 2, 4, c)};
    int x = add_start(m, random, s, 4, dims, true);
    x = x < 0 ? -1 : add_same_conv(m, random, s, x, c, -1, false);
    if (x < 0)
        return false;
    int parts[4] = {-1}, count = 0, from = 0;
    while (from < c && count < 3) {
        const int len =
            count == 2 ? c - from : 1 + (int)test_random_below(random, (size_t)(c - from));
        const int part = add_slice(m, random, s, x, 1, from, len);
        if (part < 0)
            return false;
        int y = part;
        const int of = chance(random, 50) ? x : part; // a window of its own, or the whole
        switch (test_random_below(random, 5)) {
        case 0: y = add_act(m, random, s, "relu", part); break;
        case 1: y = add_same_conv(m, random, s, of, len, -1, false); break;
        case 2: y = add_same_conv(m, random, s, of, len, part, false); break;
        case 3:
            y = add_same_conv(m, random, s, of, len, -1, false);
            y = y < 0 ? -1 : add_sum(m, random, y, part);
            break;
        default: break;
        }
        if (y < 0)
            return false;
        parts[count++] = y;
        from += len;
    }
    // A part that has parts itself, and windows of what is a part already.
    if (count >= 2 && chance(random, 40)) {
        parts[0] = add_concat(m, random, s, parts, 2, 1);
        memmove(parts + 1, parts + 2, (size_t)(count - 2) * sizeof parts[0]);
        count--;
    }
    if (parts[0] >= 0 && count < 4 && chance(random, 50)) {
        const int of = m->tensors[parts[0]].dims[1];
        const int first = (int)test_random_below(random, (size_t)of);
        const int len = 1 + (int)test_random_below(random, (size_t)(of - first));
        const int window = add_slice(m, random, s, parts[0], 1, first, len);
        parts[count] = window < 0           ? -1
                       : chance(random, 40) ? window
                                            : add_same_conv(m, random, s, window, 2, -1, false);
        count++;
    }
    for (int i = 0; i < count; i++)
        if (parts[i] < 0)
            return false;
    if (count < 4 && chance(random, 40))
        parts[count++] = x;
    const int whole = add_concat(m, random, s, parts, count, 1);
    if (whole < 0)
        return false;
    const int outs = m->tensors[whole].dims[1];
    if (chance(random, 70))
        (void)add_same_conv(m, random, s, whole, PICK(random, 1, 3, outs),
                            chance(random, 20) ? whole : -1, false);
    return true;
}

// ---- Images that outgrow the cache ----

// Windows with gaps or steps between them, and other padding on each side.
static int add_uneven_conv(model *m, test_random *random, const sizes *s, int x, int outs,
                           int group)
{
    const int dims[] = {outs, m->tensors[x].dims[1] / group, PICK(random, 1, 2, 3, 3),
                        PICK(random, 1, 2, 3, 3)};
    preset p = {.optype = "conv", .has_plain_params = true};
    give(&p, "src", x);
    give(&p, "weight", add_constant(m, random, TL_FLOAT, 4, dims, -1, 1));
    give(&p, "bias",
         chance(random, 50) ? add_constant(m, random, TL_FLOAT, 1, &outs, -1, 1) : ABSENT);
    give(&p, "addend", ABSENT);
    set(&p, "padding", "[%d, %d, %d, %d]", PICK(random, 0, 1, 2), PICK(random, 0, 1, 2),
        PICK(random, 0, 1, 2), PICK(random, 0, 1, 2));
    if (chance(random, 60))
        set(&p, "dilation", "[%d, %d]", PICK(random, 1, 2, 2), PICK(random, 1, 2, 3));
    if (chance(random, 30))
        set(&p, "stride", "[%d, %d]", PICK(random, 1, 2), PICK(random, 1, 2));
    if (group != 1)
        set(&p, "group", "%d", group);
    if (chance(random, 40))
        set_act(&p, random);
    return add(m, random, s, &p);
}

// A convolution of windows of one element around a depthwise one, on either side or both, with a
// shortcut that may be a window of wider images.
static int add_separable(model *m, test_random *random, const sizes *s, int x, int wide, int outs)
{
    const int source = x;
    if (chance(random, 65))
        x = chance(random, 35) ? add_uneven_conv(m, random, s, x, wide, 1)
                               : add_sized_conv(m, random, s, x, wide, 1, 1, -1);
    if (x < 0)
        return -1;
    wide = m->tensors[x].dims[1];
    x = chance(random, 60) ? add_uneven_conv(m, random, s, x, wide, wide)
                           : add_sized_conv(m, random, s, x, wide, wide, PICK(random, 3, 3, 5), -1);
    if (x < 0 || chance(random, 20))
        return x;
    int addend = -1;
    const model_tensor t = m->tensors[x], from = m->tensors[source];
    if (chance(random, 60) && t.dims[2] == from.dims[2] && t.dims[3] == from.dims[3]) {
        const int of = chance(random, 50) ? outs : outs + 3;
        addend = add_sized_conv(m, random, s, source, of, 1, 1, -1);
        if (addend >= 0 && of > outs)
            addend = add_slice(m, random, s, addend, 1, PICK(random, 0, 1, 3), outs);
    }
    const bool is_operand = chance(random, 50);
    x = add_sized_conv(m, random, s, x, outs, 1, 1, is_operand ? addend : -1);
    return x >= 0 && addend >= 0 && !is_operand ? add_sum(m, random, x, addend) : x;
}

static int add_conv_and_pooling(model *m, test_random *random, const sizes *s, int x, int wide)
{
    x = chance(random, 75) ? add_uneven_conv(m, random, s, x, wide, 1)
                           : add_sized_conv(m, random, s, x, wide, 1, PICK(random, 1, 3), -1);
    return x < 0 ? -1 : add_pooling_of(m, random, s, x, chance(random, 85) ? "max" : "average");
}

// Convolutions around a depthwise one, or before a pooling, with more than a megabyte between them.
static bool make_large(model *m, test_random *random, const sizes *s)
{
    if (chance(random, 85)) // they take long; small ones in a fine grain go the same ways
        return false;
    const int dims[] = {1, PICK(random, 1, 2), PICK(random, 47, 48, 54), PICK(random, 47, 50, 55)};
    const int wide = 128, outs = PICK(random, 2, 5, 9, 16);
    leaf l = {.dtype = TL_FLOAT, .ndim = 4, .is_input = true, .fill = FILL_INTEGERS};
    memcpy(l.dims, dims, sizeof dims);
    l.low = -3;
    l.high = 3;
    m->is_large = true;
    const int x = add_act(m, random, s, "sigmoid", model_add_leaf(m, random, &l));
    if (x < 0)
        return false;
    return (chance(random, 30) ? add_conv_and_pooling(m, random, s, x, wide)
                               : add_separable(m, random, s, x, wide, outs)) >= 0;
}

static bool make_bands(model *m, test_random *random, const sizes *s)
{
    const int dims[] = {PICK(random, 1, 1, 2), PICK(random, 1, 2, 3, 8),
                        PICK(random, 3, 5, 8, 11, 16), PICK(random, 3, 4, 7, 9)};
    m->is_fine = true;
    int x = add_start(m, random, s, 4, dims, true);
    for (int i = PICK(random, 1, 1, 2); i > 0 && x >= 0; i--) {
        const int wide = PICK(random, 4, 8, 16, 24, 32);
        x = chance(random, 50) ? add_conv_and_pooling(m, random, s, x, wide)
                               : add_separable(m, random, s, x, wide, PICK(random, 1, 2, 5, 8, 16));
        if (x >= 0 && m->tensors[x].ndim != 4)
            return true;
    }
    if (x >= 0 && chance(random, 25))
        x = add_any(m, random, s, x);
    return x >= 0;
}

// ---- Quantized elements and moves ----

// What comes between bytes without a product; scales and zero points are the same, or nearly.
static bool make_between_bytes(model *m, test_random *random, const sizes *s)
{
    static const char *const types[] = {"elew",  "elew",      "act",    "reshape",
                                        "slice", "transpose", "concat", "pool"};
    int dims[MODEL_RANK];
    const char *type = types[test_random_below(random, 8)];
    const tl_dtype dtype = chance(random, 50) ? TL_UINT8 : TL_INT8;
    const double scale = scales[test_random_below(random, 4)];
    const double zero = PICK(random, 0, 3, 100);
    const int count = strcmp(type, "concat") == 0 ? PICK(random, 2, 3, 4)
                      : strcmp(type, "elew") == 0 ? 2
                                                  : 1;
    leaf l = {.dtype = dtype, .is_input = true, .fill = FILL_INTEGERS};
    l.ndim = draw_image(random, s, dims);
    memcpy(l.dims, dims, sizeof dims);
    l.low = tl_dtype_min_double(dtype);
    l.high = tl_dtype_max_double(dtype);
    preset p = {.optype = type, .has_plain_params = chance(random, 60)};
    for (int i = 0; i < count; i++) {
        char name[16];
        if (count > 1 && chance(random, 40)) { // of another type than the result
            l.dtype = l.dtype == TL_UINT8 ? TL_INT8 : TL_UINT8;
            l.low = tl_dtype_min_double(l.dtype);
            l.high = tl_dtype_max_double(l.dtype);
        }
        const int x = add_scaled(m, random, s, "dequantize", model_add_leaf(m, random, &l),
                                 nearly(random, scale, 0.07), nearly(random, zero, 20), l.dtype);
        if (x < 0)
            return false;
        snprintf(name, sizeof name, count > 1 ? "src%d" : "src", i + 1);
        give(&p, name, x);
    }
    if (strcmp(type, "concat") == 0)
        set(&p, "axis", "%d", PICK(random, 1, 1, 0, l.ndim - 1));
    if (strcmp(type, "elew") == 0) {
        static const char *const how[] = {"TL_SUM", "TL_SUM", "TL_SUB", "TL_MUL", "TL_MAX"};
        static const char *const acts[] = {"none", "none", "relu", "clip", "sigmoid"};
        const char *act = acts[test_random_below(random, 5)];
        set(&p, "elew_op", "%s", how[test_random_below(random, 5)]);
        set(&p, "act", "%s", act);
        if (strcmp(act, "clip") == 0) {
            set(&p, "alpha", "%d", PICK(random, 0, -1));
            set(&p, "beta", "%d", PICK(random, 1, 3, 6));
        }
    }
    int y = strcmp(type, "pool") == 0 ? add_pooling(m, random, s, p.ins[0].tensor)
                                      : add(m, random, s, &p);
    y = y < 0 ? -1
              : add_scaled(m, random, s, "quantize", y, nearly(random, scale, 0.05),
                           nearly(random, zero, 10), dtype);
    return y >= 0;
}

// A constant of as many numbers as an axis has elements.
static int add_row(model *m, test_random *random, const model_tensor *t, int axis, double low,
                   double high)
{
    int of[MODEL_RANK];
    for (int d = 0; d < t->ndim; d++)
        of[d] = d == axis ? t->dims[d] : 1;
    const int skipped = (int)test_random_below(random, (size_t)axis + 1);
    return add_constant(m, random, TL_FLOAT, t->ndim - skipped, of + skipped, low, high);
}

// Sums of integers, scaled afterwards, with a bias of the channels or of another axis of that size.
static bool make_integer_product(model *m, test_random *random, const sizes *s)
{
    const bool is_conv = chance(random, 55), has_scales = chance(random, 50);
    const int k = PICK(random, 2, 3, 4, 8), n = PICK(random, 2, 3, 4, 5);
    const int size = chance(random, 50) ? n : 3;
    leaf l = {.dtype = chance(random, 60) ? TL_UINT8 : TL_INT8, .is_input = true};
    l.fill = FILL_INTEGERS;
    l.low = tl_dtype_min_double(l.dtype);
    l.high = tl_dtype_max_double(l.dtype);
    l.ndim = is_conv ? 4 : PICK(random, 2, 3);
    const int image[] = {PICK(random, 1, n), k, size, size}, rows[] = {size, size, k};
    memcpy(l.dims, is_conv ? image : rows + (3 - l.ndim), (size_t)l.ndim * sizeof l.dims[0]);
    const int taps = PICK(random, 1, 1, 3 <= size ? 3 : 1);
    const int of_conv[] = {n, k, taps, taps}, of_rows[] = {k, n};
    preset p = {.optype = is_conv ? "quant_conv" : "quant_matmul", .has_plain_params = true};
    const tl_dtype dtype = chance(random, 70) ? TL_INT8 : TL_UINT8;
    give(&p, "src", model_add_leaf(m, random, &l));
    give(&p, "weight",
         add_constant(m, random, dtype, is_conv ? 4 : 2, is_conv ? of_conv : of_rows,
                      dtype == TL_INT8 ? -127 : 0, 127));
    const ln_op_info *info = operator_info(p.optype);
    for (const ln_arg_info *arg = info->ins + 2; arg->arg_name; arg++) {
        const bool is_zero = strstr(arg->arg_name, "zero") && !strstr(arg->arg_name, "dst");
        const bool is_scale = strstr(arg->arg_name, "scale") && !strstr(arg->arg_name, "dst");
        int t = ABSENT;
        const bool is_of_weight = strstr(arg->arg_name, "weight") != NULL;
        if (is_zero && chance(random, 60))
            t = add_number(m, random, is_of_weight ? dtype : l.dtype, PICK(random, 0, 3, 100));
        else if (is_scale && has_scales)
            t = is_of_weight && chance(random, 50)
                    ? add_constant(m, random, TL_FLOAT, 1, &n, 0.01, 0.1)
                    : add_number(m, random, TL_FLOAT, 0.05);
        give(&p, arg->arg_name, t);
    }
    int y = add(m, random, s, &p);
    if (y < 0)
        return false;
    if (m->tensors[y].dtype == TL_INT32) {
        preset cast = {.optype = "cast", .has_plain_params = true};
        give(&cast, "src", y);
        set(&cast, "dtype", "TL_FLOAT");
        y = add(m, random, s, &cast);
        if (y < 0)
            return false;
        const model_tensor t = m->tensors[y];
        const int channels = is_conv ? 1 : t.ndim - 1;
        const int axis = chance(random, 60) ? channels : (int)test_random_below(random, t.ndim);
        int factor = chance(random, 40) ? add_number(m, random, TL_FLOAT, 0.02)
                                        : add_row(m, random, &t, axis, 0.01, 0.1);
        preset of = {.optype = "elew", .has_plain_params = true};
        give(&of, "src1", add_number(m, random, TL_FLOAT, 0.05));
        give(&of, "src2", factor);
        set(&of, "elew_op", "TL_MUL");
        factor = add(m, random, s, &of);
        preset scaled = of;
        scaled.ins[0].tensor = y;
        scaled.ins[1].tensor = factor;
        y = factor < 0 ? -1 : add(m, random, s, &scaled);
        if (y < 0)
            return false;
    }
    if (m->tensors[y].dtype == TL_FLOAT && chance(random, 75)) {
        const model_tensor t = m->tensors[y];
        const int axis = chance(random, 50) ? (is_conv ? 1 : t.ndim - 1)
                                            : (int)test_random_below(random, (size_t)t.ndim);
        y = add_sum(m, random, y, add_row(m, random, &t, axis, -2, 2));
    }
    if (y >= 0 && chance(random, 50))
        y = add_act(m, random, s, chance(random, 60) ? "relu" : "sigmoid", y);
    if (y >= 0 && m->tensors[y].dtype == TL_FLOAT && chance(random, 40))
        y = add_scaled(m, random, s, "quantize", y, 0.1, PICK(random, 0, 10, 100), l.dtype);
    return y >= 0;
}

// ---- Constants of some axes ----

// The operand broadcasts to `t`: over leading axes that it has not, and over any others.
static int add_some_axes(model *m, test_random *random, const model_tensor *t)
{
    leaf l = {.dtype = TL_FLOAT, .ndim = t->ndim};
    const int only = t->ndim && chance(random, 50) ? (int)test_random_below(random, t->ndim) : -1;
    for (int d = 0; d < t->ndim; d++)
        l.dims[d] = (only < 0 ? chance(random, 50) : d == only) ? t->dims[d] : 1;
    while (l.ndim > 0 && l.dims[0] == 1 && chance(random, 50))
        memmove(l.dims, l.dims + 1, (size_t)--l.ndim * sizeof l.dims[0]);
    switch (test_random_below(random, 8)) {
    case 0: // products of two such are out of range
        l.fill = FILL_POWERS;
        l.low = PICK(random, -30, -25, 22, 27);
        l.high = l.low + 3;
        break;
    case 1: // anywhere
        l.fill = FILL_POWERS;
        l.low = -30;
        l.high = 30;
        break;
    case 2:
        l.fill = FILL_HALVES;
        l.low = -3;
        l.high = 3;
        break;
    case 3: // the same number everywhere
        l.fill = FILL_SAME;
        l.low = PICK(random, 0, 1, -1, -2, 3);
        l.low = chance(random, 50) ? l.low / 2 : l.low;
        break;
    case 4: // negative factors
        l.low = -3;
        l.high = -0.5;
        break;
    default: l.low = -2; l.high = 2;
    }
    return model_add_leaf(m, random, &l);
}

static int add_elew(model *m, test_random *random, const char *how, int a, int b)
{
    model_op *op = model_add_op(m, "elew");
    model_op_add_in(m, op, "src1", a);
    model_op_add_in(m, op, "src2", b);
    model_op_set_param(m, op, "elew_op", how);
    if (chance(random, 15))
        model_op_set_param(m, op, "act", chance(random, 70) ? "relu" : "sigmoid");
    const int y = model_op_add_out(m, op, "dst");
    return model_check(m) ? y : -1;
}

// Something is computed, and sums, differences, products and quotients with constants follow, which
// rules join with one another and with what is before them.
static bool make_some_axes(model *m, test_random *random, const sizes *s)
{
    static const char *const before[] = {"conv",      "conv",      "conv",      "deconv",
                                         "linear",    "linear",    "matmul",    "batchnorm",
                                         "layernorm", "groupnorm", "transpose", "act"};
    static const char *const hows[] = {"TL_MUL", "TL_MUL", "TL_SUM", "TL_SUM",
                                       "TL_SUB", "TL_DIV", "TL_MAX", "TL_MIN"};
    sizes of = *s;
    if (chance(random, 60)) // an axis is as long as others
        of.h = of.w = of.k = of.c;
    preset p = {.optype = before[test_random_below(random, 12)], .has_plain_params = true};
    int x = add(m, random, &of, &p);
    if (x < 0 || m->tensors[x].dtype != TL_FLOAT)
        return false;
    for (int i = PICK(random, 1, 2, 2, 3, 3, 4); x >= 0 && i > 0; i--) {
        const model_tensor t = m->tensors[x];
        const int c = add_some_axes(m, random, &t);
        const bool is_second = chance(random, 25);
        x = c < 0 ? -1
                  : add_elew(m, random, hows[test_random_below(random, 8)], is_second ? c : x,
                             is_second ? x : c);
    }
    if (x >= 0 && chance(random, 30))
        x = add_act(m, random, s, "relu", x);
    else if (x >= 0 && chance(random, 40))
        (void)add_any(m, random, s, x);
    return x >= 0;
}

// ---- Axes of equal lengths ----

// Numbers for one axis of what a convolution has made, whose axes are all as long: which one they
// are for is said by the place of the axis alone.
static bool make_equal_axes(model *m, test_random *random, const sizes *s)
{
    const int rank = PICK(random, 3, 4, 4, 5), size = PICK(random, 2, 3, 4, 5);
    int dims[MODEL_RANK], of[MODEL_RANK];
    for (int d = 0; d < rank; d++)
        dims[d] = d == 0 && chance(random, 50) ? 1 : size;
    int x = add_start(m, random, s, rank, dims, true);
    x = x < 0 ? -1 : add_same_conv(m, random, s, x, size, -1, false);
    for (int i = PICK(random, 1, 1, 2); x >= 0 && i > 0; i--) {
        const int axis = (int)test_random_below(random, (size_t)rank);
        for (int d = 0; d < rank; d++)
            of[d] = d == axis ? m->tensors[x].dims[d] : 1;
        const int skipped = (int)test_random_below(random, (size_t)axis + 1); // leading ones
        const int c = add_constant(m, random, TL_FLOAT, rank - skipped, of + skipped, 0.5, 2);
        x = add_elew(m, random, WORD(random, "TL_SUM", "TL_SUB", "TL_MUL", "TL_DIV"), x, c);
    }
    return x >= 0;
}

// As many elements as a part of a whole has, from the beginning of a part or from elsewhere.
static bool make_slices_of_wholes(model *m, test_random *random, const sizes *s)
{
    const int rank = PICK(random, 2, 3, 4), axis = (int)test_random_below(random, (size_t)rank);
    int dims[MODEL_RANK], parts[3], total = 0, lens[3];
    for (int d = 0; d < rank; d++)
        dims[d] = PICK(random, 1, 2, 3);
    for (int i = 0; i < 3; i++) {
        dims[axis] = lens[i] = PICK(random, 1, 2, 2, 3);
        parts[i] = add_start(m, random, s, rank, dims, true);
        total += lens[i];
    }
    const int whole = add_concat(m, random, s, parts, 3, axis);
    if (whole < 0)
        return false;
    for (int i = PICK(random, 1, 2); i > 0; i--) {
        const int len = lens[test_random_below(random, 3)];
        const int first = (int)test_random_below(random, (size_t)(total - len) + 1);
        const int x = add_slice(m, random, s, whole, axis, first, len);
        if (x < 0 || add_act(m, random, s, "tanh", x) < 0)
            return false;
    }
    return true;
}

// ---- Ties ----

// Numbers in the middle between two integers become integers, by every way that rounds.
static bool make_ties(model *m, test_random *random, const sizes *s)
{
    int dims[MODEL_RANK];
    const tl_dtype dtype = chance(random, 50) ? TL_UINT8 : TL_INT8;
    leaf l = {.dtype = TL_FLOAT, .is_input = true, .fill = FILL_HALVES, .low = -130, .high = 130};
    l.ndim = draw_image(random, s, dims);
    memcpy(l.dims, dims, sizeof dims);
    if (chance(random, 60))
        l.low = -5, l.high = 5;
    int x = model_add_leaf(m, random, &l);
    static const double powers[] = {1, 1, 0.5, 2, 0.25, -1};
    const double scale = powers[test_random_below(random, 6)];
    const double zero = PICK(random, 0, 0, 1, 3, 100);
    for (int i = PICK(random, 0, 1, 1, 2); x >= 0 && i > 0; i--) {
        static const char *const hows[] = {"TL_SUM", "TL_SUB", "TL_MUL", "TL_MAX"};
        static const double by[] = {0.5, 1, 2, -1, 3, -0.5};
        x = add_elew(m, random, hows[test_random_below(random, 4)], x,
                     add_number(m, random, TL_FLOAT, by[test_random_below(random, 6)]));
    }
    if (x >= 0 && chance(random, 30)) {
        preset p = {.optype = "func", .has_plain_params = true};
        give(&p, "src", x);
        set(&p, "func", "%s", WORD(random, "round", "floor", "ceil"));
        x = add(m, random, s, &p);
    }
    if (x >= 0 && chance(random, 75))
        x = add_scaled(m, random, s, "quantize", x, scale, zero, dtype);
    if (x >= 0 && m->tensors[x].dtype == dtype && chance(random, 60)) {
        x = add_scaled(m, random, s, "dequantize", x, scale, zero, dtype);
        if (x >= 0 && chance(random, 60))
            x = add_scaled(m, random, s, "quantize", x, 2 * scale, zero, dtype);
    } else if (x >= 0 && chance(random, 50)) {
        preset p = {.optype = "cast", .has_plain_params = true};
        give(&p, "src", x);
        set(&p, "dtype", "%s", WORD(random, "TL_INT32", "TL_INT8", "TL_UINT8", "TL_FLOAT16"));
        x = add(m, random, s, &p);
    }
    return x >= 0 && m->op_count > 1;
}

// ---- Signs of zeros ----

// An operator that rounds nothing, so that the sign of a zero that comes out is known; of a tensor
// of numbers near zero. `other`: another one of the same shape.
static int add_without_rounding(model *m, test_random *random, const sizes *s, int x, int other)
{
    static const double bounds[] = {0, 0, -0.0, -0.0, 1, -1, 0.5, NAN};
    const tl_dtype dtype = m->tensors[x].dtype;
    const double low = bounds[test_random_below(random, 8)];
    const double high = bounds[test_random_below(random, 8)];
    preset p = {.optype = "act", .has_plain_params = true};
    switch (test_random_below(random, 8)) {
    case 0:
    case 1:
        give(&p, "src", x);
        set(&p, "act", "%s",
            WORD(random, "relu", "clip", "clip", "abs", "neg", "lrelu", "hard_swish"));
        set(&p, "alpha", "%g", isnan(low) || low > 0 ? 0 : low);
        set(&p, "beta", "%g", isnan(high) || high < 0 ? 1 : high);
        return add(m, random, s, &p);
    case 2:
    case 3:
        p.optype = "Clip";
        give(&p, "input", x);
        give(&p, "min", chance(random, 25) ? ABSENT : add_number(m, random, dtype, low));
        give(&p, "max", chance(random, 25) ? ABSENT : add_number(m, random, dtype, high));
        return add(m, random, s, &p);
    case 4:
    case 5:
    case 6: {
        const int y = chance(random, 40) ? other : add_number(m, random, dtype, low);
        const bool is_first = chance(random, 50);
        return add_elew(m, random, WORD(random, "TL_MAX", "TL_MIN", "TL_MUL", "TL_SUM", "TL_SUB"),
                        is_first ? x : y, is_first ? y : x);
    }
    default:
        p.optype = WORD(random, "transpose", "reshape", "reverse", "slice", "relu");
        give(&p, "src", x);
        return add(m, random, s, &p);
    }
}

// A reciprocal shows signs of zeros; those of halves become floats before, as an infinite half may
// be a number elsewhere.
static bool make_zeros(model *m, test_random *random, const sizes *s)
{
    static const tl_dtype dtypes[] = {TL_FLOAT, TL_FLOAT, TL_FLOAT16, TL_BFLOAT16, TL_DOUBLE};
    leaf l = {.dtype = dtypes[test_random_below(random, 5)], .is_input = true, .fill = FILL_ZEROS};
    l.ndim = draw_image(random, s, l.dims);
    int x = model_add_leaf(m, random, &l);
    l.is_input = chance(random, 50);
    const int other = model_add_leaf(m, random, &l);
    for (int i = PICK(random, 1, 1, 2, 3); x >= 0 && i > 0; i--)
        if (model_element_count(&m->tensors[x]) == model_element_count(&m->tensors[other]))
            x = add_without_rounding(m, random, s, x, other);
    if (x < 0 || m->op_count < 2)
        return false;
    if (m->tensors[x].dtype != TL_FLOAT) {
        preset p = {.optype = "cast", .has_plain_params = true};
        give(&p, "src", x);
        set(&p, "dtype", "TL_FLOAT");
        x = add(m, random, s, &p);
    }
    preset p = {.optype = "func", .has_plain_params = true};
    give(&p, "src", x);
    set(&p, "func", "reciprocal");
    return x >= 0 && add(m, random, s, &p) >= 0;
}

// ---- Long tensors ----

// So many elements that several threads share the work, the largest of which come last.
static bool make_long(model *m, test_random *random, const sizes *s)
{
    static const char *const types[] = {"quantize_dynamic", "quantize", "dequantize", "act",
                                        "reduce",           "softmax",  "elew",       "cumsum",
                                        "transpose",        "concat",   "layernorm",  "topk"};
    if (chance(random, 85)) // they take long; small ones in a fine grain go the same ways
        return false;
    const int rows = PICK(random, 701, 1024, 1400), columns = PICK(random, 64, 100);
    const double high = PICK(random, 3, -3);
    leaf low = {.dtype = TL_FLOAT, .ndim = 2, .dims = {rows, 1}, .is_input = true, .high = 1};
    m->is_large = true;
    const int a = model_add_leaf(m, random, &low);
    const int b = add_constant(m, random, TL_FLOAT, 2, (int[]){1, columns}, -1, 1);
    const int last = add_constant(m, random, TL_FLOAT, 2, (int[]){1, columns}, high, 2 * high);
    const int sum = add_sum(m, random, a, b);
    preset join = {.optype = "concat", .has_plain_params = true};
    give(&join, "src1", sum);
    give(&join, "src2", last);
    set(&join, "axis", "0");
    int x = sum < 0 || last < 0 ? -1 : add(m, random, s, &join);
    const char *type = types[test_random_below(random, sizeof types / sizeof types[0])];
    if (x >= 0 && strcmp(type, "dequantize") == 0)
        x = add_scaled(m, random, s, "quantize", x, 0.05, 3, TL_UINT8);
    preset p = {.optype = type, .has_plain_params = true};
    give(&p, strcmp(type, "elew") == 0 || strcmp(type, "concat") == 0 ? "src1" : "src", x);
    return x >= 0 && add(m, random, s, &p) >= 0;
}

// ---- What follows a product ----

static int add_any_act(model *m, test_random *random, const sizes *s, int x)
{
    preset p = {.optype = "act", .has_plain_params = false, .is_drawn = true};
    give(&p, "src", x);
    set(&p, "act", "%s", "");
    return x < 0 ? -1 : add(m, random, s, &p);
}

// A product or a convolution, any activation and a shortcut, in any order, which kernels compute
// with the sums; columns are full vectors, or not.
static bool make_epilogue(model *m, test_random *random, const sizes *s)
{
    const int n = PICK(random, 1, 3, 7, 16, 17, 32, 35), k = PICK(random, 1, 3, 8, 16),
              rows = PICK(random, 1, 2, 5, 9);
    const bool is_conv = chance(random, 50);
    const int flat[] = {rows, k}, image[] = {1, k, PICK(random, 3, 5, 8), PICK(random, 3, 4, 9)};
    const int x = add_start(m, random, s, is_conv ? 4 : 2, is_conv ? image : flat, true);
    int y = -1;
    if (x >= 0 && is_conv) {
        const int group = chance(random, 25) ? k : 1;
        y = add_sized_conv(m, random, s, x, group > 1 ? k : n, group, PICK(random, 1, 3, 3), -1);
    } else if (x >= 0) {
        preset p = {.optype = "linear", .has_plain_params = true};
        give(&p, "src", x);
        give(&p, "weight", add_constant(m, random, TL_FLOAT, 2, (int[]){k, n}, -1, 1));
        give(&p, "bias",
             chance(random, 50) ? add_constant(m, random, TL_FLOAT, 1, &n, -1, 1) : ABSENT);
        give(&p, "addend", ABSENT);
        y = add(m, random, s, &p);
    }
    const bool is_first = chance(random, 50);
    y = is_first && y >= 0 ? add_any_act(m, random, s, y) : y;
    if (y >= 0 && chance(random, 75)) {
        const model_tensor t = m->tensors[y];
        y = add_sum(m, random, y, add_start(m, random, s, t.ndim, t.dims, true));
    }
    y = !is_first && y >= 0 ? add_any_act(m, random, s, y) : y;
    return y >= 0;
}

// ---- Equal operators, or nearly ----

// The same operator twice, the second mostly with operands in another order: equal ones become one.
static bool make_twins(model *m, test_random *random, const sizes *s)
{
    static const char *const hows[] = {"TL_SUB", "TL_DIV", "TL_SUM", "TL_MUL", "TL_MAX"};
    const int size = PICK(random, 2, 3, 4), dims[] = {size, size};
    const int a = add_start(m, random, s, 2, dims, true);
    const int b = add_start(m, random, s, 2, dims, true);
    const bool is_elew = chance(random, 50);
    const char *how = hows[test_random_below(random, 5)], *type = WORD(random, "matmul", "compare");
    for (int i = 0; i < 2; i++) {
        const bool is_turned = i == 1 && chance(random, 60);
        preset p = {.optype = is_elew ? "elew" : type, .has_plain_params = chance(random, 70)};
        give(&p, "src1", is_turned ? b : a);
        give(&p, "src2", is_turned ? a : b);
        if (is_elew)
            set(&p, "elew_op", "%s", how);
        if (a < 0 || b < 0 || add(m, random, s, &p) < 0)
            return false;
    }
    return true;
}

// ---- Casts ----

static int add_cast(model *m, test_random *random, const sizes *s, int x, tl_dtype dtype)
{
    preset p = {.optype = "cast", .has_plain_params = true};
    give(&p, "src", x);
    set(&p, "to", "%s", tl_dtype_name(dtype));
    return x < 0 ? -1 : add(m, random, s, &p);
}

// Numbers that halves round, to halves and back, with what rounds nothing between: casts are
// roundings that the model states.
static bool make_casts(model *m, test_random *random, const sizes *s)
{
    static const tl_dtype dtypes[] = {TL_INT16, TL_INT32, TL_UINT16, TL_INT8,
                                      TL_UINT8, TL_FLOAT, TL_DOUBLE, TL_INT64};
    static const char *const moves[] = {"neg", "abs", "relu"};
    const tl_dtype from = dtypes[test_random_below(random, 8)];
    leaf l = {.dtype = from, .ndim = 2, .dims = {PICK(random, 2, 3, 4), PICK(random, 3, 5)}};
    l.is_input = true;
    l.fill = from == TL_FLOAT || from == TL_DOUBLE ? FILL_UNIFORM : FILL_INTEGERS;
    l.high = fmin(tl_dtype_max_double(from), PICK(random, 300, 5000, 30000));
    l.low = fmax(tl_dtype_min_double(from), -l.high);
    int x = model_add_leaf(m, random, &l);
    for (int i = PICK(random, 1, 2, 3); i > 0 && x >= 0; i--) {
        x = add_cast(m, random, s, x, chance(random, 50) ? TL_FLOAT16 : TL_BFLOAT16);
        if (x >= 0 && chance(random, 30)) // from one to the other
            x = add_cast(m, random, s, x, chance(random, 50) ? TL_FLOAT16 : TL_BFLOAT16);
        if (x >= 0 && chance(random, 60))
            x = add_act(m, random, s, moves[test_random_below(random, 3)], x);
        x = add_cast(m, random, s, x,
                     chance(random, 50) ? from : dtypes[test_random_below(random, 8)]);
    }
    m->is_exact = true;
    return x >= 0;
}

// ---- Windows of one element ----

// As many of them as there are elements, some of which may be over padding, as steps between them
// are longer.
static bool make_windows_of_one(model *m, test_random *random, const sizes *s)
{
    const int n = PICK(random, 1, 2), c = PICK(random, 1, 2, 3);
    const int dims[4] = {n, c, PICK(random, 1, 2, 3, 4), PICK(random, 1, 2, 3)};
    int stride[2], padding[4];
    for (int i = 0; i < 2; i++) {
        stride[i] = PICK(random, 1, 2, 2, 3);
        const int sum =
            (stride[i] - 1) * (dims[2 + i] - 1) + (int)test_random_below(random, (size_t)stride[i]);
        padding[i] = (int)test_random_below(random, (size_t)sum + 1);
        padding[2 + i] = sum - padding[i];
    }
    const int x = add_start(m, random, s, 4, dims, true);
    preset p = {.optype = chance(random, 65) ? "pool" : "conv", .has_plain_params = true};
    give(&p, "src", x);
    if (p.optype[0] == 'p') {
        set(&p, "kind", "%s", chance(random, 70) ? "max" : "average");
        set(&p, "size", "[1, 1]");
    } else
        give(&p, "weight", add_constant(m, random, TL_FLOAT, 4, (int[]){c, c, 1, 1}, -1, 1));
    set(&p, "stride", "[%d, %d]", stride[0], stride[1]);
    set(&p, "padding", "[%d, %d, %d, %d]", padding[0], padding[1], padding[2], padding[3]);
    const int y = x >= 0 ? add(m, random, s, &p) : -1;
    return y >= 0 && (chance(random, 50) || add_act(m, random, s, "relu", y) >= 0);
}

// ---- Attention in steps ----

static int add_turned(model *m, test_random *random, const sizes *s, int x, const int *axes)
{
    preset p = {.optype = "transpose", .has_plain_params = true};
    give(&p, "src", x);
    set(&p, "axes", "[%d, %d, %d, %d]", axes[0], axes[1], axes[2], axes[3]);
    return x < 0 ? -1 : add(m, random, s, &p);
}

static int add_matmul(model *m, test_random *random, const sizes *s, int a, int b)
{
    preset p = {.optype = "matmul", .has_plain_params = true};
    give(&p, "src1", a);
    give(&p, "src2", b);
    return a < 0 || b < 0 ? -1 : add(m, random, s, &p);
}

// As many places as elements, mostly, so that keys in the wrong order have the right shape.
static bool make_attention(model *m, test_random *random, const sizes *s)
{
    static const int swap[] = {0, 2, 1, 3};
    const int n = PICK(random, 2, 3, 4), e = chance(random, 70) ? n : PICK(random, 2, 3, 5);
    const int h = chance(random, 40) ? n : PICK(random, 1, 2), b = PICK(random, 1, 1, 2, n);
    const bool is_of_tokens = chance(random, 40);
    const int heads[] = {b, h, n, e}, tokens[] = {b, n, h, e};
    int x[3], axes[] = {0, is_of_tokens ? 2 : 1, 3, is_of_tokens ? 1 : 2};
    for (int i = 0; i < 3; i++)
        x[i] = add_start(m, random, s, 4, is_of_tokens ? tokens : heads, true);
    if (chance(random, 25)) {
        const int i = PICK(random, 0, 1, 2, 3), k = PICK(random, 1, 2, 3), kept = axes[i];
        axes[i] = axes[k];
        axes[k] = kept;
    }
    const int q = is_of_tokens ? add_turned(m, random, s, x[0], swap) : x[0];
    const int v = is_of_tokens ? add_turned(m, random, s, x[2], swap) : x[2];
    int y = add_matmul(m, random, s, q, add_turned(m, random, s, x[1], axes));
    if (y >= 0 && chance(random, 50))
        y = add_elew(m, random, chance(random, 50) ? "TL_MUL" : "TL_DIV", y,
                     add_number(m, random, TL_FLOAT, PICK(random, 2, 3)));
    if (y >= 0 && chance(random, 40)) {
        const int of[] = {PICK(random, 1, b), PICK(random, 1, h), PICK(random, 1, n), n};
        const int skipped = PICK(random, 0, 0, 1, 2);
        y = add_sum(m, random, y,
                    add_constant(m, random, TL_FLOAT, 4 - skipped, of + skipped, -3, 3));
    }
    preset p = {.optype = "softmax", .has_plain_params = true};
    give(&p, "src", y);
    set(&p, "axis", "%d", PICK(random, -1, -1, 3, 3, 2));
    y = y < 0 ? -1 : add(m, random, s, &p);
    y = add_matmul(m, random, s, y, v);
    if (y >= 0 && is_of_tokens && m->tensors[y].ndim == 4)
        y = add_turned(m, random, s, y, swap);
    return y >= 0;
}

// ---- The table ----

static const struct {
    const char *name;
    bool (*make)(model *m, test_random *random, const sizes *s);
    size_t turns; // in a round
} directed[] = {
    {"a pooling after a convolution", make_pooling, 1},
    {"a pad after a convolution", make_pad, 1},
    {"a pad before a convolution", make_pad_before, 1},
    {"slopes after a convolution", make_prelu, 1},
    {"scales of an axis after a convolution", make_quantize, 1},
    {"an operator after a convolution", make_any, 1},
    {"sums and means after a convolution", make_reduce, 1},
    {"an operand of fewer axes after a convolution", make_fewer_axes, 1},
    {"a convolution with its source as addend", make_residual, 1},
    {"a convolution and a sum with its source", make_residual, 1},
    {"operators on constants", make_constants, 1},
    {"an operator in place", make_in_place, 1},
    {"orders of axes", make_transposes, 1},
    {"exchanged parts of axes", make_exchange, 1},
    {"a quantized product", make_product, 3},
    {"stacks of products of bytes", make_stack, 1},
    {"parts of channels", make_parts, 1},
    {"an image that outgrows the cache", make_large, 1},
    {"an image that goes in bands", make_bands, 4},
    {"elements and moves between bytes", make_between_bytes, 2},
    {"a product of integers", make_integer_product, 1},
    {"constants of some axes", make_some_axes, 1},
    {"axes of equal lengths", make_equal_axes, 1},
    {"slices of wholes", make_slices_of_wholes, 1},
    {"numbers between integers", make_ties, 1},
    {"signs of zeros", make_zeros, 1},
    {"windows of one element", make_windows_of_one, 1},
    {"a long tensor", make_long, 1},
    {"a resize after a convolution", make_resize, 1},
    {"casts to halves", make_casts, 1},
    {"what follows a product", make_epilogue, 1},
    {"equal operators", make_twins, 1},
    {"attention in steps", make_attention, 1},
};

size_t directed_count(void)
{
    return sizeof directed / sizeof directed[0];
}

size_t directed_turn(uint64_t number)
{
    size_t round = 0, index = 0;
    for (size_t i = 0; i < directed_count(); i++)
        round += directed[i].turns;
    for (uint64_t at = number % round; at >= directed[index].turns; index++)
        at -= directed[index].turns;
    return index;
}

const char *directed_name(size_t index)
{
    return directed[index].name;
}

bool directed_make(model *m, test_random *random, const sizes *s, size_t index)
{
    sizes plain = *s;
    plain.dtype = TL_FLOAT;
    plain.has_extremes = false;
    snprintf(m->origin, sizeof m->origin, "%s", directed[index].name);
    return directed[index].make(m, random, &plain) && !m->is_overflown;
}
