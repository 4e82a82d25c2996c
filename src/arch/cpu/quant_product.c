// SPDX-License-Identifier: Apache-2.0
// Products of bytes: from tensors and parameters to the kernels.

#include "arch/cpu/quant_columns.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include <lightnet/convdim.h>

#include "arch/cpu/call.h"
#include "arch/cpu/functions.h"
#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/conv_i8/conv_i8.h"
#include "arch/cpu/kernels/eltwise/eltwise.h"
#include "arch/cpu/kernels/gemm_i8/packed_i8.h"
#include "arch/cpu/nhwc.h"
#include "op/call.h"
#include "op/functions.h"
#include "op/prepare.h"
#include "op/rescale.h"
#include "op/types.h"

// ---- Products of all shapes ----

static ln_status read_act(ln_call *call, ln_act_f32_args *act)
{
    return ln_nhwc_read_act(call, "act", "alpha", "beta", act);
}

// An activation of floats comes after them.
static void finish(ln_call *call, const ln_i8_product *product, const ln_quant_product *p)
{
    tl_tensor *dst = ln_call_dst(call, 0);
    if (p->kind == LN_QUANT_TO_FLOAT && product->act.act != LN_ACT_NONE)
        ln_act_f32(ln_cpu_isa_get(), &product->act, (size_t)dst->len, dst->data, dst->data,
                   ln_cpu_call_pool(call));
}

static ln_status infer_packed(ln_call *call, size_t bytes)
{
    if (bytes > INT_MAX)
        return ln_call_fail(call, LN_LIMIT, "packed weights of %zu bytes do not fit a tensor",
                            bytes);
    return ln_call_out(call, 0, TL_INT8, 1, (const int[]){(int)bytes});
}

// ---- Packed matrices ----

ln_status ln_cpu_infer_quant_pack(ln_call *call)
{
    const int *dims = ln_call_in(call, 0)->dims;
    LN_TRY(ln_nhwc_check_ranks(call, 1, (const int[]){2}));
    int is_turned = ln_call_int(call, "transB") != 0;
    return infer_packed(call,
                        ln_gemm_i8_packed_bytes((size_t)dims[is_turned], (size_t)dims[!is_turned]));
}

ln_status ln_cpu_quant_pack(ln_call *call)
{
    const tl_tensor *weight = ln_call_in(call, 0);
    int is_turned = ln_call_int(call, "transB") != 0;
    size_t k = (size_t)weight->dims[is_turned], n = (size_t)weight->dims[!is_turned];
    const ln_i8_weights weights = {weight->data, is_turned ? 1 : n, is_turned ? k : 1,
                                   weight->dtype == TL_INT8, true};
    ln_gemm_pack_i8(k, n, &weights, ln_call_dst(call, 0)->data, ln_cpu_call_pool(call));
    return LN_OK;
}

typedef struct packed_product {
    ln_i8_product product;
    int outputs;
} packed_product;

static ln_status read_packed(ln_call *call, packed_product *p)
{
    static const ln_nhwc_param params[] = {{"outputs", 0, 1, offsetof(packed_product, outputs)},
                                           {NULL, 0, 0, 0}};
    const tl_tensor *src = ln_call_in(call, 0);
    LN_TRY(ln_nhwc_read(call, params, p));
    LN_TRY(read_act(call, &p->product.act));
    p->product.is_unsigned = ln_call_int(call, "unsigned_weights") != 0;
    if (src->ndim < 1)
        return ln_call_fail(call, LN_INVALID, "src is a scalar");
    return ln_i8_check_packed(
        call, 1, ln_gemm_i8_packed_bytes((size_t)src->dims[src->ndim - 1], (size_t)p->outputs));
}

static size_t packed_workspace(size_t k, size_t n)
{
    size_t bytes = ln_gemm_i8_workspace(k, n);
    return bytes < SIZE_MAX / 2 ? ln_i8_column_bytes(n) + ln_i8_rounded(bytes) : SIZE_MAX;
}

ln_status ln_cpu_infer_quant_matmul_packed(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    packed_product p = {0};
    ln_quant_product product;
    int dims[TL_MAXDIM];
    LN_TRY(read_packed(call, &p));
    LN_TRY(ln_quant_product_read(call, p.outputs, &product));
    memcpy(dims, src->dims, (size_t)src->ndim * sizeof *dims);
    dims[src->ndim - 1] = p.outputs;
    LN_TRY(ln_call_out(call, 0, product.dtype, src->ndim, dims));
    return ln_cpu_call_infer_workspace(
        call, 1, packed_workspace((size_t)src->dims[src->ndim - 1], (size_t)p.outputs));
}

