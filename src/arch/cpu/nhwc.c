// SPDX-License-Identifier: Apache-2.0
// Parameters of channels-last operators, and convolution of images: what it reads is checked once,
// for its shape, its cost, its workspace and its run.

#include "arch/cpu/nhwc.h"

#include <limits.h>
#include <string.h>

#include <lightnet/convdim.h>

#include "arch/cpu/call.h"
#include "arch/cpu/functions.h"
#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/depthwise/depthwise.h"
#include "arch/cpu/kernels/direct/direct.h"
#include "arch/cpu/kernels/few_outputs/few_outputs.h"
#include "arch/cpu/kernels/transpose/transpose.h"
#include "arch/cpu/kernels/winograd/winograd.h"
#include "op/call.h"
#include "op/prepare.h"

// ---- Reading ----

static ln_status read_ints(ln_call *call, const ln_nhwc_param *param, int *out)
{
    size_t count = 1;
    double number = 0;
    const double *numbers = &number;
    if (param->count == 0)
        number = ln_call_float(call, param->name);
    else
        numbers = ln_call_floats(call, param->name, &count);
    if (param->count > 0 && count != (size_t)param->count)
        return ln_call_fail(call, LN_INVALID, "%s has %zu elements, but should have %d",
                            param->name, count, param->count);
    for (size_t i = 0; i < count; i++) {
        bool is_int = numbers[i] >= param->min && numbers[i] <= INT_MAX &&
                      numbers[i] == (double)(int)numbers[i];
        if (!is_int)
            return ln_call_fail(call, LN_INVALID, "%s is %g, but should be an integer from %d on",
                                param->name, numbers[i], param->min);
        out[i] = (int)numbers[i];
    }
    return LN_OK;
}

ln_status ln_nhwc_read(ln_call *call, const ln_nhwc_param *params, void *out_struct)
{
    for (; params->name; params++)
        LN_TRY(read_ints(call, params, (int *)(void *)((char *)out_struct + params->offset)));
    return LN_OK;
}

ln_status ln_nhwc_read_word(ln_call *call, const char *param, const char *const *names,
                            int *out_index)
{
    const char *word = ln_call_string(call, param);
    for (*out_index = 0; word && names[*out_index]; ++*out_index)
        if (strcmp(names[*out_index], word) == 0)
            return LN_OK;
    return ln_call_fail(call, LN_INVALID, "%s '%s' is not known", param, word ? word : "");
}

ln_status ln_nhwc_read_algorithm(ln_call *call, ln_conv_algorithm *out_algorithm)
{
    const char *name = ln_call_string(call, "algorithm");
    int algorithm = ln_conv_algorithm_from_str(name);
    if (algorithm < 0)
        return ln_call_fail(call, LN_INVALID, "algorithm '%s' is not known", name);
    *out_algorithm = (ln_conv_algorithm)algorithm;
    return LN_OK;
}

ln_status ln_nhwc_read_act(ln_call *call, const char *act, const char *alpha, const char *beta,
                           ln_act_f32_args *out_act)
{
    const char *name = ln_call_string(call, act);
    int number = ln_act_from_str(name);
    if (number < 0)
        return ln_call_fail(call, LN_INVALID, "%s '%s' is not known", act, name);
    *out_act = (ln_act_f32_args){.act = (ln_act)number,
                                 .alpha = (float)ln_call_float(call, alpha),
                                 .beta = (float)ln_call_float(call, beta)};
    return LN_OK;
}

ln_status ln_nhwc_check_ranks(ln_call *call, int count, const int *ranks)
{
    for (int i = 0; i < count; i++) {
        const tl_tensor *in = ln_call_in(call, i);
        if (in && in->ndim != ranks[i])
            return ln_call_fail(call, LN_INVALID, "%s has rank %d, but should have %d",
                                call->info->ins[i].arg_name, in->ndim, ranks[i]);
    }
    return LN_OK;
}

ln_status ln_nhwc_pass_on(ln_call *call, ln_status status)
{
    return status == LN_OK ? LN_OK : ln_call_fail(call, status, "%s", ln_error_message());
}

// ---- Outputs ----

void ln_nhwc_start(const tl_tensor *into, tl_tensor *dst)
{
    if (into && into->data != dst->data)
        memcpy(dst->data, into->data, tl_tensor_size(dst));
}

// ---- Packing ----

