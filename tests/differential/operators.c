// SPDX-License-Identifier: Apache-2.0
// Draws operands and parameters, and lets the library judge them.

#include "tests/differential/operators.h"

#include <ctype.h>
#include <string.h>

#include <lightnet/act.h>
#include <lightnet/arch.h>

#include "op_prose.h"
#include "tests/differential/draw.h"

#define TRIES 24

static bool is_type(const char *optype, const char *list)
{
    size_t len = strlen(optype);
    for (const char *at = list; (at = strstr(at, optype)); at += len)
        if ((at == list || at[-1] == ' ') && (at[len] == ' ' || at[len] == '\0'))
            return true;
    return false;
}

sizes sizes_draw(test_random *random)
{
    sizes s = {
        .n = PICK(random, 1, 1, 1, 2, 3),
        .c = PICK(random, 1, 2, 3, 4, 4, 5, 6, 8, 8, 16),
        .h = PICK(random, 1, 2, 3, 4, 5, 6, 7, 8),
        .w = PICK(random, 1, 2, 3, 4, 5, 6, 7, 8, 9),
        .k = PICK(random, 1, 2, 3, 4, 5, 8, 8, 16, 17),
        .dtype = TL_FLOAT,
    };
    if (chance(random, 25)) // equal dimensions
        s.k = s.h = s.w = s.c;
    if (chance(random, 3))
        *(int *[]){&s.n, &s.c, &s.h, &s.w, &s.k}[test_random_below(random, 5)] = 0;
    if (chance(random, 15)) {
        static const tl_dtype others[] = {TL_FLOAT16, TL_BFLOAT16, TL_DOUBLE, TL_INT32, TL_INT8,
                                          TL_UINT8,   TL_INT16,    TL_UINT16, TL_INT64, TL_BOOL};
        s.dtype = others[test_random_below(random, sizeof others / sizeof others[0])];
    }
    s.has_extremes = chance(random, 8);
    s.is_huge = chance(random, 40);
    return s;
}

const ln_op_info *operator_info(const char *optype)
{
    const ln_op *op = ln_op_find(optype);
    return op ? op->op_arg->info : NULL;
}

// ---- Shapes of operands ----

typedef struct shape {
    int ndim;
    int dims[MODEL_RANK];
} shape;

#define SHAPE(...)                                                                                 \
    (shape)                                                                                        \
    {                                                                                              \
        .ndim = (int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int)), .dims = { __VA_ARGS__ }         \
    }

static shape shape_of(const model *m, int tensor)
{
    shape s = {.ndim = m->tensors[tensor].ndim};
    memcpy(s.dims, m->tensors[tensor].dims, sizeof s.dims);
    return s;
}

static shape any_shape(test_random *random, const sizes *s)
{
    switch (test_random_below(random, 14)) {
    case 0: return SHAPE(s->c);
    case 1: return SHAPE(s->k, s->k);
    case 2: return SHAPE(s->n, s->k);
    case 3: return SHAPE(s->n, s->h, s->c);
    case 4: return SHAPE(s->n, s->c, s->w);
    case 5: return SHAPE(s->n, s->h, s->w, s->c);
    case 6: return SHAPE(s->n, s->c, 3, s->h, 2);
    case 7: return SHAPE(s->h, s->k);
    case 8: return (shape){.ndim = 0};
    case 9: return SHAPE(1, s->c, 1, 1);
    default: return SHAPE(s->n, s->c, s->h, s->w);
    }
}

static shape image(test_random *random, const sizes *s)
{
    int rank = PICK(random, 4, 4, 4, 4, 3, 5);
    shape r = {.ndim = rank, .dims = {s->n, s->c, s->h, rank == 3 ? 0 : s->w, 3}};
    return r;
}

// What broadcasts to a shape: itself, one number, one row, one for each channel.
static shape broadcastable(test_random *random, shape of)
{
    switch (test_random_below(random, 10)) {
    case 0: return SHAPE(1);
    case 1: return (shape){.ndim = 0};
    case 2: // the last axis
        return of.ndim ? SHAPE(of.dims[of.ndim - 1]) : of;
    case 3: // channels
        if (of.ndim < 3)
            return of;
        for (int d = 0; d < of.ndim; d++)
            of.dims[d] = d == 1 ? of.dims[d] : 1;
        return of;
    case 4: // channels without the batch
        if (of.ndim < 3)
            return of;
        for (int d = 1; d < of.ndim; d++)
            of.dims[d - 1] = d == 1 ? of.dims[d] : 1;
        of.ndim--;
        return of;
    case 5:
        for (int d = 0; d < of.ndim; d++)
            if (chance(random, 40))
                of.dims[d] = 1;
        return of;
    case 6: // some axes, without leading ones
        for (int d = 0; d < of.ndim; d++)
            if (chance(random, 50))
                of.dims[d] = 1;
        while (of.ndim > 1 && of.dims[0] == 1 && chance(random, 70))
            memmove(of.dims, of.dims + 1, (size_t)--of.ndim * sizeof of.dims[0]);
        return of;
    default: return of;
    }
}

static int last(shape s)
{
    return s.ndim ? s.dims[s.ndim - 1] : 1;
}

static int divisor(test_random *random, int of)
{
    int candidates[] = {1, 1, 2, 4, of};
    int d = candidates[test_random_below(random, 5)];
    return d > 0 && of % d == 0 ? d : 1;
}

static void set_number(model *m, model_op *op, const char *arg_name, int value)
{
    char text[16];
    snprintf(text, sizeof text, "%d", value);
    if (!model_op_param(m, op, arg_name))
        model_op_set_param(m, op, arg_name, text);
}

static int number_of(const model *m, const model_op *op, const char *arg_name, int otherwise)
{
    const char *text = model_op_param(m, op, arg_name);
    return text ? atoi(text) : otherwise;
}