static ln_status prepare_packed(ln_call *call, packed_product *p)
{
    const tl_tensor *src = ln_call_in(call, 0);
    LN_TRY(read_packed(call, p));
    return ln_i8_product_prepare(call, (size_t)p->outputs, (size_t)src->dims[src->ndim - 1],
                                 &p->product);
}

LN_PREPARE(ln_cpu_prepare_quant_matmul_packed, packed_product, prepare_packed)

ln_status ln_cpu_quant_matmul_packed(ln_call *call)
{
    const packed_product *prepared = ln_call_prepared(call);
    const tl_tensor *src = ln_call_in(call, 0), *dst = ln_call_dst(call, 0);
    const size_t k = (size_t)src->dims[src->ndim - 1], n = (size_t)prepared->outputs;
    char *workspace = (void *)ln_cpu_call_workspace(call, 1, packed_workspace(k, n));
    ln_i8_columns c;
    ln_quant_product p;
    if (!workspace)
        return ln_error_status();
    ln_gemm_i8_args args = {.m = (size_t)dst->len / n,
                            .n = n,
                            .k = k,
                            .a = src->data,
                            .a_step = k,
                            .is_signed = src->dtype == TL_INT8,
                            .packed = ln_call_in(call, 1)->data,
                            .y = dst->data,
                            .y_step = n};
    LN_TRY(ln_i8_product_start(call, &prepared->product, workspace, &c, &p, &args.epilogue));
    args.zero = ln_quant_zero(p.src_zero);
    args.zeros = c.has_zeros ? c.zeros : NULL;
    args.bias = c.bias;
    ln_gemm_i8(ln_cpu_isa_get(), &args, workspace + ln_i8_column_bytes(n), ln_cpu_call_pool(call));
    finish(call, &prepared->product, &p);
    return LN_OK;
}

// ---- Stacks of matrices whose weights come in the run ----

ln_status ln_cpu_accepts_quant_matmul(ln_call *call)
{
    if (ln_call_in(call, 0)->dtype == TL_INT16)
        return ln_call_fail(call, LN_UNSUPPORTED, "leaves INT16 to arch ref");
    if (ln_call_in(call, 0)->ndim >= 2 && ln_call_in(call, 1)->ndim >= 2)
        return LN_OK;
    return ln_call_fail(call, LN_UNSUPPORTED, "leaves vectors to arch ref");
}

// Columns, packed weights, and what the product works with.
static size_t stack_workspace(const ln_matmul_call *m, size_t *out_packed, size_t *out_product)
{
    const size_t k = (size_t)m->b.rows, n = (size_t)m->b.columns;
    const size_t packed = ln_gemm_i8_packed_bytes(k, n), product = ln_gemm_i8_workspace(k, n);
    if (packed > SIZE_MAX / 4 || product > SIZE_MAX / 4)
        return SIZE_MAX;
    *out_packed = ln_i8_column_bytes(n);
    *out_product = *out_packed + ln_i8_rounded(packed);
    return *out_product + ln_i8_rounded(product);
}

ln_status ln_cpu_infer_quant_matmul(ln_call *call)
{
    ln_matmul_call matmul;
    size_t packed, product;
    LN_TRY(ln_infer_quant_matmul(call));
    LN_TRY(ln_matmul_call_read(call, &matmul));
    return ln_cpu_call_infer_workspace(call, 1, stack_workspace(&matmul, &packed, &product));
}

static ln_status prepare_stack(ln_call *call, ln_i8_product *p)
{
    ln_matmul_call matmul;
    LN_TRY(ln_matmul_call_read(call, &matmul));
    LN_TRY(read_act(call, &p->act));
    p->is_unsigned = ln_call_in(call, 1)->dtype == TL_UINT8;
    return ln_i8_product_prepare(call, (size_t)matmul.b.columns, (size_t)matmul.b.rows, p);
}

LN_PREPARE(ln_cpu_prepare_quant_matmul, ln_i8_product, prepare_stack)