void ln_conv_nhwc_pack(ln_pool *pool, const int weight_dims[4], const float *weight, int group,
                       ln_conv_algorithm algorithm, float *packed)
{
    ln_conv_shape shape = {.group = (size_t)group,
                           .in_channels = (size_t)weight_dims[1] * (size_t)group,
                           .out_channels = (size_t)weight_dims[0],
                           .kernel_h = (size_t)weight_dims[2],
                           .kernel_w = (size_t)weight_dims[3]};
    if (algorithm == LN_CONV_DEPTHWISE)
        ln_depthwise_nhwc_f32_pack(&shape, weight, packed);
    else if (algorithm == LN_CONV_DIRECT)
        ln_direct_f32_pack(&shape, weight, packed);
    else if (algorithm == LN_CONV_NARROW)
        ln_few_outputs_f32_pack(&shape, weight, packed);
    else
        ln_winograd_f32_pack((size_t)ln_conv_winograd_tile(algorithm), &shape, weight, packed,
                             pool);
}

static const ln_nhwc_param pack_params[] = {{"group", 0, 1, 0}, {NULL, 0, 0, 0}};

ln_status ln_cpu_infer_conv2d_pack(ln_call *call)
{
    const tl_tensor *weight = ln_call_in(call, 0);
    ln_conv_algorithm algorithm;
    int group;
    LN_TRY(ln_nhwc_check_ranks(call, 1, (const int[]){4}));
    LN_TRY(ln_nhwc_read(call, pack_params, &group));
    LN_TRY(ln_nhwc_read_algorithm(call, &algorithm));
    int len = ln_conv_packed_len(algorithm, weight->dims, group);
    LN_TRY(ln_nhwc_pass_on(call, len < 0 ? ln_error_status() : LN_OK));
    return ln_call_out(call, 0, TL_FLOAT, 1, &len);
}

ln_status ln_cpu_conv2d_pack(ln_call *call)
{
    const tl_tensor *weight = ln_call_in(call, 0);
    ln_conv_algorithm algorithm;
    LN_TRY(ln_nhwc_read_algorithm(call, &algorithm));
    ln_conv_nhwc_pack(ln_cpu_call_pool(call), weight->dims, weight->data,
                      (int)ln_call_int(call, "group"), algorithm, ln_call_dst(call, 0)->data);
    return LN_OK;
}

// ---- Convolution ----

static int in_channels_of(const ln_conv_nhwc *conv)
{
    return ln_channels_count(conv->src, &conv->channels);
}

static ln_status check_weights(const ln_conv_nhwc *conv)
{
    int in = in_channels_of(conv);
    if (in % conv->group != 0 || conv->count % conv->group != 0)
        return LN_FAIL(LN_INVALID, "%d input channels cannot be shared by %d groups", in,
                       conv->group);
    const int weight_dims[4] = {conv->count, in / conv->group, conv->size[0], conv->size[1]};
    if (!ln_conv_algorithm_fits(conv->algorithm, weight_dims, conv->group, conv->stride,
                                conv->dilation))
        return LN_FAIL(LN_INVALID, "algorithm %s is not for a convolution with %d groups like this",
                       ln_conv_algorithm_name(conv->algorithm), conv->group);
    int len = ln_conv_packed_len(conv->algorithm, weight_dims, conv->group);
    if (len < 0)
        return ln_error_status();
    if (conv->packed->len != len)
        return LN_FAIL(LN_INVALID, "there are %d packed weights instead of %d", conv->packed->len,
                       len);
    if (conv->bias && conv->bias->len != conv->count)
        return LN_FAIL(LN_INVALID, "there are %d biases instead of %d", conv->bias->len,
                       conv->count);
    return LN_OK;
}

ln_status ln_conv_nhwc_infer(ln_conv_nhwc *conv)
{
    const tl_tensor *addend = conv->addend;
    LN_TRY(check_weights(conv));
    for (int i = 0; i < 2; i++) {
        conv->out[1 + i] =
            ln_output_dim_conv(conv->src->dims[1 + i], conv->size[i], conv->stride[i],
                               conv->padding[i], conv->padding[2 + i], conv->dilation[i]);
        if (conv->out[1 + i] < 0)
            return ln_error_status();
    }
    LN_TRY(ln_channels_shape(conv->out, conv->src, conv->into, &conv->channels, conv->count));
    if (addend && (memcmp(addend->dims, conv->out, 3 * sizeof *conv->out) != 0 ||
                   addend->dims[3] < (int64_t)conv->addend_first + conv->count))
        return LN_FAIL(LN_INVALID,
                       "the addend should have the shape of the result, with %d channels from %d "
                       "on, but has %d x %d x %d",
                       conv->count, conv->addend_first, addend->dims[1], addend->dims[2],
                       addend->dims[3]);
    return LN_OK;
}

