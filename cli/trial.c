// SPDX-License-Identifier: Apache-2.0
// Trials: data, and runs on them.

#include "trial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "device_option.h"
#include "model_io.h"
#include "random_stream.h"
#include "random_weights.h"
#include "threads_option.h"
#include "write_option.h"

struct trial_data {
    const char *datafile;
    ln_named_tensor *weights;
    size_t weight_count;
    given_inputs inputs; // of all the model's inputs
};

// ---- Random inputs ----

// A number that the type holds: -1 to 1, or a small whole one.
static double random_number(uint64_t *state, tl_dtype dtype)
{
    uint64_t bits = random_stream_next(state);
    switch (dtype) {
    case TL_FLOAT:
    case TL_DOUBLE:
    case TL_FLOAT16:
    case TL_BFLOAT16: return (double)(bits >> 40) / 8388608.0 - 1;
    case TL_BOOL: return (double)(bits >> 63);
    case TL_UINT8:
    case TL_UINT16:
    case TL_UINT32:
    case TL_UINT64: return (double)(bits >> 57);
    default: return (double)(bits >> 56) - 128;
    }
}

// Every second element of a floating tensor is one of these.
static double special_number(int index)
{
    static const double specials[] = {INFINITY, NAN, -0.0, -INFINITY, 1e-40, -3e38, 0.0};
    return specials[index / 2 % (int)(sizeof specials / sizeof specials[0])];
}

static void fill(tl_tensor *tensor, const char *name, const trial_source *source)
{
    uint64_t state = random_stream_start(source->seed, name);
    int is_floating = tensor->dtype == TL_FLOAT || tensor->dtype == TL_DOUBLE ||
                      TL_DTYPE_IS_NARROW(tensor->dtype);
    for (int i = 0; i < tensor->len; i++) {
        double value = random_number(&state, tensor->dtype);
        if (source->has_specials && is_floating && i % 2 == 1)
            value = special_number(i);
        (void)tl_convert(tl_padd(tensor->data, i, tl_size_of(tensor->dtype)), tensor->dtype, &value,
                         TL_DOUBLE);
    }
}

// ---- Data ----

static ln_status add_random(const input_wish *wish, const trial_source *source,
                            given_inputs *inputs)
{
    if (!input_wish_is_static(wish))
        return LN_FAIL(LN_INVALID,
                       "input '%s' has an open shape: give it with -s, or its data with -i",
                       wish->name);
    if (wish->dtype == TL_STRING)
        return LN_FAIL(LN_INVALID, "input '%s' takes strings: give them with -i", wish->name);
    ln_object *value = ln_object_new_tensor(wish->dtype, wish->ndim, wish->dims, NULL);
    if (!value)
        return ln_error_status();
    fill(ln_object_tensor(value), wish->name, source);
    ln_status status = given_inputs_add(inputs, wish->name, value);
    ln_object_release(value);
    return status;
}

static ln_status make_inputs(const ln_context *model, const trial_source *source, trial_data *data)
{
    LN_TRY(given_inputs_read(model, source->inputs.items, (size_t)source->inputs.count,
                             &source->files, &data->inputs));
    for (size_t i = 0; i < ln_context_input_count(model); i++) {
        input_wish wish = model_input_wish(model, i);
        if (!given_inputs_find(&data->inputs, wish.name))
            LN_TRY(add_random(&wish, source, &data->inputs));
    }
    return LN_OK;
}

ln_status trial_data_create(const ln_context *model, const trial_source *source,
                            trial_data **out_data)
{
    *out_data = NULL;
    trial_data *data = ln_alloc(sizeof *data);
    if (!data)
        return LN_NO_MEMORY;
    data->datafile = source->datafile;
    ln_status status = make_inputs(model, source, data);
    if (status == LN_OK && !source->datafile && !ln_context_has_weights(model))
        status = random_weights_create(model, source->seed, &data->weights, &data->weight_count);
    if (status != LN_OK) {
        trial_data_destroy(data);
        return status;
    }
    *out_data = data;
    return LN_OK;
}

void trial_data_destroy(trial_data *data)
{
    if (!data)
        return;
    given_inputs_free(&data->inputs);
    random_weights_free(data->weights, data->weight_count);
    ln_free(data);
}

ln_status trial_bind_shapes(ln_context *model, const trial_data *data)
{
    return given_inputs_bind_shapes(model, &data->inputs);
}

// ---- Runs ----

// What rewriting has removed needs no data.
static ln_status set_tensor(ln_context *ctx, const char *name, const tl_tensor *tensor)
{
    if (!ln_tensor_table_find(ctx->tensor_table, name))
        return LN_OK;
    return ln_context_set_data_n(ctx, name, tensor->data, tl_tensor_size(tensor));
}

static ln_status set_tensors(ln_context *ctx, const trial_data *data)
{
    for (size_t i = 0; i < data->weight_count; i++)
        LN_TRY(set_tensor(ctx, data->weights[i].name, data->weights[i].tensor));
    return given_inputs_set(ctx, &data->inputs);
}

// Operators after the one that makes tensor `until` do not run, as their results are not looked at.
static void stop_after(const ln_context *ctx, const char *until)
{
    const ln_tensor_entry *last = until ? ln_tensor_table_find(ctx->tensor_table, until) : NULL;
    int is_after = 0;
    ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        if (is_after)
            op->run = op->static_run = NULL;
        is_after |= last && strcmp(op->op_arg->name, last->creater) == 0;
    }
}

static ln_status try(ln_context *ctx, const char *target, const ln_optimize_options *options,
                     const trial_data *data, int run_count, const char *until)
{
    LN_TRY(ln_context_compile_with(ctx, target, options));
    device_option_note(ctx);
    silence_model(ctx);
    stop_after(ctx, until);
    LN_TRY(threads_option_apply(ctx));
    // Weights that no file has are set next, so nothing is said of zeros.
    int was_shown = show_warnings(data->weight_count == 0);
    ln_status status = ln_context_load(ctx, data->datafile);
    (void)show_warnings(was_shown);
    LN_TRY(status);
    LN_TRY(set_tensors(ctx, data));
    for (int i = 0; i < run_count; i++)
        LN_TRY(ln_context_run(ctx));
    return LN_OK;
}

ln_status trial_run(const ln_context *model, const char *target, const ln_optimize_options *options,
                    const trial_data *data, int run_count, const char *until,
                    ln_context **out_loaded)
{
    *out_loaded = NULL;
    ln_context *ctx;
    LN_TRY(ln_context_clone(model, &ctx));
    ln_status status = try(ctx, target, options, data, run_count, until);
    if (status != LN_OK) {
        close_model(ctx);
        return status;
    }
    *out_loaded = ctx;
    return LN_OK;
}

ln_status trial_reference(const ln_context *model, const trial_data *data, ln_context **out_loaded)
{
    ln_optimize_options options = ln_optimize_options_default();
    options.stays_as_read = 1;
    return trial_run(model, "ref", &options, data, 1, NULL, out_loaded);
}