// One matrix of each side.
static void multiply(const ln_matmul_call *m, ln_gemm_i8_args *args, const uint8_t *b,
                     bool is_b_signed, int8_t *packed, void *workspace, ln_pool *pool)
{
    const ln_cpu_isa isa = ln_cpu_isa_get();
    const ln_i8_weights weights = {b, (size_t)m->b.row_step, (size_t)m->b.column_step, is_b_signed,
                                   ln_gemm_i8_uses_spans(isa, args->m)};
    ln_gemm_pack_i8(args->k, args->n, &weights, packed, pool);
    args->packed = packed;
    ln_gemm_i8(isa, args, workspace, pool);
}

static void multiply_stack(ln_call *call, const ln_matmul_call *m, ln_gemm_i8_args *args,
                           int8_t *packed, void *workspace)
{
    const tl_tensor *weight = ln_call_in(call, 1);
    const bool is_b_signed = weight->dtype == TL_INT8;
    const size_t y_bytes = args->m * args->n * (args->epilogue.result == LN_I8_TO_BYTES ? 1 : 4);
    const uint8_t *a = args->a, *b = weight->data;
    int64_t at[TL_MAXDIM] = {0};
    for (;;) {
        args->a = a;
        multiply(m, args, b, is_b_signed, packed, workspace, ln_cpu_call_pool(call));
        args->y = (char *)args->y + y_bytes;
        int d = m->batch_ndim - 1;
        for (; d >= 0; d--) {
            a += m->a.steps[d];
            b += m->b.steps[d];
            if (++at[d] < m->batch_dims[d])
                break;
            a -= m->a.steps[d] * at[d];
            b -= m->b.steps[d] * at[d];
            at[d] = 0;
        }
        if (d < 0)
            return;
    }
}

ln_status ln_cpu_quant_matmul(ln_call *call)
{
    const ln_i8_product *prepared = ln_call_prepared(call);
    const tl_tensor *src = ln_call_in(call, 0), *dst = ln_call_dst(call, 0);
    ln_matmul_call m;
    size_t packed_at, product_at;
    LN_TRY(ln_matmul_call_read(call, &m));
    size_t bytes = stack_workspace(&m, &packed_at, &product_at);
    char *workspace = (void *)ln_cpu_call_workspace(call, 1, bytes);
    ln_i8_columns c;
    ln_quant_product p;
    if (!workspace)
        return ln_error_status();
    if (dst->len == 0)
        return LN_OK;
    ln_gemm_i8_args args = {.m = (size_t)m.a.rows,
                            .n = (size_t)m.b.columns,
                            .k = (size_t)m.a.columns,
                            .a = src->data,
                            .a_step = (size_t)m.a.row_step,
                            .is_signed = src->dtype == TL_INT8,
                            .y = dst->data,
                            .y_step = (size_t)m.b.columns};
    LN_TRY(ln_i8_product_start(call, prepared, workspace, &c, &p, &args.epilogue));
    args.zero = ln_quant_zero(p.src_zero);
    args.zeros = c.has_zeros ? c.zeros : NULL;
    args.bias = c.bias;
    multiply_stack(call, &m, &args, (int8_t *)workspace + packed_at, workspace + product_at);
    finish(call, prepared, &p);
    return LN_OK;
}

// ---- Convolutions ----

static ln_conv_shape weight_shape(const int dims[4], int group)
{
    return (ln_conv_shape){.group = (size_t)group,
                           .in_channels = (size_t)dims[1] * (size_t)group,
                           .out_channels = (size_t)dims[0],
                           .kernel_h = (size_t)dims[2],
                           .kernel_w = (size_t)dims[3]};
}

// Weights of `group` groups, of which `merged` at a time are packed as one.
typedef struct conv_pack {
    int group, merged;
    ln_conv_shape shape; // with merged groups
} conv_pack;

static ln_status read_pack(ln_call *call, conv_pack *p)
{
    static const ln_nhwc_param params[] = {{"group", 0, 1, offsetof(conv_pack, group)},
                                           {"merged", 0, 1, offsetof(conv_pack, merged)},
                                           {NULL, 0, 0, 0}};
    const tl_tensor *weight = ln_call_in(call, 0);
    LN_TRY(ln_nhwc_check_ranks(call, 1, (const int[]){4}));
    LN_TRY(ln_nhwc_read(call, params, p));
    const tl_tensor *zero = ln_call_in(call, 1);
    const int *d = weight->dims;
    if (zero && zero->len != 1 && zero->len != d[0])
        return ln_call_fail(call, LN_INVALID, "weight_zero has %d numbers in place of 1 or %d",
                            zero->len, d[0]);
    if (d[0] % p->group != 0 || weight->len == 0 || p->group % p->merged != 0)
        return ln_call_fail(call, LN_INVALID, "%d output channels cannot be shared by %d groups",
                            d[0], p->group);
    if (weight->len > INT_MAX / p->merged)
        return ln_call_fail(call, LN_LIMIT, "merged groups have too many weights");
    const int merged[] = {d[0], d[1] * p->merged, d[2], d[3]};
    p->shape = weight_shape(merged, p->group / p->merged);
    return LN_OK;
}