// The second term of an equation of two, the first of which has a letter for each dimension of the
// operand that is there.
static bool second_term(model *m, test_random *random, const sizes *s, model_op *op, shape first,
                        shape *out)
{
    static const char *const equations[] = {
        ",k->k",       "k,ck",          "k,k->",           "k,c->kc",         "ck,kw->cw",
        "ck,wk->wc",   "ck,bck->bc",    "bck,kw->bcw",     "bck,bkw->bcw",    "bck,bwk->wbc",
        "bck,bck->bc", "bhck,hkw->bcw", "bhck,bhwk->bhcw", "bhcw,bwhk->bchk", "bchw,bkc->bkhw",
        "bhck,kc->bh", "bck,ckw->bw",   "bchwk,kx->bchwx", "bchwk,hcx->bxwk", "kk,kc->c"};
    const char *fitting[20];
    int count = 0;
    for (int i = 0; i < 20; i++)
        if ((int)strcspn(equations[i], ",") == first.ndim)
            fitting[count++] = equations[i];
    if (count == 0)
        return false;
    const char *equation = fitting[test_random_below(random, (size_t)count)];
    char text[32];
    snprintf(text, sizeof text, "\"%s\"", equation);
    model_op_set_param(m, op, "equation", text);
    out->ndim = 0;
    for (const char *term = equation + first.ndim + 1; isalpha((unsigned char)*term); term++) {
        const char *met = memchr(equation, *term, (size_t)first.ndim);
        out->dims[out->ndim++] = met ? first.dims[met - equation] : s->c;
    }
    return true;
}

