// SPDX-License-Identifier: Apache-2.0
// Inputs, whose shapes may be bound late, constants whose values are known early, and ranges.

#include "op/functions.h"

#include <stdint.h>
#include <string.h>

#include <lightnet/context.h>
#include <lightnet/mem.h>
#include <lightnet/op_support.h>
#include <lightnet/opshape.h>

#include "ir/attached.h"
#include "ir/context.h"
#include "op/call.h"

// Constants of at most so many bytes are kept in memory of their own to be known while planning.
#define MAX_KNOWN_BYTES 65536

// ---- Inputs and outputs of the model ----

// Files of the old system may state fewer numbers than there are elements: the others are 0.
static ln_status check_data_count(ln_call *call, size_t count, size_t len)
{
    if (count >= len || ln_call_int(call, "from_file") ||
        (count == 1 && ln_call_float_at(call, "data", 0) == 0)) // all are 0
        return LN_OK;
    for (int i = 0; i < ln_call_count(call, "ran"); i++)
        if (ln_call_float_at(call, "ran", i) != 0)
            return LN_OK;
    return ln_call_tolerate(call,
                            "states %zu numbers in 'data' for %zu elements, so the others are 0; "
                            "state %zu numbers, or data=[0] where all are 0",
                            count, len, len);
}

// What the tensor holds first.
static ln_status check_first_value(ln_call *call)
{
    if (!ln_call_has(call, "ran"))
        return LN_OK;
    int count = ln_call_count(call, "ran");
    if (count != 2)
        return ln_call_fail(call, LN_INVALID, "'ran' has %d numbers, not 2", count);
    double least = ln_call_float_at(call, "ran", 0), most = ln_call_float_at(call, "ran", 1);
    if (!(least <= most))
        return ln_call_fail(call, LN_INVALID, "'ran' should be [least, greatest], but is [%g, %g]",
                            least, most);
    return LN_OK;
}

// The output has the shape that parameter `shape` says, whose dimensions are at least `least`.
static ln_status out_of_shape(ln_call *call, tl_dtype dtype, const char *shape, int least)
{
    int ndim = ln_call_count(call, shape);
    int dims[TL_MAXDIM];
    if (ndim > TL_MAXDIM)
        return ln_call_fail(call, LN_INVALID, "rank %d is above %d", ndim, TL_MAXDIM);
    bool is_open = false;
    for (int d = 0; d < ndim; d++) {
        double dim = ln_call_float_at(call, shape, d);
        if (!(dim >= least && dim <= INT32_MAX && dim == (double)(int)dim))
            return ln_call_fail(call, LN_INVALID,
                                "dimension %d is %g; it should be an integer from 0 to "
                                "2^31 - 1%s",
                                d, dim, least < 0 ? ", or -1 where it is not known yet" : "");
        dims[d] = (int)dim;
        is_open = is_open || dims[d] == -1;
    }
    if (is_open)
        return ln_call_out_open(call);
    LN_TRY(check_first_value(call));
    return ln_call_out(call, 0, dtype, ndim, dims);
}

ln_status ln_infer_input(ln_call *call)
{
    tl_dtype dtype;
    LN_TRY(ln_call_dtype(call, "dtype", &dtype));
    // A graph takes whatever shape the operator that runs it has at hand.
    const ln_context *ctx = call->op_arg->context;
    int is_bound = ln_call_has(call, "bound");
    if (dtype == TL_OBJECT || (ln_call_int(call, "open") && !is_bound) || (ctx && ctx->outer))
        return ln_call_out_open(call);
    LN_TRY(out_of_shape(call, dtype, is_bound ? "bound" : "dims", -1));
    if (!ln_call_has(call, "data") || is_bound || call->is_open)
        return LN_OK;
    const int len = ln_compute_length(call->outs[0].ndim, call->outs[0].dims);
    return check_data_count(call, (size_t)ln_call_count(call, "data"), (size_t)len);
}

ln_status ln_infer_output(ln_call *call)
{
    (void)call;
    return LN_OK;
}

// ---- Constants ----