static size_t merged_len(ln_call *call, const conv_pack *p)
{
    return (size_t)ln_call_in(call, 0)->len * (size_t)p->merged;
}

ln_status ln_cpu_infer_quant_conv_pack(ln_call *call)
{
    conv_pack p;
    LN_TRY(read_pack(call, &p));
    LN_TRY(infer_packed(call, ln_conv_i8_packed_bytes(&p.shape)));
    return ln_cpu_call_infer_workspace(call, 1, 2 * merged_len(call, &p));
}

// The weights of each output among those of its merged groups: all others are its zero point.
static void merge_groups(ln_call *call, const conv_pack *p, uint8_t *to)
{
    const tl_tensor *weight = ln_call_in(call, 0), *zero = ln_call_in(call, 1);
    const size_t outputs = (size_t)weight->dims[0], merged = (size_t)p->merged;
    const size_t len = (size_t)weight->len / outputs, of_group = outputs / (size_t)p->group;
    const uint8_t *from = weight->data;
    for (size_t o = 0; o < outputs; o++, from += len, to += merged * len) {
        memset(to, (uint8_t)ln_i8_zero_at(zero, o), merged * len);
        memcpy(to + o / of_group % merged * len, from, len);
    }
}

ln_status ln_cpu_quant_conv_pack(ln_call *call)
{
    const tl_tensor *weight = ln_call_in(call, 0);
    conv_pack p;
    LN_TRY(read_pack(call, &p));
    const size_t len = merged_len(call, &p);
    uint8_t *scratch = (void *)ln_cpu_call_workspace(call, 1, 2 * len);
    if (!scratch)
        return ln_error_status();
    merge_groups(call, &p, scratch + len);
    ln_conv_i8_pack(&p.shape, scratch + len, weight->dtype == TL_INT8, scratch,
                    ln_call_dst(call, 0)->data, ln_cpu_call_pool(call));
    return LN_OK;
}

typedef struct convolution {
    ln_i8_product product;
    int group, merged, channels, axes;
    int size[3], stride[3], padding[6], dilation[3]; // of so many axes; padding before, then after
    int out[5];
    ln_conv_shape shape;
    ln_conv_i8_depth depth; // of volumes
    ln_channels window;     // of the result, of images of bytes
} convolution;

static ln_status infer_shape(ln_call *call, convolution *c)
{
    const tl_tensor *src = ln_call_in(call, 0);
    c->out[0] = src->dims[0];
    c->out[c->axes + 1] = c->channels;
    for (int i = 0; i < c->axes; i++) {
        c->out[1 + i] = ln_output_dim_conv(src->dims[1 + i], c->size[i], c->stride[i],
                                           c->padding[i], c->padding[c->axes + i], c->dilation[i]);
        if (c->out[1 + i] < 0)
            return ln_nhwc_pass_on(call, ln_error_status());
    }
    const int inputs = src->dims[c->axes + 1];
    if (inputs % c->group != 0 || inputs / c->group % c->merged != 0 || c->channels % c->group != 0)
        return ln_call_fail(call, LN_INVALID, "%d channels and %d outputs, %d groups", inputs,
                            c->channels, c->group);
    return LN_OK;
}

// The first axis of volumes. The kernel of the shape has the rows of all its depths.
static void set_depth(const tl_tensor *src, convolution *c)
{
    c->depth = (ln_conv_i8_depth){.window = {.in = (size_t)src->dims[1],
                                             .kernel = (size_t)c->size[0],
                                             .stride = (size_t)c->stride[0],
                                             .dilation = (size_t)c->dilation[0],
                                             .pad = (size_t)c->padding[0]},
                                  .out = (size_t)c->out[1]};
    c->shape.kernel_h *= (size_t)c->size[0];
}