// The shape of operand `arg` of `op`, whose operands before it are there. False: any shape will do.
static bool operand_shape(model *m, test_random *random, const sizes *s, model_op *op,
                          const char *arg, shape *out)
{
    const char *type = op->optype;
    int x = op->in_count ? op->ins[0].tensor : -1;
    shape first = x >= 0 ? shape_of(m, x) : (shape){.ndim = 0};
    int weight = model_op_in(op, "weight");
    bool is_conv = is_type(type, "conv quant_conv deconv conv2d deconv2d Conv ConvTranspose "
                                 "QLinearConv ConvInteger");
    if (!is_conv && (strstr(arg, "_scale") || strstr(arg, "_zero_point")) &&
        (isupper(type[0]) || strncmp(type, "ms_", 3) == 0)) {
        *out = chance(random, 50) ? SHAPE(1) : (shape){.ndim = 0};
        return true;
    }
    if (is_conv) {
        if (is_type(arg, "W w"))
            arg = "weight";
        if (weight < 0)
            weight = model_op_in(op, "W") >= 0 ? model_op_in(op, "W") : model_op_in(op, "w");
        if (op->in_count == 0)
            *out = image(random, s);
        else if (strncmp(arg, "x_", 2) == 0 || strncmp(arg, "y_", 2) == 0)
            *out = (shape){.ndim = 0};
        else if (strcmp(arg, "weight") == 0 && first.ndim >= 3) {
            int group = number_of(m, op, "group", divisor(random, first.dims[1]));
            bool is_turned = strncmp(type, "deconv", 6) == 0 || strcmp(type, "ConvTranspose") == 0;
            if (group < 1 || first.dims[1] % group)
                return false;
            int outs = group * PICK(random, 1, 1, 2, 3, 4, s->c);
            if (chance(random, 25)) // as many as there come in
                outs = first.dims[1];
            *out =
                is_turned ? SHAPE(first.dims[1], outs / group) : SHAPE(outs, first.dims[1] / group);
            out->ndim = first.ndim;
            for (int d = 2; d < first.ndim; d++)
                out->dims[d] = PICK(random, 1, 1, 2, 3, 3, 3, 5);
            if (chance(random, 30))
                for (int d = 2; d < first.ndim; d++)
                    out->dims[d] = 1;
            if (group != 1)
                set_number(m, op, "group", group);
        } else if (weight >= 0 && strcmp(arg, "addend") != 0) {
            bool is_turned = strncmp(type, "deconv", 6) == 0 || strcmp(type, "ConvTranspose") == 0;
            shape w = shape_of(m, weight);
            *out = SHAPE(is_turned ? w.dims[1] * number_of(m, op, "group", 1) : w.dims[0]);
            if (strstr(arg, "scale") || strstr(arg, "zero"))
                *out = strncmp(arg, "weight", 6) == 0 && chance(random, 60) ? *out
                       : chance(random, 50)                                 ? SHAPE(1)
                                                                            : (shape){.ndim = 0};
        } else
            return false;
        return true;
    }
    if (is_type(type, "linear matmul quant_matmul MatMul Gemm MatMulInteger QLinearMatMul")) {
        bool is_linear = strcmp(type, "linear") == 0;
        if (op->in_count == 0) {
            int rank = is_linear ? PICK(random, 2, 2, 3, 4, 1) : PICK(random, 2, 2, 3, 4, 1);
            *out = SHAPE(s->n, s->c, s->h, s->k);
            memmove(out->dims, out->dims + (4 - rank), (size_t)rank * sizeof out->dims[0]);
            out->ndim = rank;
        } else if (op->in_count == 1) {
            if (!chance(random, 70) && !model_op_param(m, op, "transB"))
                set_number(m, op, "transB", 1);
            bool is_turned = number_of(m, op, "transB", 0) != 0;
            int k = last(first), n = PICK(random, 1, 2, 3, 4, 7, 8, 16, 17, k, k);
            *out = is_turned ? SHAPE(n, k) : SHAPE(k, n);
            if (!is_linear && first.ndim >= 3 && chance(random, 50)) {
                shape batch = first;
                batch.dims[first.ndim - 2] = out->dims[0];
                batch.dims[first.ndim - 1] = out->dims[1];
                *out = batch;
                if (chance(random, 30))
                    out->dims[0] = 1;
            } else if (!is_linear && chance(random, 8))
                *out = SHAPE(k);
        } else if (strcmp(arg, "bias") == 0 || strncmp(arg, "weight_", 7) == 0) {
            shape w = shape_of(m, op->ins[1].tensor);
            bool is_turned = number_of(m, op, "transB", 0) != 0;
            int n = w.ndim < 2 ? 1 : w.dims[w.ndim - (is_turned ? 2 : 1)];
            *out = strcmp(arg, "bias") != 0 && chance(random, 40) ? SHAPE(1) : SHAPE(n);
        } else if (strstr(arg, "scale") || strstr(arg, "zero"))
            *out = chance(random, 50) ? SHAPE(1) : (shape){.ndim = 0};
        else
            return false;
        return true;
    }
    if (op->in_count == 0) {
        if (is_type(type, "LSTM GRU RNN"))
            *out = SHAPE(PICK(random, 1, 2, 3), s->n, s->c);
        else if (is_type(type,
                         "pool batchnorm groupnorm quant_pool put_channels interleave AveragePool "
                         "MaxPool"))
            *out = image(random, s);
        else if (strcmp(type, "rnn") == 0)
            *out = SHAPE(PICK(random, 1, 2, 3), s->n, s->c);
        else if (strcmp(type, "attention") == 0)
            *out = chance(random, 50) ? SHAPE(s->n, s->h, s->c) : SHAPE(s->n, s->c, s->h, s->k);
        else
            return false;
        return true;
    }
    if (is_type(type, "batchnorm groupnorm") && first.ndim >= 2)
        *out = SHAPE(first.dims[1]);
    else if (strcmp(type, "scale_shift") == 0)
        *out = op->in_count == 1 ? SHAPE(chance(random, 70) ? last(first)
                                         : last(first) > 1  ? last(first) - 1
                                                            : 1)
                                 : shape_of(m, op->ins[1].tensor);
    else if (strcmp(type, "layernorm") == 0)
        *out = chance(random, 70) ? SHAPE(last(first)) : broadcastable(random, first);
    else if (is_type(type, "rnn LSTM GRU RNN") && first.ndim == 3) {
        static const char *const names[][2] = {{"W", "weight"},   {"R", "recurrence"},
                                               {"B", "bias"},     {"sequence_lens", "lengths"},
                                               {"P", "peephole"}, {"initial_h", "hidden"}};
        for (int i = 0; i < 6; i++)
            if (strcmp(arg, names[i][0]) == 0)
                arg = names[i][1];
        const char *kind = model_op_param(m, op, "kind");
        if (strcmp(type, "rnn") != 0)
            kind = strcmp(type, "LSTM") == 0 ? "lstm" : strcmp(type, "GRU") == 0 ? "gru" : "rnn";
        const char *direction = model_op_param(m, op, "direction");
        int gates = !kind ? 4 : strstr(kind, "lstm") ? 4 : strstr(kind, "gru") ? 3 : 1;
        int dirs = direction && strstr(direction, "bidirectional") ? 2 : 1;
        bool is_batch_first = number_of(m, op, "layout", 0) == 1;
        int batch = first.dims[is_batch_first ? 0 : 1];
        const char *size = model_op_param(m, op, "hidden_size");
        int hidden = size && atoi(size) > 0 ? atoi(size)
                     : op->in_count > 1     ? shape_of(m, op->ins[1].tensor).dims[1] / gates
                                            : PICK(random, 1, 2, 3, 4, first.dims[2]);
        if (strcmp(arg, "weight") == 0)
            *out = SHAPE(dirs, gates * hidden, first.dims[2]);
        else if (strcmp(arg, "recurrence") == 0)
            *out = SHAPE(dirs, gates * hidden, hidden);
        else if (strcmp(arg, "bias") == 0)
            *out = SHAPE(dirs, 2 * gates * hidden);
        else if (is_type(arg, "lengths sequence_lens"))
            *out = SHAPE(batch);
        else if (strcmp(arg, "peephole") == 0)
            *out = SHAPE(dirs, 3 * hidden);
        else
            *out = is_batch_first ? SHAPE(batch, dirs, hidden) : SHAPE(dirs, batch, hidden);
    } else if (strcmp(type, "attention") == 0) {
        *out = first;
        if (strcmp(arg, "mask") == 0 && first.ndim >= 2)
            *out = SHAPE(first.dims[first.ndim - 2], first.dims[first.ndim - 2]);
        else if (is_type(arg, "lengths sequence_lens"))
            *out = SHAPE(first.dims[0]);
        else if (chance(random, 30) && first.ndim >= 3)
            out->dims[first.ndim - 2] += 1;
    } else if (is_type(type, "quantize dequantize QuantizeLinear DequantizeLinear")) {
        int axis = number_of(m, op, "axis", 1);
        axis = axis < 0 ? axis + first.ndim : axis;
        bool is_row = op->in_count == 2 ? shape_of(m, op->ins[1].tensor).ndim == 1
                                        : axis >= 0 && axis < first.ndim && chance(random, 40);
        if (op->in_count == 2)
            *out = shape_of(m, op->ins[1].tensor);
        else
            *out = is_row ? SHAPE(first.dims[axis]) : (shape){.ndim = 0};
    } else if (strcmp(type, "rescale") == 0 && is_type(arg, "multiplier shift") && first.ndim > 0 &&
               chance(random, 60)) { // a number for each index of an axis
        const int axis =
            number_of(m, op, "axis", (int)test_random_below(random, (size_t)first.ndim));
        if (axis < -first.ndim || axis >= first.ndim)
            return false;
        set_number(m, op, "axis", axis);
        *out = SHAPE(first.dims[axis < 0 ? axis + first.ndim : axis]);
    } else if ((strncmp(type, "quant_", 6) == 0 && strcmp(arg, "src2") != 0) ||
               strcmp(type, "rescale") == 0)
        *out = chance(random, 50) ? SHAPE(1) : (shape){.ndim = 0};
    else if (is_type(type, "concat Concat")) {
        *out = first;
        int axis = number_of(m, op, "axis", 0);
        axis = axis < 0 ? axis + first.ndim : axis;
        if (axis >= 0 && axis < first.ndim && chance(random, 50))
            out->dims[axis] = PICK(random, 1, 2, 3, s->c);
    } else if (strcmp(type, "einsum") == 0)
        return op->in_count == 1 && second_term(m, random, s, op, first, out);
    else if (is_type(type, "gather put_channels interleave"))
        *out = first;
    else if (is_type(type, "take Gather"))
        *out = chance(random, 30) ? (shape){.ndim = 0} : SHAPE(PICK(random, 1, 2, 3, 4));
    else if (is_type(type, "cumsum trilu topk Trilu ms_Trilu"))
        *out = chance(random, 50) ? (shape){.ndim = 0} : SHAPE(1);
    else if (is_type(type, "expand reduce pad resize"))
        *out = SHAPE(strcmp(arg, "filler") == 0   ? 1
                     : strcmp(arg, "counts") == 0 ? 2 * first.ndim
                                                  : first.ndim);
    else if (is_type(type, "elew compare select prelu quant_elew"))
        *out = broadcastable(random, first);
    else
        *out = chance(random, 60)   ? broadcastable(random, first)
               : chance(random, 50) ? SHAPE(last(first))
               : chance(random, 50) ? first
                                    : any_shape(random, s);
    return true;
}

