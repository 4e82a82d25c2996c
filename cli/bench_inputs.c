// SPDX-License-Identifier: Apache-2.0
// Random inputs of floats, zeros for the rest.

#include "bench_inputs.h"

#include <stdlib.h>

#include <lightnet/lightnet.h>

#include "cli.h"
#include "random_stream.h"

// ---- Shapes ----

static ln_status close_shape(ln_context *ctx, size_t index)
{
    input_wish wish = model_input_wish(ctx, index);
    if (wish.kind || wish.ndim < 0)
        return LN_OK; // its value, if one is given, brings the shape
    char before[128], after[128];
    ln_sprint_shape(before, sizeof before, wish.ndim, wish.dims);
    for (int i = 0; i < wish.ndim; i++)
        wish.dims[i] = wish.dims[i] < 0 ? 1 : wish.dims[i];
    ln_sprint_shape(after, sizeof after, wish.ndim, wish.dims);
    say_warning("input '%s' of the open shape %s is taken as %s; -s gives another", wish.name,
                before, after);
    return ln_context_set_shape(ctx, wish.name, wish.ndim, wish.dims);
}

ln_status bench_close_shapes(ln_context *ctx, const given_inputs *given)
{
    const ln_tensor_entry *entry;
    for (size_t i = 0; (entry = ln_context_input(ctx, i)); i++) {
        if (ln_context_input_is_open(ctx, i) && !given_inputs_find(given, entry->name))
            LN_TRY(close_shape(ctx, i));
    }
    return LN_OK;
}

// ---- Values ----

static int is_float(tl_dtype dtype)
{
    return dtype == TL_FLOAT || dtype == TL_DOUBLE || dtype == TL_FLOAT16 || dtype == TL_BFLOAT16;
}

static ln_status fill_floats(char *bytes, tl_dtype dtype, size_t count, uint64_t state)
{
    size_t size = tl_size_of(dtype);
    for (size_t i = 0; i < count; i++) {
        double part = (double)(random_stream_next(&state) >> 40) / 16777216.0; // [0, 1)
        float number = (float)(2 * part - 1);
        LN_TRY(tl_convert(bytes + i * size, dtype, &number, TL_FLOAT));
    }
    return LN_OK;
}

static ln_status set_input(ln_context *ctx, const ln_tensor_entry *entry, int is_zero,
                           uint64_t seed)
{
    const tl_tensor *tensor = entry->tensor;
    if (entry->is_open || tensor->dtype == TL_OBJECT || tensor->dtype == TL_STRING)
        return LN_FAIL(LN_UNSUPPORTED,
                       "input '%s' takes what cannot be made up; give its value with -i",
                       entry->name);
    size_t byte_count = tl_tensor_size(tensor);
    char *bytes = calloc(byte_count ? byte_count : 1, 1);
    if (!bytes)
        return LN_FAIL(LN_NO_MEMORY, "out of memory for input '%s'", entry->name);
    ln_status status = LN_OK;
    if (is_float(tensor->dtype) && !is_zero)
        status = fill_floats(bytes, tensor->dtype, (size_t)tensor->len,
                             random_stream_start(seed, entry->name));
    if (status == LN_OK)
        status = ln_context_set_data_n(ctx, entry->name, bytes, byte_count);
    free(bytes);
    return status;
}

ln_status bench_set_inputs(ln_context *ctx, const given_inputs *given, int is_zero, uint64_t seed)
{
    LN_TRY(given_inputs_set(ctx, given));
    const ln_tensor_entry *entry;
    for (size_t i = 0; (entry = ln_context_input(ctx, i)); i++) {
        if (!entry->isstatic && !given_inputs_find(given, entry->name))
            LN_TRY(set_input(ctx, entry, is_zero, seed));
    }
    return LN_OK;
}