double ln_conv_nhwc_macs(const ln_conv_nhwc *conv)
{
    double pixels = (double)conv->out[0] * conv->out[1] * conv->out[2];
    return pixels * conv->count * conv->size[0] * conv->size[1] * in_channels_of(conv) /
           conv->group;
}

ln_conv_nhwc_f32_args ln_conv_nhwc_args(const ln_conv_nhwc *conv, const tl_tensor *dst)
{
    const tl_tensor *src = conv->src, *addend = conv->addend;
    const ln_channels *at = &conv->channels;
    return (ln_conv_nhwc_f32_args){
        .shape = {.batch = (size_t)src->dims[0],
                  .group = (size_t)conv->group,
                  .in_channels = (size_t)in_channels_of(conv),
                  .out_channels = (size_t)conv->count,
                  .in_h = (size_t)src->dims[1],
                  .in_w = (size_t)src->dims[2],
                  .out_h = (size_t)conv->out[1],
                  .out_w = (size_t)conv->out[2],
                  .kernel_h = (size_t)conv->size[0],
                  .kernel_w = (size_t)conv->size[1],
                  .stride_h = (size_t)conv->stride[0],
                  .stride_w = (size_t)conv->stride[1],
                  .dilation_h = (size_t)conv->dilation[0],
                  .dilation_w = (size_t)conv->dilation[1],
                  .pad_top = (size_t)conv->padding[0],
                  .pad_left = (size_t)conv->padding[1]},
        .x = src->data ? (const float *)src->data + at->src_first : NULL,
        .x_stride = (size_t)src->dims[3],
        .packed = conv->packed->data,
        .y = dst ? (float *)dst->data + at->dst_first : NULL,
        .y_stride = dst ? (size_t)dst->dims[3] : 0,
        .epilogue = {.bias = conv->bias ? conv->bias->data : NULL,
                     .addend = addend && addend->data
                                   ? (const float *)addend->data + conv->addend_first
                                   : NULL,
                     .addend_stride = addend ? (size_t)addend->dims[3] : 0,
                     .is_addend_last = conv->is_addend_last,
                     .act = conv->act.act,
                     .alpha = conv->act.alpha,
                     .beta = conv->act.beta},
    };
}

static size_t winograd_of(const ln_conv_nhwc *conv)
{
    return (size_t)ln_conv_winograd_tile(conv->algorithm);
}

size_t ln_conv_nhwc_workspace(const ln_conv_nhwc *conv)
{
    const ln_conv_nhwc_f32_args args = ln_conv_nhwc_args(conv, NULL);
    return winograd_of(conv) ? ln_winograd_f32_workspace(winograd_of(conv), &args.shape) : 0;
}

void ln_conv_nhwc_run(ln_pool *pool, const ln_conv_nhwc *conv, const tl_tensor *dst,
                      void *workspace)
{
    const ln_conv_nhwc_f32_args args = ln_conv_nhwc_args(conv, dst);
    if (conv->algorithm == LN_CONV_DEPTHWISE)
        ln_depthwise_nhwc_f32(ln_cpu_isa_get(), &args, pool);
    else if (conv->algorithm == LN_CONV_DIRECT)
        ln_direct_f32(ln_cpu_isa_get(), &args, pool);
    else if (conv->algorithm == LN_CONV_NARROW)
        ln_few_outputs_f32(ln_cpu_isa_get(), &args, pool);
    else
        ln_winograd_f32(ln_cpu_isa_get(), winograd_of(conv), &args, pool, workspace);
}

static void set_tensors(ln_call *call, ln_conv_nhwc *conv)
{
    conv->src = ln_call_in(call, 0);
    conv->packed = ln_call_in(call, 1);
    conv->bias = ln_call_in(call, 2);
    conv->addend = ln_call_in(call, 3);
    conv->into = ln_call_in(call, 4);
}