// ---- Element types and elements ----

static tl_dtype draw_dtype(test_random *random, const sizes *s, uint64_t types)
{
    static const tl_dtype plain[] = {TL_FLOAT,    TL_FLOAT,  TL_INT32,  TL_INT8,   TL_UINT8,
                                     TL_INT16,    TL_UINT16, TL_INT64,  TL_DOUBLE, TL_FLOAT16,
                                     TL_BFLOAT16, TL_BOOL,   TL_UINT32, TL_UINT64};
    if (types == 0 || types & LN_TYPE(s->dtype))
        if (!chance(random, 6))
            return s->dtype;
    for (int i = 0; i < 40; i++) {
        tl_dtype dtype = i < 30 ? plain[test_random_below(random, 14)]
                                : (tl_dtype)test_random_below(random, TL_DTYPE_SIZE);
        if ((types == 0 || types & LN_TYPE(dtype)) && dtype != TL_STRING && dtype != TL_OBJECT)
            return dtype;
    }
    return s->dtype;
}

static bool is_floating(tl_dtype dtype)
{
    return dtype == TL_FLOAT || dtype == TL_DOUBLE || dtype == TL_FLOAT16 || dtype == TL_BFLOAT16;
}

static void draw_fill(const model *m, test_random *random, const sizes *s, const model_op *op,
                      const char *arg, leaf *l)
{
    const shape first = op->in_count ? shape_of(m, op->ins[0].tensor) : any_shape(random, s);
    l->fill = FILL_UNIFORM;
    l->is_huge = s->is_huge;
    l->low = -2;
    l->high = 2;
    bool is_index = l->dtype == TL_INT32 || l->dtype == TL_INT64;
    if (is_index &&
        is_type(arg, "index indices axis axes k lengths sequence_lens shape sizes counts")) {
        l->fill = FILL_INTEGERS;
        l->is_input = false;
        l->low = strcmp(arg, "counts") == 0              ? -1
                 : strcmp(arg, "k") == 0                 ? 0
                 : is_type(arg, "lengths sequence_lens") ? 1
                                                         : 0;
        l->high = 1;
        if (is_type(arg, "index indices"))
            for (int d = 0; d < first.ndim; d++)
                l->high = d == 0 || first.dims[d] - 1 < l->high ? first.dims[d] - 1 : l->high;
        if (is_type(arg, "axis axes"))
            l->high = first.ndim - 1;
        if (is_type(arg, "k shape sizes lengths sequence_lens"))
            l->high = PICK(random, 1, 2, 3);
    } else if (strstr(arg, "zero") || strcmp(arg, "zero_point") == 0) {
        static const double ends[] = {-128, 127, 0, 255, 3, 128, 1};
        l->fill = FILL_SAME;
        l->low = ends[test_random_below(random, 7)];
        double most = tl_dtype_max_double(l->dtype), least = tl_dtype_min_double(l->dtype);
        l->low = l->low > most ? most : l->low < least ? least : l->low;
        if (chance(random, 30)) {
            l->fill = FILL_INTEGERS;
            l->low = least > -128 ? least : -128;
            l->high = most < 127 ? most : 127;
        }
    } else if (is_floating(l->dtype) && strstr(arg, "scale") &&
               strncmp(op->optype, "layer", 5) != 0) {
        l->low = chance(random, 50) ? 0.01 : 0.1;
        l->high = l->low * 8;
        if (chance(random, 30))
            l->fill = FILL_SAME, l->low = 1.0 / PICK(random, 1, 2, 4, 16, 128);
        if (chance(random, 5)) // all of them, or some
            l->low = chance(random, 50) ? -l->high : -l->low;
    } else if (!is_floating(l->dtype) && strstr(arg, "scale")) {
        // No 0: by which 0, and what rounds to 0 as a half, are no numbers; others are infinite.
        l->fill = FILL_INTEGERS;
        l->low = 1;
        l->high = 9;
    } else if (strcmp(arg, "var") == 0)
        l->low = 0.1;
    else if (!is_floating(l->dtype)) {
        l->fill = FILL_INTEGERS;
        l->low = tl_dtype_min_double(l->dtype) < 0 ? -8 : 0;
        l->high = 9;
        if (chance(random, 40) || l->dtype == TL_UINT8 || l->dtype == TL_INT8) {
            double most = tl_dtype_max_double(l->dtype), least = tl_dtype_min_double(l->dtype);
            if (most < 70000)
                l->low = least, l->high = most;
        }
        if (strcmp(arg, "bias") == 0)
            l->low = -2000, l->high = 2000;
    } else if (chance(random, 10)) {
        static const double same[] = {0, 1, -1, 0.5, 2, 6, 3, -0.0, 1e-25, 1e25, 1.0 / 6};
        l->fill = FILL_SAME;
        l->low = same[test_random_below(random, s->has_extremes && s->is_huge ? 11 : 7)];
    } else if (chance(random, 8)) {
        l->fill = chance(random, 60) ? FILL_INTEGERS : FILL_HALVES;
        l->low = -4;
        l->high = 4;
    } else if (l->dtype == TL_FLOAT && chance(random, 4)) {
        l->fill = FILL_POWERS;
        l->low = PICK(random, -30, -30, -20, -8, 0, 8, 20);
        l->high = l->low == -30 && chance(random, 50) ? 30 : l->low + PICK(random, 1, 3, 10);
    } else if (s->has_extremes && chance(random, 40))
        l->fill = FILL_EXTREMES;
    else if (chance(random, 10))
        l->low = -20, l->high = 20;
}

