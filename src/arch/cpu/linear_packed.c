// SPDX-License-Identifier: Apache-2.0
// Products with packed weights: shapes, and from tensors and parameters to gemm.

#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "arch/cpu/call.h"
#include "arch/cpu/functions.h"
#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/gemm/packed.h"
#include "arch/cpu/nhwc.h"
#include "base/minmax.h"
#include "ir/context.h"
#include "op/call.h"
#include "op/prepare.h"

// Floats of packed weights [k, n].
static ln_status find_packed_len(ln_call *call, int k, int n, int *out_len)
{
    size_t len = ln_gemm_packed_len((size_t)k, (size_t)n);
    if (len > INT_MAX)
        return ln_call_fail(call, LN_LIMIT, "%d rows of %d packed weights do not fit a tensor", k,
                            n);
    *out_len = (int)len;
    return LN_OK;
}

// ---- Packing ----

typedef struct packing {
    int is_transposed, channels;
} packing;

static ln_status read_packing(ln_call *call, packing *pack)
{
    static const ln_nhwc_param params[] = {{"transB", 0, 0, offsetof(packing, is_transposed)},
                                           {"channels", 0, 0, offsetof(packing, channels)},
                                           {NULL, 0, 0, 0}};
    return ln_nhwc_read(call, params, pack);
}

ln_status ln_cpu_infer_linear_pack(ln_call *call)
{
    const int *dims = ln_call_in(call, 0)->dims;
    packing pack;
    int len;
    LN_TRY(ln_nhwc_check_ranks(call, 1, (const int[]){2}));
    LN_TRY(read_packing(call, &pack));
    int k = dims[pack.is_transposed ? 1 : 0], n = dims[pack.is_transposed ? 0 : 1];
    if (pack.channels != 0 && k % pack.channels != 0)
        return ln_call_fail(call, LN_INVALID, "%d rows are no image of %d channels", k,
                            pack.channels);
    LN_TRY(find_packed_len(call, k, n, &len));
    return ln_call_out(call, 0, TL_FLOAT, 1, &len);
}

// Of weights whose columns are rows of the model's file so many bytes are packed at once, then
// their pages may go.
#define PACK_BYTES   ((size_t)16 << 20)
#define PACK_COLUMNS 128

static void pack_turned(const ln_op_arg *op_arg, size_t k, size_t n, size_t channels,
                        const char *from, float *packed)
{
    size_t column_bytes = k * sizeof(float);
    size_t most = n;
    if (column_bytes > 0)
        most = (PACK_BYTES / column_bytes / PACK_COLUMNS + 1) * PACK_COLUMNS;
    for (size_t first = 0; first < n; first += most) {
        size_t count = ln_min(n - first, most);
        ln_gemm_pack_image_f32(ln_cpu_isa_get(), k, count, channels, (const void *)from, 1, k,
                               packed + first * k, ln_cpu_pool(op_arg));
        ln_context_let_go(op_arg->context, from, count * column_bytes);
        from += count * column_bytes;
    }
}

ln_status ln_cpu_linear_pack(ln_call *call)
{
    const tl_tensor *weight = ln_call_in(call, 0);
    float *packed = ln_call_dst(call, 0)->data;
    size_t rows = (size_t)weight->dims[0], columns = (size_t)weight->dims[1];
    packing pack;
    LN_TRY(read_packing(call, &pack));
    size_t order = pack.channels > 0 ? (size_t)pack.channels : 1;
    if (pack.is_transposed)
        pack_turned(call->op_arg, columns, rows, order, weight->data, packed);
    else
        ln_gemm_pack_image_f32(ln_cpu_isa_get(), rows, columns, order, weight->data, columns, 1,
                               packed, ln_cpu_call_pool(call));
    return LN_OK;
}

// ---- Products ----

typedef struct product {
    int outputs;
    int is_addend_last;
    ln_act_f32_args act;
} product;

static ln_status read_product(ln_call *call, product *p)
{
    static const ln_nhwc_param params[] = {{"outputs", 0, 1, offsetof(product, outputs)},
                                           {NULL, 0, 0, 0}};
    static const char *const when_added[] = {"first", "last", NULL};
    LN_TRY(ln_nhwc_read(call, params, p));
    LN_TRY(ln_nhwc_read_word(call, "add", when_added, &p->is_addend_last));
    return ln_nhwc_read_act(call, "act", "alpha", "beta", &p->act);
}

ln_status ln_cpu_infer_linear_packed(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0), *packed = ln_call_in(call, 1);
    const tl_tensor *bias = ln_call_in(call, 2), *addend = ln_call_in(call, 3);
    product p;
    int packed_len = 0, len, dims[TL_MAXDIM];
    LN_TRY(read_product(call, &p));
    if (src->ndim < 1)
        return ln_call_fail(call, LN_INVALID,
                            "src of rank %d should have rank 1 or more, for %d outputs", src->ndim,
                            p.outputs);
    LN_TRY(find_packed_len(call, src->dims[src->ndim - 1], p.outputs, &packed_len));
    if (packed->ndim != 1 || packed->len != packed_len)
        return ln_call_fail(call, LN_INVALID, "there are %d packed weights instead of %d",
                            packed->len, packed_len);
    if (bias && bias->len != p.outputs)
        return ln_call_fail(call, LN_INVALID, "there are %d biases instead of %d", bias->len,
                            p.outputs);
    memcpy(dims, src->dims, (size_t)src->ndim * sizeof *dims);
    dims[src->ndim - 1] = p.outputs;
    LN_TRY(ln_call_out(call, 0, TL_FLOAT, src->ndim, dims));
    if (addend && (!tl_shape_len(src->ndim, dims, &len) || addend->len != len))
        return ln_call_fail(call, LN_INVALID, "the addend has %d elements instead of %d",
                            addend->len, len);
    return LN_OK;
}

double ln_cpu_macs_linear_packed(const ln_call *call)
{
    return (double)ln_call_in(call, 0)->len * ln_call_float(call, "outputs");
}

LN_PREPARE(ln_cpu_prepare_linear_packed, product, read_product)

ln_status ln_cpu_linear_packed(ln_call *call)
{
    const product *p = ln_call_prepared(call);
    const tl_tensor *src = ln_call_in(call, 0), *dst = ln_call_dst(call, 0);
    const tl_tensor *bias = ln_call_in(call, 2), *addend = ln_call_in(call, 3);
    size_t n = (size_t)p->outputs, k = (size_t)src->dims[src->ndim - 1];
    ln_gemm_packed_f32_args args = {
        .m = (size_t)dst->len / n,
        .n = n,
        .k = k,
        .a = src->data,
        .a_stride = k,
        .packed = ln_call_in(call, 1)->data,
        .y = dst->data,
        .y_stride = n,
        .epilogue = {.bias = bias ? bias->data : NULL,
                     .addend = addend ? addend->data : NULL,
                     .addend_stride = n,
                     .is_addend_last = p->is_addend_last,
                     .act = p->act.act,
                     .alpha = p->act.alpha,
                     .beta = p->act.beta},
    };
    ln_gemm_packed_f32(ln_cpu_isa_get(), &args, ln_cpu_call_pool(call));
    return LN_OK;
}