static ln_status read_shape(ln_call *call, convolution *c)
{
    const tl_tensor *src = ln_call_in(call, 0);
    const int y = c->axes - 2, x = c->axes - 1; // the last two axes
    LN_TRY(infer_shape(call, c));
    c->shape = weight_shape(
        (const int[]){c->channels, src->dims[c->axes + 1] / c->group, c->size[y], c->size[x]},
        c->group);
    c->shape.batch = (size_t)src->dims[0];
    c->shape.in_h = (size_t)src->dims[1 + y];
    c->shape.in_w = (size_t)src->dims[1 + x];
    c->shape.out_h = (size_t)c->out[1 + y];
    c->shape.out_w = (size_t)c->out[1 + x];
    c->shape.stride_h = (size_t)c->stride[y];
    c->shape.stride_w = (size_t)c->stride[x];
    c->shape.dilation_h = (size_t)c->dilation[y];
    c->shape.dilation_w = (size_t)c->dilation[x];
    c->shape.pad_top = (size_t)c->padding[y];
    c->shape.pad_left = (size_t)c->padding[x];
    if (c->axes == 3)
        set_depth(src, c);
    return ln_i8_check_packed(call, 1, ln_conv_i8_packed_bytes(&c->shape));
}

static ln_status read_convolution(ln_call *call, convolution *c)
{
    const int rank = ln_call_in(call, 0)->ndim, axes = rank == 5 ? 3 : 2;
    const ln_nhwc_param params[] = {
        {"group", 0, 1, offsetof(convolution, group)},
        {"merged", 0, 1, offsetof(convolution, merged)},
        {"channels", 0, 1, offsetof(convolution, channels)},
        {"size", axes, 1, offsetof(convolution, size)},
        {"stride", axes, 1, offsetof(convolution, stride)},
        {"padding", 2 * axes, 0, offsetof(convolution, padding)},
        {"dilation", axes, 1, offsetof(convolution, dilation)},
        {NULL, 0, 0, 0},
    };
    LN_TRY(ln_nhwc_check_ranks(call, 1, (const int[]){axes + 2}));
    LN_TRY(ln_nhwc_read(call, params, c));
    c->axes = axes;
    LN_TRY(read_act(call, &c->product.act));
    c->product.is_unsigned = ln_call_int(call, "unsigned_weights") != 0;
    LN_TRY(ln_channels_read(call, &c->window));
    return read_shape(call, c);
}

// ---- Convolutions whose sums are rescaled ----

// Sums of a pixel's channels are more than a depthwise convolution holds.
#define MAX_RESCALED_CHANNELS 8192

// The largest product of two differences of bytes.
#define MAX_PRODUCT (255.0 * 255.0)

typedef struct rescaling {
    const tl_tensor *multiplier, *shift, *zero;
} rescaling;

static rescaling rescaling_of(ln_call *call)
{
    return (rescaling){ln_call_in(call, 9), ln_call_in(call, 10), ln_call_in(call, 11)};
}

static ln_status check_rescaling(ln_call *call, const convolution *c, const ln_quant_product *p)
{
    const rescaling r = rescaling_of(call);
    if (!r.multiplier && !r.shift && !r.zero)
        return LN_OK;
    if (!r.multiplier || !r.shift || !r.zero || p->kind != LN_QUANT_TO_SUM)
        return ln_call_fail(call, LN_INVALID,
                            "a multiplier, a shift and a zero point go together, without scales");
    if ((r.multiplier->len != 1 && r.multiplier->len != c->channels) ||
        r.shift->len != r.multiplier->len || r.zero->len != 1)
        return ln_call_fail(call, LN_INVALID,
                            "%d multipliers, %d shifts, %d zero points, %d channels",
                            r.multiplier->len, r.shift->len, r.zero->len, c->channels);
    if (c->channels > MAX_RESCALED_CHANNELS)
        return ln_call_fail(call, LN_LIMIT, "%d channels are more than %d", c->channels,
                            MAX_RESCALED_CHANNELS);
    return LN_OK;
}

// Factors of each kind: of few channels for several pixels.
static size_t factors_len(size_t channels, size_t len)
{
    return channels <= LN_RESCALE_NARROW / 2 ? ln_max(len, (size_t)LN_RESCALE_NARROW) : len;
}