// ---- Words ----

static const char *prose_of(const char *optype, int param)
{
    const ln_op *op = ln_op_find(optype);
    const op_prose *prose = op ? op_prose_find(op) : NULL;
    for (int i = 0; prose && prose->params && i <= param; i++)
        if (!prose->params[i])
            return NULL;
    return prose && prose->params ? prose->params[param] : NULL;
}

// A random word of a sentence.
static bool draw_word(test_random *random, const char *text, char *value, size_t len)
{
    int count = 0;
    for (const char *at = text; *at;) {
        size_t word = strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
        if (word && word < len && test_random_below(random, (size_t)++count) == 0) {
            memcpy(value, at, word);
            value[word] = '\0';
        }
        at += word ? word : 1;
    }
    return count > 0;
}

static const char *draw_act(test_random *random)
{
    static const char *const names[] = {
#define NAME(constant, name, doc) name,
        LN_ACT_LIST(NAME)
#undef NAME
    };
    return names[test_random_below(random, sizeof names / sizeof names[0])];
}

// ---- Parameters ----

static void print_ints(char *to, size_t len, const int *values, int count)
{
    int used = snprintf(to, len, "[");
    for (int i = 0; i < count; i++)
        used += snprintf(to + used, len - (size_t)used, "%s%d", i ? ", " : "", values[i]);
    snprintf(to + used, len - (size_t)used, "]");
}

static void draw_permutation(test_random *random, int *axes, int count)
{
    for (int i = 0; i < count; i++)
        axes[i] = i;
    for (int i = count - 1; i > 0; i--) {
        int k = (int)test_random_below(random, (size_t)i + 1), t = axes[i];
        axes[i] = axes[k];
        axes[k] = t;
    }
    if (count == 4 && chance(random, 60)) // between channels first and last
        memcpy(axes, chance(random, 50) ? (int[]){0, 2, 3, 1} : (int[]){0, 3, 1, 2},
               4 * sizeof *axes);
}

// Other dimensions of as many elements.
static int draw_reshape(test_random *random, const model_tensor *t, int *dims)
{
    int count = t->ndim;
    memcpy(dims, t->dims, sizeof t->dims);
    for (int i = (int)test_random_below(random, 3); i >= 0; i--) {
        if (count >= 2 && chance(random, 60)) { // two become one
            int at = (int)test_random_below(random, (size_t)count - 1);
            dims[at] *= dims[at + 1];
            memmove(dims + at + 1, dims + at + 2, (size_t)(count - at - 2) * sizeof *dims);
            count--;
        } else if (count < 6) { // one becomes two
            int at = (int)test_random_below(random, (size_t)count + 1);
            int by = at < count && dims[at] % 2 == 0 && dims[at] ? 2 : 1;
            memmove(dims + at + 1, dims + at, (size_t)(count - at) * sizeof *dims);
            dims[at] = by;
            if (at + 1 <= count && by == 2)
                dims[at + 1] /= 2;
            count++;
        }
    }
    return count;
}

