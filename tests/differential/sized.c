// SPDX-License-Identifier: Apache-2.0
// Builds each form from an input whose dimensions differ, so that each may become dynamic alone.

#include "tests/differential/sized.h"

#include <string.h>

#include "tests/differential/draw.h"

int sized_add(model *m, const char *optype, const char *const *args, const int *ins, int count,
              const char *out)
{
    model_op *op = model_add_op(m, optype);
    if (!op)
        return -1;
    for (int i = 0; i < count; i++)
        model_op_add_in(m, op, args[i], ins[i]);
    return model_op_add_out(m, op, out);
}

int sized_numbers(model *m, test_random *random, const int *numbers, int count)
{
    char data[200] = "[";
    leaf l = {.dtype = TL_INT64, .ndim = 1, .dims = {count}, .fill = FILL_SAME};
    int t = model_add_leaf(m, random, &l);
    for (int i = 0; i < count; i++) {
        size_t used = strlen(data);
        snprintf(data + used, sizeof data - used, "%s%d", i ? ", " : "", numbers[i]);
    }
    strcat(data, "]");
    if (t >= 0) {
        model_op *op = &m->ops[model_maker(m, t)];
        model_op_set_param(m, op, "data", data);
        model_op_drop_param(op, "ran");
    }
    return t;
}

// ---- Operators ----

#define ADD(m, optype, out, args, ...)                                                             \
    sized_add(m, optype, (const char *const[])args, (const int[]){__VA_ARGS__},                    \
              (int)(sizeof((const int[]){__VA_ARGS__}) / sizeof(int)), out)
#define ARGS(...)                                                                                  \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static model_op *last(model *m)
{
    return &m->ops[m->op_count - 1];
}

static void set(model *m, const char *arg_name, const char *value)
{
    model_op_set_param(m, last(m), arg_name, value);
}

static void set_number(model *m, const char *arg_name, int number)
{
    char text[16];
    snprintf(text, sizeof text, "%d", number);
    set(m, arg_name, text);
}

static void set_pair(model *m, const char *arg_name, int a, int b)
{
    char text[40];
    snprintf(text, sizeof text, "[%d, %d]", a, b);
    set(m, arg_name, text);
}

static int number(model *m, test_random *random, int n)
{
    return sized_numbers(m, random, &n, 1);
}

// Of rank 0.
static int scalar(model *m, test_random *random, tl_dtype dtype, double n)
{
    leaf l = {.dtype = dtype, .fill = FILL_SAME, .low = n, .high = n};
    return model_add_leaf(m, random, &l);
}

static int act(model *m, test_random *random, int x)
{
    const int y = ADD(m, "act", "dst", ARGS("src"), x);
    set(m, "act", WORD(random, "tanh", "abs", "relu", "sigmoid"));
    return y;
}

static int elew(model *m, const char *how, int a, int b)
{
    const int y = ADD(m, "elew", "dst", ARGS("src1", "src2"), a, b);
    set(m, "elew_op", how);
    return y;
}

static int reshape(model *m, int x, int shape)
{
    return ADD(m, "Reshape", "reshaped", ARGS("data", "shape"), x, shape);
}

static int shape_of(model *m, int x)
{
    return ADD(m, "Shape", "shape", ARGS("data"), x);
}

// One dimension, as a row of one element.
static int part(model *m, test_random *random, int shape, int axis)
{
    return ADD(m, "Gather", "output", ARGS("data", "indices"), shape, number(m, random, axis));
}

static int calc(model *m, const char *optype, int a, int b)
{
    return ADD(m, optype, "C", ARGS("A", "B"), a, b);
}

static int joined(model *m, const int *parts, int count)
{
    static const char *const names[] = {"inputs1", "inputs2", "inputs3",
                                        "inputs4", "inputs5", "inputs6"};
    const int y = sized_add(m, "Concat", names, parts, count, "concat_result");
    set(m, "axis", "0");
    return y;
}

