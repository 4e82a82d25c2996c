// SPDX-License-Identifier: Apache-2.0
// Inputs, whose shapes may be bound late, and constants whose values are known early.

#include "op/create.h"

#include <stdint.h>
#include <string.h>

#include <lightnet/context.h>
#include <lightnet/mem.h>

#include "ir/carried.h"
#include "ir/context.h"
#include "op/call.h"
#include "op/functions.h"

// Constants of at most so many bytes are kept in memory of their own to be known while planning.
#define MAX_KNOWN_BYTES 65536

// ---- Inputs and outputs of the model ----

// What the input holds once the model is loaded.
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

ln_status ln_infer_input(ln_call *call)
{
    tl_dtype dtype;
    LN_TRY(ln_call_dtype(call, "dtype", &dtype));
    // A graph takes whatever shape the operator that runs it has at hand.
    const ln_context *ctx = call->op_arg->context;
    int is_bound = ln_call_has(call, "bound");
    if (dtype == TL_OBJECT || (ln_call_int(call, "open") && !is_bound) || (ctx && ctx->outer))
        return ln_call_out_open(call);
    const char *shape = is_bound ? "bound" : "dims";
    int ndim = ln_call_count(call, shape);
    int64_t dims[TL_MAXDIM];
    if (ndim > TL_MAXDIM)
        return ln_call_fail(call, LN_INVALID, "rank %d is above %d", ndim, TL_MAXDIM);
    for (int d = 0; d < ndim; d++) {
        double dim = ln_call_float_at(call, shape, d);
        dims[d] = ln_call_int_at(call, shape, d);
        if (!(dim >= -1 && dim <= INT32_MAX && dim == (double)dims[d]))
            return ln_call_fail(
                call, LN_INVALID,
                "dimension %d is %g; it should be a whole number from 0 to 2^31 - 1, "
                "or -1 where it is not known yet",
                d, dim);
    }
    for (int d = 0; d < ndim; d++)
        if (dims[d] == -1)
            return ln_call_out_open(call);
    LN_TRY(check_first_value(call));
    return ln_call_out64(call, 0, dtype, ndim, dims);
}

ln_status ln_infer_output(ln_call *call)
{
    (void)call;
    return LN_OK;
}

// ---- Constants ----

static void know_carried(ln_op_arg *op_arg, ln_tensor_entry *entry)
{
    const ln_context *ctx = op_arg->context ? ln_context_root(op_arg->context) : NULL;
    const tl_tensor *carried = ctx ? ln_carried_find(ctx->carried, entry->name) : NULL;
    if (!carried || carried->dtype != entry->tensor->dtype ||
        !tl_tensor_issameshape(carried, entry->tensor))
        return;
    entry->carried = carried->data;
    if ((uintptr_t)carried->data % tl_size_of(carried->dtype) == 0)
        entry->known = carried->data;
    else if (tl_tensor_size(carried) <= MAX_KNOWN_BYTES &&
             ln_context_take_known(op_arg->context, entry, tl_tensor_size(carried)))
        (void)ln_call_know(entry, carried->data); // without it, more is found out in the run only
}

void ln_op_know_created(ln_op_arg *op_arg, ln_tensor_entry *entry, const double *ran,
                        const double *data, int data_len, int from_file)
{
    if (!entry)
        return;
    if (from_file) {
        know_carried(op_arg, entry);
        return;
    }
    size_t byte_count = tl_tensor_size(entry->tensor);
    if (ran[0] != 0 || ran[1] != 0 || byte_count > MAX_KNOWN_BYTES ||
        !ln_context_take_known(op_arg->context, entry, byte_count))
        return;
    unsigned char elements[MAX_KNOWN_BYTES];
    memset(elements, 0, byte_count);
    int count = data_len < entry->tensor->len ? data_len : entry->tensor->len;
    if (tl_convert_n(elements, entry->tensor->dtype, data, TL_DOUBLE, (size_t)count) == LN_OK)
        (void)ln_call_know(entry, elements); // as above
}