static size_t factor_bytes(const ln_call *call, const ln_conv_shape *shape)
{
    const size_t len = factors_len(shape->out_channels, ln_conv_i8_channels(shape));
    return ln_call_in(call, 9) ? ln_i8_rounded(4 * len * sizeof(int32_t)) : 0;
}

static void fill_factors(const rescaling *r, size_t channels, size_t pixels, size_t len,
                         int32_t *to)
{
    const int32_t *multipliers = r->multiplier->data, *shifts = r->shift->data;
    const size_t step = r->multiplier->len > 1;
    memset(to, 0, 4 * len * sizeof *to);
    for (size_t i = 0; i < channels; i++) {
        const int32_t shift = shifts[i * step];
        to[i] = multipliers[i * step];
        to[len + i] = shift > 0 ? shift : 0;
        to[2 * len + i] = shift < 0 ? -shift : 0;
        to[3 * len + i] = shift < 0 ? 1 << (-shift - 1) : 0;
    }
    for (size_t i = channels; i < pixels * channels; i++) {
        for (size_t k = 0; k < 4; k++)
            to[k * len + i] = to[k * len + i - channels];
    }
}

static int32_t greatest(const tl_tensor *t)
{
    const int32_t *x = t->data;
    int32_t most = x[0];
    for (int i = 1; i < t->len; i++)
        most = x[i] > most ? x[i] : most;
    return most;
}

// Sums are of 31 bits, and all shifts go right.
static bool is_small(const ln_i8_columns *c, int32_t most_shift)
{
    const double products = (double)c->terms * MAX_PRODUCT;
    bool is_within = most_shift < 0;
    for (size_t i = 0; i < c->count && is_within; i++)
        is_within = products + fabs((double)c->bias[i]) < 0x1p30;
    return is_within;
}

static int32_t bounded(int64_t bound, tl_dtype dtype)
{
    const int64_t least = dtype == TL_INT8 ? -128 : 0;
    return (int32_t)(bound < least ? least : bound > least + 255 ? least + 255 : bound);
}

// In a run: factors in `block`.
static ln_status start_rescaling(ln_call *call, const ln_i8_columns *c, int32_t *block,
                                 ln_rescale_columns *out_rescale)
{
    const rescaling r = rescaling_of(call);
    const size_t len = factors_len(c->count, c->len);
    const bool is_narrow = c->count > 0 && c->count <= LN_RESCALE_NARROW / 2;
    const size_t repeats = is_narrow ? LN_RESCALE_NARROW / c->count : 0;
    const ln_rescale shifts = {.shift = r.shift, .rounding = LN_ROUNDING_Q31};
    LN_TRY(ln_rescale_check_shifts(call, &shifts));
    fill_factors(&r, c->count, repeats, len, block);
    const int32_t most_shift = greatest(r.shift);
    *out_rescale = (ln_rescale_columns){
        .of = {.src = LN_RESCALE_INT32,
               .dst = r.zero->dtype == TL_INT8 ? LN_RESCALE_INT8 : LN_RESCALE_UINT8,
               .dst_zero = ln_quant_zero(r.zero),
               .low = bounded(ln_call_int(call, "low"), r.zero->dtype),
               .high = bounded(ln_call_int(call, "high"), r.zero->dtype),
               .has_left = most_shift > 0,
               .is_small = is_small(c, most_shift)},
        .factors = {block, block + len, block + 2 * len, block + 3 * len},
        .kernel = ln_rescale_select(ln_cpu_isa_get()),
        .count = c->count,
        .repeats = repeats};
    return LN_OK;
}

// The dimensions of the result, of which a window of channels may be written.
static ln_status infer_window(ln_call *call, const convolution *c, tl_dtype dtype, int *dims)
{
    const tl_tensor *into = ln_call_in(call, 12);
    memcpy(dims, c->out, sizeof c->out);
    if (!into && !c->window.dst_first && !c->window.dst_channels)
        return LN_OK;
    if (c->axes != 2 || dtype == TL_INT32 || (into && (into->dtype != dtype || into->ndim != 4)))
        return ln_call_fail(call, LN_INVALID,
                            "writes some channels of images of bytes or numbers only");
    return ln_nhwc_pass_on(
        call, ln_channels_shape(dims, ln_call_in(call, 0), into, &c->window, c->channels));
}