// A dimension, or a part, a multiple or a product of it.
static int derived(model *m, test_random *random, int shape, int rank)
{
    const int axis = (int)test_random_below(random, (size_t)rank);
    const int a = part(m, random, shape, axis);
    switch (test_random_below(random, 6)) {
    case 0: return calc(m, "Div", a, number(m, random, 2));
    case 1: return calc(m, "Sub", a, number(m, random, 1));
    case 2: return calc(m, "Mul", a, number(m, random, PICK(random, 2, 3)));
    case 3: return calc(m, "Mul", a, part(m, random, shape, (axis + 1) % rank));
    case 4: return calc(m, "Add", a, part(m, random, shape, (axis + 1) % rank));
    default: return a;
    }
}

// An input of four dimensions from 2 on, all different but now and then, and its shape. `is_image`:
// with those of windows alone dynamic, mostly.
static int start(model *m, test_random *random, bool is_image, int *out_shape)
{
    leaf l = {.dtype = TL_FLOAT, .ndim = 4, .is_input = true, .low = -2, .high = 2};
    int candidates[] = {2, 3, 4, 5, 6, 7, 8};
    for (int d = 0; d < 4; d++) {
        const int at = d + (int)test_random_below(random, (size_t)(7 - d));
        l.dims[d] = candidates[at];
        candidates[at] = candidates[d];
    }
    if (chance(random, 15))
        l.dims[3] = l.dims[2];
    if (is_image && chance(random, 60))
        l.dims[0] = l.dims[1] = 1;
    const int x = act(m, random, model_add_leaf(m, random, &l));
    *out_shape = shape_of(m, x);
    return x;
}

// What reads the result: something with weights, or that is rewritten with its neighbour.
static int follow(model *m, test_random *random, const sizes *s, int x)
{
    if (x < 0 || m->is_overflown || !model_check(m))
        return -1;
    static const char *const types[] = {"linear", "softmax", "elew",      "matmul", "layernorm",
                                        "reduce", "act",     "transpose", "concat", "conv"};
    if (chance(random, 35))
        return x;
    preset p = {.optype = types[test_random_below(random, 10)], .in_count = 1};
    const ln_op_info *info = operator_info(p.optype);
    snprintf(p.ins[0].arg_name, MODEL_NAME,
             info->ins[0].flags & LN_ARG_VARIADIC ? "%.50s1" : "%.50s", info->ins[0].arg_name);
    p.ins[0].tensor = x;
    p.has_plain_params = chance(random, 50);
    (void)operator_add(m, random, s, &p, NULL);
    return x;
}

// ---- Forms ----

// Two dimensions become one, or one becomes two, and back.
static int make_reshape(model *m, test_random *random, int x, int shape)
{
    const int at = (int)test_random_below(random, 3);
    const bool is_rest = chance(random, 40); // -1 for one of them
    int dims[5], count = 0;
    for (int d = 0; d < 4; d++) {
        const int size = part(m, random, shape, d);
        if (d == at && chance(random, 70))
            dims[count++] = calc(m, "Mul", size, part(m, random, shape, ++d));
        else if (d == at) {
            dims[count++] = calc(m, "Div", size, number(m, random, 2));
            dims[count++] = number(m, random, 2);
        } else
            dims[count++] = size;
    }
    if (is_rest)
        dims[test_random_below(random, (size_t)count)] = number(m, random, -1);
    const int y = reshape(m, x, joined(m, dims, count));
    return chance(random, 40) ? elew(m, "TL_SUM", reshape(m, act(m, random, y), shape), x) : y;
}

static int make_slice(model *m, test_random *random, int x, int shape)
{
    const int axis = (int)test_random_below(random, 4);
    const int size = part(m, random, shape, axis),
              half = calc(m, "Div", size, number(m, random, 2));
    const int one = number(m, random, 1), zero = number(m, random, 0);
    int begin = zero, end = half;
    switch (test_random_below(random, 4)) {
    case 0: begin = half, end = size; break;
    case 1: end = calc(m, "Sub", size, one); break;
    case 2: begin = one, end = derived(m, random, shape, 4); break;
    default: break;
    }
    const int y = ADD(m, "Slice", "output", ARGS("data", "starts", "ends", "axes"), x, begin, end,
                      number(m, random, axis));
    return chance(random, 50) ? act(m, random, y) : y;
}