// What is known of a parameter of certain types.
static bool known_param(test_random *random, const model *m, const model_op *op, const char *pname,
                        char *value, size_t len)
{
    const model_tensor *x = op->in_count ? &m->tensors[op->ins[0].tensor] : NULL;
    int rank = x ? x->ndim : 0, spatial = rank > 2 ? rank - 2 : 0, ints[16];
    if (strcmp(pname, "act") == 0)
        snprintf(value, len, "%s",
                 chance(random, 25)   ? "relu"
                 : chance(random, 20) ? "clip"
                                      : draw_act(random));
    else if (strcmp(pname, "elew_op") == 0) {
        static const char *const ops[] = {"TL_SUM", "TL_SUM",  "TL_MUL",  "TL_MUL", "TL_SUB",
                                          "TL_DIV", "TL_MAX",  "TL_MIN",  "TL_POW", "TL_MEAN",
                                          "TL_MOD", "TL_REST", "TL_POWER"};
        snprintf(value, len, "%s", ops[test_random_below(random, 13)]);
    } else if (strcmp(pname, "alpha") == 0 || strcmp(pname, "beta") == 0) {
        const char *act = model_op_param(m, op, "act");
        static const char *const numbers[] = {"0", "1", "0.1", "0.5", "-0.5",
                                              "2", "3", "6",   "-1",  "0.25"};
        snprintf(value, len, "%s", numbers[test_random_below(random, 10)]);
        if (act && strcmp(act, "clip") == 0 && chance(random, 80))
            snprintf(value, len, "%s", pname[0] == 'a' ? "0" : "6");
    } else if (strstr(pname, "dtype") || strcmp(pname, "to") == 0) {
        static const char *const types[] = {"TL_FLOAT",    "TL_FLOAT",  "TL_DOUBLE", "TL_FLOAT16",
                                            "TL_BFLOAT16", "TL_INT32",  "TL_INT8",   "TL_UINT8",
                                            "TL_INT16",    "TL_UINT16", "TL_INT64",  "TL_BOOL"};
        snprintf(value, len, "%s", types[test_random_below(random, 12)]);
        if (strcmp(pname, "output_dtype") == 0) // ONNX counts them
            snprintf(value, len, "%d", PICK(random, 0, 1, 2, 3, 4, 5, 10));
    } else if (strcmp(op->optype, "transpose") == 0 && x) {
        draw_permutation(random, ints, rank);
        print_ints(value, len, ints, rank);
    } else if (strcmp(op->optype, "reshape") == 0 && x) {
        print_ints(value, len, ints, draw_reshape(random, x, ints));
    } else if (strcmp(op->optype, "slice") == 0 && x && rank) {
        int axis = number_of(m, op, "axis", (int)test_random_below(random, (size_t)rank));
        if (axis < 0 || axis >= rank)
            return false;
        int size = x->dims[axis],
            start =
                number_of(m, op, "start", size ? (int)test_random_below(random, (size_t)size) : 0);
        // Where a part of a concatenation begins.
        int maker = model_maker(m, op->ins[0].tensor), sum = 0;
        if (maker >= 0 && strcmp(m->ops[maker].optype, "concat") == 0 && chance(random, 50) &&
            !model_op_param(m, op, "start") && m->ops[maker].in_count > 1) {
            int parts = 1 + (int)test_random_below(random, (size_t)m->ops[maker].in_count - 1);
            for (int i = 0; i < parts; i++)
                sum += m->tensors[m->ops[maker].ins[i].tensor].dims[axis];
            start = sum < size ? sum : start;
        }
        if (strcmp(pname, "start") == 0)
            snprintf(value, len, "%d", chance(random, 25) ? 0 : start);
        else if (strcmp(pname, "axis") == 0)
            snprintf(value, len, "%d", axis);
        else
            snprintf(value, len, "%d",
                     size <= start ? 0
                     : chance(random, 40)
                         ? 1
                         : 1 + (int)test_random_below(random, (size_t)(size - start)));
    } else if (is_type(op->optype, "lrn LRN") && strcmp(pname, "size") == 0) {
        snprintf(value, len, "%d", PICK(random, 1, 2, 3, 5, 70));
    } else if (is_type(op->optype, "lrn LRN")) {
        static const char *const numbers[] = {"0.5", "0.75", "1", "2", "0.001"};
        snprintf(value, len, "%s", numbers[test_random_below(random, 5)]);
    } else if (is_type(pname, "size stride dilation output_padding") && x) {
        for (int d = 0; d < spatial; d++)
            ints[d] = strcmp(pname, "output_padding") == 0 ? PICK(random, 0, 0, 1)
                      : strcmp(pname, "size") == 0         ? PICK(random, 1, 2, 2, 3, 3, 4)
                                                           : PICK(random, 1, 1, 2, 2, 3);
        print_ints(value, len, ints, spatial);
    } else if (strcmp(pname, "padding") == 0 && x) {
        for (int d = 0; d < 2 * spatial; d++)
            ints[d] = PICK(random, 0, 1, 1, 1, 2);
        if (chance(random, 40))
            for (int d = 1; d < 2 * spatial; d++)
                ints[d] = ints[0];
        print_ints(value, len, ints, 2 * spatial);
    } else if (strcmp(pname, "pads") == 0 && x) {
        for (int d = 0; d < 2 * rank; d++)
            ints[d] = d % rank >= 2 || chance(random, 20) ? PICK(random, 0, 1, 1, 2, -1) : 0;
        print_ints(value, len, ints, 2 * rank);
    } else if (strcmp(op->optype, "resize") == 0 && strcmp(pname, "dims") == 0 && x) {
        for (int d = 0; d < rank; d++)
            ints[d] =
                d < 2 ? x->dims[d] : PICK(random, x->dims[d], 2 * x->dims[d], x->dims[d] + 1, 1);
        print_ints(value, len, ints, rank);
    } else if (strstr(pname, "axis")) {
        int axis = rank ? (int)test_random_below(random, (size_t)rank) : 0;
        snprintf(value, len, "%d",
                 chance(random, 30) && strcmp(op->optype, "concat") != 0 ? axis - rank : axis);
    } else if (strcmp(pname, "axes") == 0 && x) {
        int count = 0;
        for (int d = 0; d < rank; d++)
            if (chance(random, 40))
                ints[count++] = chance(random, 30) ? d - rank : d;
        print_ints(value, len, ints, count);
    } else if (strcmp(pname, "epsilon") == 0) {
        static const char *const numbers[] = {"1e-5", "0.001", "0.1", "0.5", "1e-12"};
        snprintf(value, len, "%s", numbers[test_random_below(random, 5)]);
    } else if (is_type(pname, "heads kv_heads groups")) {
        snprintf(value, len, "%d", PICK(random, 1, 2, 2, 4, 0));
    } else
        return false;
    return true;
}

bool operator_draw_param(test_random *random, const model *m, const model_op *op,
                         const ln_op_info *info, int param, char *value, size_t len)
{
    const ln_param_info *p = &info->params[param];
    // What `put_channels` does not write is anything.
    if (strcmp(p->arg_name, "since") == 0 || strcmp(p->arg_name, "dst_channels") == 0)
        return false;
    if (known_param(random, m, op, p->arg_name, value, len))
        return true;
    const char *prose = prose_of(op->optype, param);
    int rank = op->in_count ? m->tensors[op->ins[0].tensor].ndim : 1, ints[8];
    static const char *const numbers[] = {"0.5", "0.1", "2", "-1", "0.25", "3", "1.5", "0"};
    static const char fractions[] =
        "scale softcap value p cubic_coeff_a extrapolation_value clip negslope bias lambd gamma size "
        "threshold mask_filter_value norm_factor factor momentum";
    switch (p->ptype) {
    case LN_PARAM_STRING: return prose && draw_word(random, prose, value, len);
    case LN_PARAM_NUMBER:
        if (p->is_whole || !is_type(p->arg_name, fractions))
            snprintf(value, len, "%d", PICK(random, 0, 1, 1, -1, 2, 3, rank - 1));
        else
            snprintf(value, len, "%s", numbers[test_random_below(random, 8)]);
        return true;
    case LN_PARAM_BOOL:
        snprintf(value, len, "%s", chance(random, 50) ? "true" : "false");
        return true;
    case LN_PARAM_ARRAY_NUMBER: {
        int count = PICK(random, rank, rank > 2 ? rank - 2 : 1, 1, rank > 2 ? 2 * rank - 4 : 2);
        for (int i = 0; i < count && i < 8; i++)
            ints[i] = PICK(random, 0, 1, 1, 2, 3);
        print_ints(value, len, ints, count < 8 ? count : 8);
        return true;
    }
    default: return false;
    }
}