// What comes after numbers, of the channels that are written.
static void finish_channels(ln_call *call, const convolution *c, const ln_quant_product *p)
{
    tl_tensor *dst = ln_call_dst(call, 0);
    const int step = dst->dims[c->axes + 1];
    if (step == c->channels) {
        finish(call, &c->product, p);
        return;
    }
    if (p->kind != LN_QUANT_TO_FLOAT || c->product.act.act == LN_ACT_NONE)
        return;
    float *y = (float *)dst->data + c->window.dst_first;
    for (int i = 0; i < dst->len; i += step)
        ln_act_f32(ln_cpu_isa_get(), &c->product.act, (size_t)c->channels, y + i, y + i, NULL);
}

static size_t conv_workspace(const ln_call *call, const convolution *c)
{
    const size_t bytes = ln_conv_i8_workspace(&c->shape, &c->depth);
    return bytes < SIZE_MAX / 2 ? ln_i8_column_bytes(c->shape.out_channels) +
                                      factor_bytes(call, &c->shape) + ln_i8_rounded(bytes)
                                : SIZE_MAX;
}

ln_status ln_cpu_infer_quant_conv_nhwc(ln_call *call)
{
    convolution c = {0};
    ln_quant_product p;
    LN_TRY(read_convolution(call, &c));
    LN_TRY(ln_quant_product_read(call, c.channels, &p));
    LN_TRY(check_rescaling(call, &c, &p));
    const tl_tensor *zero = rescaling_of(call).zero;
    const tl_dtype dtype = zero ? zero->dtype : p.dtype;
    int dims[5];
    LN_TRY(infer_window(call, &c, dtype, dims));
    LN_TRY(ln_call_out(call, 0, dtype, c.axes + 2, dims));
    return ln_cpu_call_infer_workspace(call, 1, conv_workspace(call, &c));
}

double ln_cpu_macs_quant_conv_nhwc(const ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0), *dst = ln_call_dst(call, 0);
    const int axes = src->ndim - 2;
    double products =
        src->dims[axes + 1] / ln_call_float(call, "group") / ln_call_float(call, "merged");
    for (int i = 0; i < axes; i++)
        products *= ln_call_float_at(call, "size", i);
    return dst ? dst->len * products : 0;
}

static ln_status prepare_convolution(ln_call *call, convolution *c)
{
    LN_TRY(read_convolution(call, c));
    const ln_conv_shape *s = &c->shape;
    const size_t channels = s->in_channels / s->group / (size_t)c->merged;
    const size_t terms = channels * s->kernel_h * s->kernel_w; // others are 0
    return ln_i8_product_prepare(call, (size_t)c->channels, terms, &c->product);
}

LN_PREPARE(ln_cpu_prepare_quant_conv_nhwc, convolution, prepare_convolution)

ln_status ln_cpu_quant_conv_nhwc(ln_call *call)
{
    const convolution *prepared = ln_call_prepared(call);
    const ln_conv_shape *shape = &prepared->shape;
    const tl_tensor *src = ln_call_in(call, 0);
    tl_tensor *dst = ln_call_dst(call, 0);
    char *workspace = (void *)ln_cpu_call_workspace(call, 1, conv_workspace(call, prepared));
    ln_i8_columns c;
    ln_quant_product p;
    if (!workspace)
        return ln_error_status();
    ln_nhwc_start(ln_call_in(call, 12), dst);
    ln_conv_i8_args args = {.shape = *shape,
                            .depth = prepared->depth,
                            .x = src->data,
                            .is_signed = src->dtype == TL_INT8,
                            .packed = ln_call_in(call, 1)->data,
                            .y = (char *)dst->data +
                                 (size_t)prepared->window.dst_first * tl_size_of(dst->dtype),
                            .y_step = (size_t)dst->dims[prepared->axes + 1]};
    LN_TRY(ln_i8_product_start(call, &prepared->product, workspace, &c, &p, &args.epilogue));
    args.zero = ln_quant_zero(p.src_zero);
    args.zeros = c.has_zeros ? c.zeros : NULL;
    args.bias = c.bias;
    workspace += ln_i8_column_bytes(shape->out_channels);
    ln_rescale_columns rescale;
    if (ln_call_in(call, 9)) {
        LN_TRY(start_rescaling(call, &c, (int32_t *)(void *)workspace, &rescale));
        args.rescale = &rescale;
        workspace += factor_bytes(call, shape);
    }
    ln_conv_i8(ln_cpu_isa_get(), &args, workspace, ln_cpu_call_pool(call));
    finish_channels(call, prepared, &p);
    return LN_OK;
}