static int make_expand(model *m, test_random *random, int x, int shape)
{
    const int a = (int)test_random_below(random, 3);
    int dims[4], own[4];
    leaf l = {.dtype = TL_FLOAT, .ndim = 4, .dims = {1, 1, 1, 1}, .low = -2, .high = 2};
    if (chance(random, 50))
        l.dims[3] = m->tensors[x].dims[3];
    for (int d = 0; d < 4; d++)
        dims[d] = own[d] = part(m, random, shape, d);
    if (chance(random, 60)) { // of a product, and a view of as many elements
        dims[a] = calc(m, "Mul", own[a], own[a + 1]);
        dims[a + 1] = number(m, random, 1);
        l.dims[3] = a == 2 ? 1 : l.dims[3];
        x = reshape(m, x, joined(m, dims, 4));
    }
    const int y = ADD(m, "Expand", "output", ARGS("input", "shape"), model_add_leaf(m, random, &l),
                      joined(m, dims, 4));
    return elew(m, WORD(random, "TL_SUM", "TL_MUL"), x, y);
}

static int make_tile(model *m, test_random *random, int x, int shape)
{
    const int axis = (int)test_random_below(random, 4);
    int repeats[4];
    for (int d = 0; d < 4; d++)
        repeats[d] =
            d == axis ? part(m, random, shape, PICK(random, 0, 1, 2, 3)) : number(m, random, 1);
    return ADD(m, "Tile", "output", ARGS("input", "repeats"), x, joined(m, repeats, 4));
}

static int make_pad(model *m, test_random *random, int x, int shape)
{
    int pads[8];
    for (int d = 0; d < 8; d++)
        pads[d] = d % 4 < 2 || chance(random, 30) ? number(m, random, 0)
                  : chance(random, 50)
                      ? calc(m, "Div", part(m, random, shape, d % 4), number(m, random, 2))
                      : calc(m, "Sub", part(m, random, shape, 3), number(m, random, 1));
    const int begins = joined(m, pads, 4), ends = joined(m, pads + 4, 4);
    const int y =
        ADD(m, "Pad", "output", ARGS("data", "pads"), x, joined(m, (const int[]){begins, ends}, 2));
    set(m, "mode", WORD(random, "constant", "constant", "edge", "reflect"));
    return y;
}

static int make_resize(model *m, test_random *random, int x, int shape)
{
    int y;
    static const double factors[] = {2, 1.5, 0.5, 0.7, 1.3, 0.9, 3, 0.75, 1.25, 0.25};
    if (chance(random, 50)) {
        leaf l = {.dtype = TL_FLOAT, .ndim = 1, .dims = {4}, .fill = FILL_SAME, .low = 1};
        const int scales = model_add_leaf(m, random, &l);
        char text[60];
        snprintf(text, sizeof text, "[1, 1, %g, %g]", factors[test_random_below(random, 10)],
                 factors[test_random_below(random, 10)]);
        model_op_set_param(m, last(m), "data", text);
        y = ADD(m, "Resize", "Y", ARGS("X", "scales"), x, scales);
    } else {
        int dims[4];
        for (int d = 0; d < 4; d++) {
            const int size = part(m, random, shape, d);
            dims[d] = d < 2                ? size
                      : chance(random, 60) ? calc(m, "Mul", size, number(m, random, 2))
                                           : calc(m, "Add", size, number(m, random, 1));
        }
        y = ADD(m, "Resize", "Y", ARGS("X", "sizes"), x, joined(m, dims, 4));
    }
    set(m, "mode", WORD(random, "nearest", "linear", "linear", "cubic"));
    set(m, "coordinate_transformation_mode",
        WORD(random, "half_pixel", "half_pixel", "asymmetric", "align_corners",
             "pytorch_half_pixel", "half_pixel_symmetric"));
    set(m, "nearest_mode", WORD(random, "round_prefer_floor", "floor", "ceil"));
    return y;
}

