// SPDX-License-Identifier: Apache-2.0
// ONNX models, changed inside valid messages: open shapes are bound to small ones, the model is
// compiled for `ref` or `cpu`, and runs once on numbers of all sorts.

#include "tests/fuzz/fuzz.h"

#include <lightnet/op_info.h>

#include "tests/fuzz/onnx_mutate.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    fuzz_start();
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    if (seed % 16 == 0)
        return LLVMFuzzerMutate(data, size, max_size);
    unsigned changes = 1 + seed / 16 % 4;
    for (unsigned i = 0; i < changes; i++) {
        size_t changed = onnx_mutate(data, size, max_size, seed + i * 77777);
        if (changed > 0)
            size = changed;
    }
    return size;
}

// ---- Shapes ----

// Binds the dimensions of one input that the model leaves open; those of unknown rank stay so.
static void bind(ln_context *ctx, const char *tname, unsigned seed)
{
    const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, tname);
    const ln_op *op = ln_op_table_find(ctx->op_table, entry->creater);
    const ln_param_entry *stated = op ? ln_param_list_find(op->op_arg->params, "dims") : NULL;
    if (!stated || stated->array_len > TL_MAXDIM)
        return;
    int dims[TL_MAXDIM];
    for (int d = 0; d < stated->array_len; d++) {
        int dim = stated->value_array_int[d];
        dims[d] = dim < 0 ? (int)(seed >> d) % 4 : dim;
    }
    ln_context_set_shape(ctx, tname, stated->array_len, dims);
}

static void bind_all(ln_context *ctx, unsigned seed)
{
    static const char *const symbols[] = {"N", "batch", "batch_size", "sequence", "M"};
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        ln_context_set_symbol(ctx, symbols[i], (int)(1 + seed % 3));
        if (ctx->state != LN_CONTEXT_READY)
            return;
    }
    for (size_t i = 0; i < ln_context_input_count(ctx) && i < 64; i++) {
        char *tname = ln_strdup(ln_context_input(ctx, i)->name);
        if (tname && ln_context_input_is_open(ctx, i))
            bind(ctx, tname, seed >> i % 8);
        ln_free(tname);
        if (ctx->state != LN_CONTEXT_READY)
            return;
    }
}

// ---- Values ----

// Numbers of all sorts: small ones, and bytes as they come (NaN, infinities, huge indices).
static void fill(tl_tensor *t, unsigned seed)
{
    static const double special[] = {0, 1, 2, -1, 3, 0.5, -2, 1e30, -1e30, 0, 1, 1};
    tl_dtype dtype = t->dtype;
    size_t size = tl_size_of(dtype);
    unsigned char *bytes = t->data;
    for (int i = 0; i < t->len; i++) {
        double x = special[(seed + (unsigned)i * 5) % (seed % 4 == 0 ? 12 : 7)];
        if (dtype == TL_FLOAT)
            ((float *)t->data)[i] = (float)x;
        else if (dtype == TL_DOUBLE)
            ((double *)t->data)[i] = x;
        else if (dtype == TL_BOOL)
            ((tl_bool *)t->data)[i] = (seed + (unsigned)i) % 2;
        else
            memset(bytes + (size_t)i * size, seed % 8 == 0 ? 0xff : 0, size);
        if (seed % 8 != 0 && dtype != TL_FLOAT && dtype != TL_DOUBLE && dtype != TL_BOOL)
            bytes[(size_t)i * size] = (unsigned char)((seed + (unsigned)i) % 5);
    }
}

static ln_object *make_value(const tl_tensor *t, int is_open, unsigned seed)
{
    static const int small[] = {2};
    tl_dtype dtype = is_open ? TL_FLOAT : t->dtype;
    ln_object *object = is_open ? ln_object_new_tensor(dtype, 1, small, NULL)
                                : ln_object_new_tensor(dtype, t->ndim, t->dims, NULL);
    if (!object || dtype == TL_OBJECT)
        return object;
    tl_tensor *made = ln_object_tensor(object);
    for (int i = 0; dtype == TL_STRING && i < made->len; i++)
        ln_object_set_string(object, (size_t)i, i % 2 ? "a b" : "\xc3\xa9,1", 3);
    if (dtype != TL_STRING)
        fill(made, seed);
    return object;
}

static void set_inputs(ln_context *ctx, unsigned seed)
{
    const ln_tensor_entry *input;
    for (size_t i = 0; (input = ln_context_input(ctx, i)); i++) {
        int is_open = ln_context_input_is_open(ctx, i);
        if (input->tensor->dtype == TL_OBJECT || (!is_open && input->tensor->len == 0))
            continue;
        ln_object *value = make_value(input->tensor, is_open, seed + (unsigned)i);
        if (value && is_open && seed % 3 == 0) {
            ln_object *items[] = {value, value};
            ln_object *sequence = ln_object_new_sequence(TL_FLOAT, 2, items);
            ln_object_release(value);
            value = sequence;
        }
        if (value)
            ln_context_set_object(ctx, input->name, value);
        ln_object_release(value);
    }
}

static void read_outputs(ln_context *ctx)
{
    const ln_tensor_entry *output;
    for (size_t i = 0; (output = ln_context_output(ctx, i)); i++) {
        ln_object *value;
        if (ln_context_get_object(ctx, output->name, &value) == LN_OK)
            ln_object_release(value);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || data[0] != 0x08)
        return 0;
    unsigned seed = (unsigned)size;
    for (size_t i = 0; i < size; i++)
        seed = seed * 31 + data[i];
    ln_context *ctx = fuzz_context();
    if (ln_context_init_mem(ctx, data, size, "fuzz") == LN_OK) {
        bind_all(ctx, seed);
        if (ctx->state == LN_CONTEXT_READY &&
            ln_context_compile(ctx, seed / 64 % 2 ? "ref" : "cpu") == LN_OK &&
            ln_context_load(ctx, NULL) == LN_OK) {
            set_inputs(ctx, seed);
            if (ln_context_run(ctx) == LN_OK)
                read_outputs(ctx);
        }
    }
    ln_context_free(ctx);
    return 0;
}