static ln_status read_conv(ln_call *call, ln_conv_nhwc *conv)
{
    static const ln_nhwc_param params[] = {
        {"group", 0, 1, offsetof(ln_conv_nhwc, group)},
        {"channels", 0, 1, offsetof(ln_conv_nhwc, count)},
        {"size", 2, 1, offsetof(ln_conv_nhwc, size)},
        {"stride", 2, 1, offsetof(ln_conv_nhwc, stride)},
        {"padding", 4, 0, offsetof(ln_conv_nhwc, padding)},
        {"dilation", 2, 1, offsetof(ln_conv_nhwc, dilation)},
        {"addend_first", 0, 0, offsetof(ln_conv_nhwc, addend_first)},
        {NULL, 0, 0, 0},
    };
    static const char *const when_added[] = {"first", "last", NULL};
    int is_last;
    *conv = (ln_conv_nhwc){0};
    set_tensors(call, conv);
    LN_TRY(ln_nhwc_check_ranks(call, 5, (const int[]){4, 1, 1, 4, 4}));
    LN_TRY(ln_nhwc_read(call, params, conv));
    LN_TRY(ln_channels_read(call, &conv->channels));
    LN_TRY(ln_nhwc_read_algorithm(call, &conv->algorithm));
    LN_TRY(ln_nhwc_read_word(call, "add", when_added, &is_last));
    conv->is_addend_last = is_last;
    LN_TRY(ln_nhwc_read_act(call, "act", "alpha", "beta", &conv->act));
    return ln_nhwc_pass_on(call, ln_conv_nhwc_infer(conv));
}

ln_status ln_cpu_infer_conv2d_nhwc(ln_call *call)
{
    ln_conv_nhwc conv;
    LN_TRY(read_conv(call, &conv));
    LN_TRY(ln_call_out(call, 0, TL_FLOAT, 4, conv.out));
    return ln_cpu_call_infer_workspace(call, 1, ln_conv_nhwc_workspace(&conv));
}

double ln_cpu_macs_conv2d_nhwc(const ln_call *call)
{
    ln_conv_nhwc conv;
    return read_conv(ln_nhwc_checked(call), &conv) == LN_OK ? ln_conv_nhwc_macs(&conv) : 0;
}

// Small convolutions take no longer than reading their parameters does.
LN_PREPARE(ln_cpu_prepare_conv2d_nhwc, ln_conv_nhwc, read_conv)

ln_status ln_cpu_conv2d_nhwc(ln_call *call)
{
    tl_tensor *dst = ln_call_dst(call, 0);
    ln_conv_nhwc conv = *(const ln_conv_nhwc *)ln_call_prepared(call);
    set_tensors(call, &conv);
    if (dst->len == 0)
        return LN_OK;
    float *workspace = ln_cpu_call_workspace(call, 1, ln_conv_nhwc_workspace(&conv));
    if (!workspace)
        return ln_error_status();
    ln_nhwc_start(conv.into, dst);
    ln_conv_nhwc_run(ln_cpu_call_pool(call), &conv, dst, workspace);
    return LN_OK;
}

// ---- Pairs of channels ----

typedef struct pairing {
    int64_t first[2];
} pairing;

static ln_status read_pairing(ln_call *call, pairing *p)
{
    *p = (pairing){{ln_call_int(call, "src1_first"), ln_call_int(call, "src2_first")}};
    return LN_OK;
}

LN_PREPARE(ln_cpu_prepare_interleave, pairing, read_pairing)

ln_status ln_cpu_interleave(ln_call *call)
{
    const pairing *p = ln_call_prepared(call);
    const tl_tensor *src1 = ln_call_in(call, 0), *src2 = ln_call_in(call, 1);
    tl_tensor *dst = ln_call_dst(call, 0);
    const size_t columns = (size_t)dst->dims[3] / 2;
    if (dst->len == 0)
        return LN_OK;
    const ln_interleave_rows rows = {.rows = (size_t)dst->len / (2 * columns),
                                     .columns = columns,
                                     .a = (const float *)src1->data + p->first[0],
                                     .a_step = (size_t)src1->dims[3],
                                     .b = (const float *)src2->data + p->first[1],
                                     .b_step = (size_t)src2->dims[3],
                                     .y = dst->data};
    ln_interleave_u32(ln_cpu_isa_get(), &rows, ln_cpu_call_pool(call));
    return LN_OK;
}