// Places of elements as numbers.
static int make_range(model *m, test_random *random, int x, int shape)
{
    const int axis = (int)test_random_below(random, 4), one = scalar(m, random, TL_INT64, 1);
    const int index = scalar(m, random, TL_INT64, axis), zero = scalar(m, random, TL_INT64, 0);
    int limit = ADD(m, "Gather", "output", ARGS("data", "indices"), shape, index), count = limit;
    const bool is_product = axis > 0 && chance(random, 60);
    if (is_product)
        count = calc(m, "Mul", limit,
                     ADD(m, "Gather", "output", ARGS("data", "indices"), shape,
                         scalar(m, random, TL_INT64, axis - 1)));
    const int range = ADD(m, "Range", "output", ARGS("start", "limit", "delta"), zero, count, one);
    const int places = ADD(m, "Cast", "output", ARGS("input"), range);
    set(m, "to", "1");
    int dims[4];
    for (int d = 0; d < 4; d++)
        dims[d] = d == axis || (is_product && d == axis - 1) ? part(m, random, shape, d)
                                                             : number(m, random, 1);
    return elew(m, WORD(random, "TL_SUM", "TL_MUL"), x, reshape(m, places, joined(m, dims, 4)));
}

static int make_filled(model *m, test_random *random, int x, int shape)
{
    int dims[4];
    for (int d = 0; d < 4; d++)
        dims[d] = d == 1 || chance(random, 50) ? part(m, random, shape, d) : number(m, random, 1);
    const int y = ADD(m, "ConstantOfShape", "output", ARGS("input"), joined(m, dims, 4));
    return elew(m, WORD(random, "TL_SUM", "TL_MUL", "TL_MAX"), x, y);
}

// A factor or a bound that is a size, or its root.
static int make_factor(model *m, test_random *random, int x, int shape)
{
    int n = ADD(m, "Cast", "output", ARGS("input"), derived(m, random, shape, 4));
    set(m, "to", "1");
    if (chance(random, 40))
        n = ADD(m, "Sqrt", "Y", ARGS("X"), n);
    if (chance(random, 20)) {
        leaf l = {.dtype = TL_FLOAT, .fill = FILL_SAME, .low = 0.5};
        const int least = model_add_leaf(m, random, &l);
        return ADD(m, "Clip", "output", ARGS("input", "min"), calc(m, "Mul", x, n), least);
    }
    const int y = calc(m, WORD(random, "Mul", "Div", "Div", "Add", "Sub"), x, n);
    return chance(random, 40) ? act(m, random, y) : y;
}

static int add_conv(model *m, test_random *random, int x, int outs, int height, int width)
{
    const int c = m->tensors[x].dims[1] ? m->tensors[x].dims[1] : 1;
    const leaf l = {
        .dtype = TL_FLOAT, .ndim = 4, .dims = {outs, c, height, width}, .low = -1, .high = 1};
    return ADD(m, "Conv", "Y", ARGS("X", "W"), x, model_add_leaf(m, random, &l));
}

// Of a stride of 3 the witnesses of multiples have one remainder, of 4 and of 5 the others have no
// padding for small windows.
static void set_strides(model *m, test_random *random)
{
    const int a = PICK(random, 1, 2, 3, 3, 4, 5);
    set_pair(m, "strides", a, chance(random, 40) ? a : PICK(random, 1, 2, 3, 3, 4));
}

// Windows that remainders of sizes move, mostly between others, where paddings become numbers.
static int make_pooling(model *m, test_random *random, int x)
{
    if (model_check(m) && chance(random, 60))
        x = add_conv(m, random, x, PICK(random, 1, 2, 4), 1, 1);
    static const char *const types[] = {"AveragePool", "MaxPool", "LpPool"};
    const char *type = types[test_random_below(random, 3)];
    const int y = ADD(m, type, "Y", ARGS("X"), x);
    const int a = PICK(random, 1, 2, 3, 3), b = PICK(random, 2, 3, 4);
    set_pair(m, "kernel_shape", a, b);
    set_strides(m, random);
    m->has_multiples = chance(random, 70);
    if (chance(random, 50)) {
        set(m, "auto_pad", WORD(random, "SAME_UPPER", "SAME_LOWER", "VALID"));
    } else {
        char pads[60] = "[";
        for (int i = 0; i < 4; i++)
            snprintf(pads + strlen(pads), sizeof pads - strlen(pads), "%s%d", i ? ", " : "",
                     (int)test_random_below(random, (size_t)(i % 2 ? b : a)));
        strcat(pads, "]");
        set(m, "pads", pads);
        set_number(m, "ceil_mode", chance(random, 60));
    }
    if (type == types[0])
        set_number(m, "count_include_pad", chance(random, 50));
    return y;
}