static void know_attached(ln_op_arg *op_arg, ln_tensor_entry *entry)
{
    const ln_context *ctx = op_arg->context ? ln_context_root(op_arg->context) : NULL;
    const tl_tensor *attached = ctx ? ln_attached_find(ctx->attached, entry->name) : NULL;
    if (!attached || attached->dtype != entry->tensor->dtype ||
        !tl_tensor_issameshape(attached, entry->tensor))
        return;
    entry->attached = attached->data;
    if ((uintptr_t)attached->data % tl_size_of(attached->dtype) == 0)
        entry->known = attached->data;
    else if (tl_tensor_size(attached) <= MAX_KNOWN_BYTES &&
             ln_context_take_known(op_arg->context, entry, tl_tensor_size(attached)))
        (void)ln_call_know(entry, attached->data); // without it, more is found out in the run only
}

// Notes what is known of the elements before the run: attached ones, or short
// `data`.
static void know_created(ln_call *call)
{
    ln_tensor_entry *entry = call->outs[0].entry;
    if (ln_call_int(call, "from_file")) {
        know_attached(call->op_arg, entry);
        return;
    }
    size_t byte_count = tl_tensor_size(entry->tensor), count;
    bool is_random = ln_call_float_at(call, "ran", 0) != 0 || ln_call_float_at(call, "ran", 1) != 0;
    if (is_random || byte_count > MAX_KNOWN_BYTES ||
        !ln_context_take_known(call->op_arg->context, entry, byte_count))
        return;
    unsigned char elements[MAX_KNOWN_BYTES];
    memset(elements, 0, byte_count);
    const double *data = ln_call_floats(call, "data", &count);
    size_t len = (size_t)entry->tensor->len;
    if (tl_convert_n(elements, entry->tensor->dtype, data, TL_DOUBLE, count < len ? count : len) ==
        LN_OK)
        (void)ln_call_know(entry, elements); // as above
}

ln_status ln_infer_zeros(ln_call *call)
{
    tl_dtype dtype;
    LN_TRY(ln_call_dtype(call, "dtype", &dtype));
    return out_of_shape(call, dtype, "dims", 0);
}

ln_status ln_infer_create(ln_call *call)
{
    size_t count;
    LN_TRY(ln_infer_zeros(call));
    const double *data = ln_call_floats(call, "data", &count);
    const ln_call_output *out = &call->outs[0];
    int len = ln_compute_length(out->ndim, out->dims);
    bool is_zeros = count == 1 && data[0] == 0;
    if (count > (size_t)len && !is_zeros)
        return ln_call_fail(call, LN_INVALID,
                            "%zu elements of data do not fit a tensor of %d elements", count, len);
    LN_TRY(check_data_count(call, count, (size_t)len));
    call->when_defined = know_created;
    return LN_OK;
}

// ---- Ranges ----

static int range_len(ln_call *call, tl_dtype dtype)
{
    return ln_range_len(ln_call_float(call, "start"), ln_call_float(call, "stop"),
                        ln_call_float(call, "step"), dtype);
}

ln_status ln_infer_arange(ln_call *call)
{
    tl_dtype dtype;
    LN_TRY(ln_call_dtype(call, "dtype", &dtype));
    int len = range_len(call, dtype);
    return len < 0 ? ln_error_status() : ln_call_out(call, 0, dtype, 1, &len);
}

ln_status ln_infer_rearange(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    int len = range_len(call, src->dtype);
    if (len < 0)
        return ln_error_status();
    if (src->ndim != 1 || len != src->len)
        return ln_call_fail(call, LN_INVALID, "the range should have %d numbers", src->len);
    return ln_call_out_like(call, 0, 0);
}

// ---- What shows tensors ----

ln_status ln_infer_fprint(ln_call *call)
{
    const char *file = ln_call_string(call, "file");
    if (!ln_op_is_inner_path(file))
        return ln_call_fail(call, LN_INVALID,
                            "file should be a path inside of the folder that may be written, "
                            "without hidden parts, but is '%s'",
                            file);
    return LN_OK;
}