// ---- Building ----

typedef struct undo {
    int op_count, tensor_count, arena_used;
} undo;

static undo mark(const model *m)
{
    return (undo){m->op_count, m->tensor_count, m->arena_used};
}

static void back(model *m, undo u)
{
    m->op_count = u.op_count;
    m->tensor_count = u.tensor_count;
    m->arena_used = u.arena_used;
    m->is_overflown = false;
}

#define UNLISTED (-3)

static int preset_in(const preset *p, const char *arg_name)
{
    for (int i = 0; i < p->in_count; i++)
        if (strcmp(p->ins[i].arg_name, arg_name) == 0)
            return p->ins[i].tensor;
    return UNLISTED;
}

// A tensor of the model of that type and shape; -1 if there is none.
static int like(const model *m, test_random *random, tl_dtype dtype, shape s)
{
    int found = -1, count = 0;
    for (int t = 0; t < m->tensor_count; t++) {
        const model_tensor *x = &m->tensors[t];
        if (x->dtype == dtype && x->ndim == s.ndim &&
            memcmp(x->dims, s.dims, (size_t)s.ndim * sizeof s.dims[0]) == 0 &&
            test_random_below(random, (size_t)++count) == 0)
            found = t;
    }
    return found;
}

// The operand for an argument: a new leaf, or a tensor that is there.
static int draw_operand(model *m, test_random *random, const sizes *s, model_op *op,
                        const ln_arg_info *arg, const char *arg_name, const preset *p)
{
    shape is;
    if (!operand_shape(m, random, s, op, arg->arg_name, &is))
        is = any_shape(random, s);
    const leaf_hint *hint = p->hint ? p->hint(p->user, arg_name) : NULL;
    leaf l = {.dtype = TL_DTYPE_INVALID};
    for (int i = 0; arg->same && i < op->in_count; i++)
        if (strncmp(op->ins[i].arg_name, arg->same, strlen(arg->same)) == 0)
            l.dtype = m->tensors[op->ins[i].tensor].dtype;
    // A zero point has the type of what it is for; operands of ONNX mostly have that of the first.
    const char *point = strstr(arg_name, "_zero_point");
    size_t prefix = point ? (size_t)(point - arg_name) : 0;
    for (int i = 0; prefix && i < op->in_count; i++)
        if (strncmp(op->ins[i].arg_name, arg_name, prefix) == 0 && !op->ins[i].arg_name[prefix])
            l.dtype = m->tensors[op->ins[i].tensor].dtype;
    if (!arg->same && !hint && op->in_count && l.dtype == TL_DTYPE_INVALID && chance(random, 60)) {
        tl_dtype first = m->tensors[op->ins[0].tensor].dtype;
        l.dtype = arg->types == 0 || arg->types & LN_TYPE(first) ? first : l.dtype;
    }
    if (l.dtype == TL_DTYPE_INVALID)
        l.dtype = hint && hint->dtype != TL_DTYPE_INVALID ? hint->dtype
                                                          : draw_dtype(random, s, arg->types);
    if (hint && hint->is_single && chance(random, 95))
        is = chance(random, 50) ? SHAPE(1) : (shape){.ndim = 0};
    if (hint && hint->rank >= 0)
        while (is.ndim != hint->rank) {
            if (is.ndim > hint->rank) {
                is.ndim--;
                memmove(is.dims, is.dims + 1, (size_t)is.ndim * sizeof is.dims[0]);
            } else {
                memmove(is.dims + 1, is.dims, (size_t)is.ndim * sizeof is.dims[0]);
                is.dims[0] = 1;
                is.ndim++;
            }
        }
    int there = hint && (hint->is_static || hint->has_fill) ? -1 : like(m, random, l.dtype, is);
    if (there >= 0 && chance(random, hint ? 15 : 45))
        return there;
    l.ndim = is.ndim;
    memcpy(l.dims, is.dims, sizeof l.dims);
    bool is_weight = arg->flags & (LN_ARG_WEIGHT | LN_ARG_STATIC);
    l.is_input = hint && hint->is_static  ? false
                 : hint && hint->is_input ? true
                 : is_weight              ? chance(random, 12)
                 : op->in_count == 0      ? chance(random, 94)
                                          : chance(random, 50);
    draw_fill(m, random, s, op, arg->arg_name, &l);
    if (hint && hint->has_fill) {
        l.fill = FILL_SAME;
        l.low = hint->fill;
        l.is_input = false;
    }
    if (hint && hint->is_static)
        l.is_input = false;
    // The leaf goes in front of the operator, which is the last one.
    model_op kept = *op;
    m->op_count--;
    int tensor = model_add_leaf(m, random, &l);
    if (m->op_count < MODEL_OPS)
        m->ops[m->op_count] = kept;
    m->op_count++;
    return tensor;
}

static model_op *top(model *m)
{
    return &m->ops[m->op_count - 1];
}

// Whether an optional operand is there. A rounding that is asked for says which rescale has.
static bool is_drawn(test_random *random, const preset *p, const char *arg)
{
    const char *rounding = NULL;
    for (int i = 0; i < p->param_count && strcmp(p->optype, "rescale") == 0; i++)
        if (strcmp(p->params[i].arg_name, "rounding") == 0 && p->params[i].value[0])
            rounding = p->params[i].value;
    if (rounding && strcmp(arg, "multiplier") == 0)
        return strcmp(rounding, "shift") != 0;
    if (rounding && strcmp(arg, "shift") == 0)
        return !is_type(rounding, "float away");
    return chance(random, 35);
}