static int make_window(model *m, test_random *random, int x)
{
    const int y =
        add_conv(m, random, x, PICK(random, 1, 2, 4), PICK(random, 1, 2, 3), PICK(random, 2, 3, 4));
    set_strides(m, random);
    set(m, "auto_pad", WORD(random, "SAME_UPPER", "SAME_LOWER"));
    m->has_multiples = chance(random, 70);
    return chance(random, 50) ? make_pooling(m, random, y) : y;
}

// Scores by the root of the elements of a head, whose number may be dynamic.
static int make_attention(model *m, test_random *random, int x, int shape)
{
    static const char *const keys_axes[] = {"[0, 1, 3, 2]", "[0, 2, 3, 1]"};
    const bool is_of_tokens = chance(random, 60);
    int q = x, k = act(m, random, x), v = act(m, random, x);
    int size = ADD(m, "Cast", "output", ARGS("input"), part(m, random, shape, 3));
    set(m, "to", "1");
    size = ADD(m, "Sqrt", "Y", ARGS("X"), size);
    if (is_of_tokens) {
        int *const both[] = {&q, &v};
        for (int i = 0; i < 2; i++) {
            *both[i] = ADD(m, "Transpose", "transposed", ARGS("data"), *both[i]);
            set(m, "perm", "[0, 2, 1, 3]");
        }
    }
    const int kt = ADD(m, "Transpose", "transposed", ARGS("data"), k);
    set(m, "perm", keys_axes[is_of_tokens]);
    int scores = calc(m, chance(random, 80) ? "Div" : "Mul",
                      ADD(m, "MatMul", "Y", ARGS("A", "B"), q, kt), size);
    scores = ADD(m, "Softmax", "output", ARGS("input"), scores);
    set(m, "axis", "-1");
    int y = ADD(m, "MatMul", "Y", ARGS("A", "B"), scores, v);
    if (is_of_tokens) {
        y = ADD(m, "Transpose", "transposed", ARGS("data"), y);
        set(m, "perm", "[0, 2, 1, 3]");
    }
    return y;
}

// Tokens whose heads stand in front for the attention only, and may have any size; a rule reads
// them where they were, in rows of as many elements as all heads have.
static int make_tokens(model *m, test_random *random, int x)
{
    int of[3];
    for (int i = 0; i < 3; i++) {
        of[i] = ADD(m, "transpose", "dst", ARGS("src"), i == 0 ? x : act(m, random, x));
        set(m, "axes", "[0, 2, 1, 3]");
    }
    const int heads = m->tensors[x].dims[2];
    const int y = ADD(m, "attention", "dst", ARGS("q", "k", "v"), of[0], of[1], of[2]);
    set_number(m, "heads", heads);
    const int back = ADD(m, "transpose", "dst", ARGS("src"), y);
    set(m, "axes", "[0, 2, 1, 3]");
    return back;
}

// Heads of tokens: reshapes to what is known, with the batch and the tokens as they come.
static int make_heads(model *m, test_random *random, int x, int shape)
{
    int rows[3] = {part(m, random, shape, 0), part(m, random, shape, 1),
                   calc(m, "Mul", part(m, random, shape, 2), part(m, random, shape, 3))};
    const int of_rows = joined(m, rows, 3), flat = reshape(m, x, of_rows);
    const int back = reshape(m, act(m, random, flat), shape);
    return reshape(m, make_attention(m, random, back, shape), of_rows);
}

// The last element, the first half, or the largest of an axis.
static int make_pick(model *m, test_random *random, int x, int shape)
{
    const int axis = (int)test_random_below(random, 4);
    const int size = part(m, random, shape, axis);
    int y;
    if (chance(random, 50)) {
        const int at = calc(m, "Sub", size, number(m, random, PICK(random, 1, 2)));
        y = ADD(m, "Gather", "output", ARGS("data", "indices"), x, at);
        set_number(m, "axis", axis);
    } else {
        const int half = calc(m, "Div", size, number(m, random, 2));
        y = ADD(m, "TopK", "Values", ARGS("X", "K"), x, half);
        set_number(m, "axis", axis);
    }
    return y;
}

static int make_two(model *m, test_random *random, int x, int shape)
{
    int dims[3] = {calc(m, "Mul", part(m, random, shape, 0), part(m, random, shape, 1)),
                   part(m, random, shape, 2), part(m, random, shape, 3)};
    const int flat = reshape(m, x, joined(m, dims, 3));
    const int again = shape_of(m, flat);
    const int half = calc(m, "Div", part(m, random, again, 0), number(m, random, 2));
    const int y = ADD(m, "Slice", "output", ARGS("data", "starts", "ends", "axes"), flat, half,
                      part(m, random, again, 0), number(m, random, 0));
    return ADD(m, "Softmax", "output", ARGS("input"), y);
}

// `x` where a row along the axis is true, and something else or 0 where it is not.
static int choose(model *m, test_random *random, int x, int shape, int axis, int is_taken)
{
    int dims[4];
    for (int d = 0; d < 4; d++)
        dims[d] = d == axis ? part(m, random, shape, d) : number(m, random, 1);
    int mask = reshape(m, is_taken, joined(m, dims, 4));
    if (chance(random, 60)) {
        mask = ADD(m, "Cast", "output", ARGS("input"), mask);
        set(m, "to", "1");
        return elew(m, "TL_MUL", x, mask);
    }
    return ADD(m, "Where", "output", ARGS("condition", "X", "Y"), mask, x, act(m, random, x));
}

// Mostly one of those that are dynamic in images.
static int draw_axis(test_random *random)
{
    return PICK(random, 2, 3, 2, 3, 0, 1);
}

// A number that is the same for all large sizes, and another one for small ones: as an integer, as
// a float, by a comparison, or for each element of an axis.
static int make_bound(model *m, test_random *random, int x, int shape)
{
    const size_t way = test_random_below(random, 4);
    const bool is_row = way != 3 && chance(random, 50);
    int size = is_row ? shape : part(m, random, shape, draw_axis(random)), y;
    const int bound = is_row ? sized_numbers(m, random, (const int[]){4, 5, 6, 7}, 4)
                             : number(m, random, PICK(random, 4, 5, 6));
    if (way == 3) {
        const int axis = draw_axis(random);
        size =
            ADD(m, "Expand", "output", ARGS("input", "shape"), size, part(m, random, shape, axis));
        y = ADD(m, WORD(random, "Less", "Greater"), "C", ARGS("A", "B"), size, bound);
        return choose(m, random, x, shape, axis, y);
    }
    if (way == 2) {
        y = ADD(m, WORD(random, "Less", "Greater"), "C", ARGS("A", "B"), size, bound);
        y = ADD(m, "Where", "output", ARGS("condition", "X", "Y"), y,
                scalar(m, random, TL_FLOAT, 0.5), scalar(m, random, TL_FLOAT, 3));
    } else if (way == 1) {
        y = ADD(m, "Cast", "output", ARGS("input"), size);
        set(m, "to", "1");
        y = ADD(m, "Min", "min", ARGS("data_01", "data_02"), y, scalar(m, random, TL_FLOAT, 5.5));
    } else {
        y = ADD(m, "Min", "min", ARGS("data_01", "data_02"), size, bound);
        y = ADD(m, "Cast", "output", ARGS("input"), y);
        set(m, "to", "1");
    }
    if (is_row)
        x = reshape(m, x, sized_numbers(m, random, (const int[]){-1, 1}, 2));
    return elew(m, WORD(random, "TL_SUM", "TL_MUL"), x, y);
}