static void add_operands(model *m, test_random *random, const sizes *s, const ln_op_info *info,
                         const preset *p)
{
    for (const ln_arg_info *arg = info->ins; arg && arg->arg_name && !m->is_overflown; arg++) {
        bool is_variadic = arg->flags & LN_ARG_VARIADIC;
        int at_least = is_variadic ? PICK(random, 1, 2, 2, 2, 3) : 1;
        if (is_type(top(m)->optype, "elew einsum"))
            at_least = 2;
        for (int i = 1; i <= (is_variadic ? MODEL_ARGS : 1); i++) {
            char arg_name[MODEL_NAME];
            snprintf(arg_name, sizeof arg_name, is_variadic ? "%.50s%d" : "%.50s", arg->arg_name,
                     i);
            int tensor = preset_in(p, arg_name);
            if (tensor == ABSENT || (is_variadic && tensor == UNLISTED && i > at_least))
                break;
            bool is_optional = arg->flags & LN_ARG_OPTIONAL;
            if (tensor == UNLISTED && is_optional && !is_drawn(random, p, arg_name))
                break;
            if (tensor < 0)
                tensor = draw_operand(m, random, s, top(m), arg, arg_name, p);
            model_op_add_in(m, top(m), arg_name, tensor);
        }
    }
}

static void add_params(model *m, test_random *random, const ln_op_info *info, const preset *p,
                       bool is_before)
{
    for (int i = 0; info->params && info->params[i].arg_name; i++) {
        const char *name = info->params[i].arg_name;
        char value[200];
        bool is_preset = false, is_wanted = false;
        for (int k = 0; k < p->param_count; k++)
            if (strcmp(p->params[k].arg_name, name) == 0) {
                is_wanted = p->is_drawn && !p->params[k].value[0];
                is_preset = !is_wanted;
                if (is_before && p->params[k].value[0])
                    model_op_set_param(m, top(m), name, p->params[k].value);
            }
        bool decides = is_type(name, "kind direction layout hidden_size"); // how many there are
        bool is_axis = strcmp(name, "axis") == 0 && top(m)->in_count > 0;
        bool is_late = !decides || info->params[i].is_required;
        if (is_preset || model_op_param(m, top(m), name) ||
            (is_before ? !decides && !is_axis : !is_late))
            continue;
        bool is_required = info->params[i].is_required || strcmp(p->optype, "Concat") == 0;
        if (!is_required && !is_wanted && (p->has_plain_params || !chance(random, 35)))
            continue;
        if (operator_draw_param(random, m, top(m), info, i, value, sizeof value))
            model_op_set_param(m, top(m), name, value);
    }
}

static void add_outputs(model *m, test_random *random, const ln_op_info *info, const preset *p)
{
    for (const ln_arg_info *arg = info->outs; arg && arg->arg_name; arg++) {
        if (arg->flags & LN_ARG_SCRATCH)
            continue;
        bool is_asked = false;
        for (int i = 0; i < p->out_count; i++)
            is_asked = is_asked || strcmp(p->outs[i], arg->arg_name) == 0;
        if (arg->flags & LN_ARG_OPTIONAL && !is_asked &&
            !(arg == info->outs && p->out_count == 0) && !chance(random, 35))
            continue;
        int count = 1;
        if (arg->flags & LN_ARG_VARIADIC && top(m)->in_count)
            count = m->tensors[top(m)->ins[0].tensor].dims[0];
        for (int i = 1; i <= count && i < 8; i++) {
            char arg_name[MODEL_NAME];
            snprintf(arg_name, sizeof arg_name, arg->flags & LN_ARG_VARIADIC ? "%.50s%d" : "%.50s",
                     arg->arg_name, i);
            model_op_add_out(m, top(m), arg_name);
        }
    }
}

// An addend has the shape of the result, which is known once the operator without it is checked.
static void try_addend(model *m, test_random *random, const ln_op_info *info, const preset *p)
{
    bool takes = false;
    for (const ln_arg_info *arg = info->ins; arg && arg->arg_name; arg++)
        takes = takes || strcmp(arg->arg_name, "addend") == 0;
    if (!takes || p->in_count || !chance(random, 40) || model_op_in(top(m), "addend") >= 0)
        return;
    const model_tensor *y = &m->tensors[top(m)->outs[0].tensor];
    undo u = mark(m);
    model_op kept = *top(m);
    shape is = shape_of(m, kept.outs[0].tensor);
    int there = -1;
    for (int t = 0; t < m->tensor_count; t++)
        if (t != kept.outs[0].tensor && m->tensors[t].dtype == y->dtype && model_maker(m, t) >= 0 &&
            m->tensors[t].ndim == is.ndim &&
            memcmp(m->tensors[t].dims, is.dims, (size_t)is.ndim * sizeof is.dims[0]) == 0)
            there = t;
    if (there < 0 || chance(random, 40)) {
        leaf l = {.dtype = y->dtype, .ndim = is.ndim, .is_input = true, .low = -2, .high = 2};
        memcpy(l.dims, is.dims, sizeof l.dims);
        m->op_count--;
        there = model_add_leaf(m, random, &l);
        m->ops[m->op_count++] = kept;
    }
    model_op_add_in(m, top(m), "addend", there);
    if (model_check(m))
        return;
    back(m, u);
    *top(m) = kept;
}

bool operator_add(model *m, test_random *random, const sizes *s, const preset *p, int *out_op)
{
    const ln_op_info *info = operator_info(p->optype);
    if (!info)
        return false;
    undo u = mark(m);
    for (int i = 0; i < TRIES; i++) {
        back(m, u);
        if (m->op_count + 12 > MODEL_OPS || m->tensor_count + 12 > MODEL_TENSORS)
            return false;
        model_add_op(m, p->optype);
        preset q = *p;
        if (i > TRIES / 2)
            q.has_plain_params = true;
        // Parameters on which the shapes of operands depend come first, of those that are given.
        if (q.in_count && q.ins[0].tensor >= 0)
            model_op_add_in(m, top(m), q.ins[0].arg_name, q.ins[0].tensor);
        add_params(m, random, info, &q, true);
        top(m)->in_count = 0;
        add_operands(m, random, s, info, &q);
        add_params(m, random, info, &q, false);
        add_outputs(m, random, info, &q);
        if (!model_check(m)) {
            if (getenv("LN_DEBUG"))
                printf("not %s: %s\n", p->optype, ln_error_message());
            continue;
        }
        try_addend(m, random, info, &q);
        if (out_op)
            *out_op = m->op_count - 1;
        return true;
    }
    back(m, u);
    return false;
}