// Elements whose index is below another size, as those of a sequence that are no filling.
static int make_mask(model *m, test_random *random, int x, int shape)
{
    const int axis = draw_axis(random);
    const int size = ADD(m, "Gather", "output", ARGS("data", "indices"), shape,
                         scalar(m, random, TL_INT64, axis));
    const int range = ADD(m, "Range", "output", ARGS("start", "limit", "delta"),
                          scalar(m, random, TL_INT64, 0), size, scalar(m, random, TL_INT64, 1));
    const int is_less =
        ADD(m, "Less", "C", ARGS("A", "B"), range, part(m, random, shape, draw_axis(random)));
    return choose(m, random, x, shape, axis, is_less);
}

// A size, less one at most, or half of it; those of two neighbours differ for every other size.
static int nearly(model *m, test_random *random, int size, int way)
{
    const int one = number(m, random, 1), two = number(m, random, 2);
    switch (way) {
    case 0: return calc(m, "Sub", size, one);
    case 1: return calc(m, "Mul", calc(m, "Div", size, two), two);
    case 2: return calc(m, "Div", size, two);
    case 3: return calc(m, "Div", calc(m, "Sub", size, one), two);
    case 4: return calc(m, "Div", calc(m, "Add", size, one), two);
    default: return calc(m, "Add", calc(m, "Div", size, two), one);
    }
}

// Two parts that are nearly as long.
static int make_near(model *m, test_random *random, int x, int shape)
{
    const int axis = (int)test_random_below(random, 4), size = part(m, random, shape, axis);
    const int way = (int)test_random_below(random, 6);
    int parts[2];
    for (int i = 0; i < 2; i++) {
        const int begin = number(m, random, 0),
                  len = nearly(m, random, size, i == 0 ? way : way ^ 1);
        parts[i] = ADD(m, "Slice", "output", ARGS("data", "starts", "ends", "axes"), x,
                       chance(random, 70) ? begin : calc(m, "Sub", size, len),
                       chance(random, 70) ? len : size, number(m, random, axis));
        parts[i] = act(m, random, parts[i]);
    }
    const int y = joined(m, parts, 2);
    set_number(m, "axis", axis);
    return y;
}

// ---- The table ----

static const struct {
    const char *name;
    int (*make)(model *m, test_random *random, int x, int shape); // or:
    int (*make_alone)(model *m, test_random *random, int x);
    bool is_image;
} sized[] = {
    {"reshapes by products of sizes", make_reshape, NULL, false},
    {"slices to sizes", make_slice, NULL, false},
    {"expansions to sizes", make_expand, NULL, false},
    {"repeats by sizes", make_tile, NULL, false},
    {"pads of sizes", make_pad, NULL, false},
    {"images of other sizes", make_resize, NULL, true},
    {"ranges to sizes", make_range, NULL, false},
    {"constants of sizes", make_filled, NULL, false},
    {"factors of sizes", make_factor, NULL, false},
    {"poolings of sizes", NULL, make_pooling, true},
    {"windows of sizes", NULL, make_window, true},
    {"attention of sizes", make_attention, NULL, false},
    {"tokens of sizes", NULL, make_tokens, false},
    {"heads of sizes", make_heads, NULL, false},
    {"elements at sizes", make_pick, NULL, false},
    {"parts of reshaped sizes", make_two, NULL, false},
    {"bounds that sizes reach", make_bound, NULL, true},
    {"masks of sizes", make_mask, NULL, true},
    {"parts of nearly equal sizes", make_near, NULL, true},
};

size_t sized_count(void)
{
    return sizeof sized / sizeof sized[0];
}

const char *sized_name(size_t index)
{
    return sized[index].name;
}

bool sized_make(model *m, test_random *random, const sizes *s, size_t index)
{
    int shape;
    const int x = start(m, random, sized[index].is_image, &shape);
    if (!model_check(m)) // the dimensions are known from here on
        return false;
    const int y = sized[index].make ? sized[index].make(m, random, x, shape)
                                    : sized[index].make_alone(m, random, x);
    m->is_of_sizes = true;
    snprintf(m->origin, sizeof m->origin, "%s", sized[index].name);
    return follow(m, random, s, y) >= 0 && !m->is_overflown;
}
