// SPDX-License-Identifier: Apache-2.0
// The raw weights are no longer in a compiled form, so that it holds a fingerprint of the file that
// they came from: SipHash of each tensor's name, type, length and elements, added up, so that the
// order and the format of the file make no difference. Values of inputs may change from run to run
// and are left out.

#include "compile/given_again.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/msg.h>
#include <lightnet/tensor_file.h>
#include <lightnet/util.h>

#include "base/siphash.h"
#include "ir/attached.h"
#include "ir/context.h"

static ln_status add_tensor(const ln_tensor_file *file, int index, uint64_t *sum)
{
    static const uint64_t name_key[2] = {UINT64_C(0x6c69676874), UINT64_C(0x6e6574)};
    const char *name = ln_tensor_file_name(file, index);
    const tl_tensor *tensor = ln_tensor_file_tensor(file, index);
    if (!tensor)
        return ln_error_status();
    uint64_t key[2] = {ln_siphash(name_key, name, strlen(name), 1, 3),
                       (uint64_t)tensor->dtype << 32 | (uint32_t)tensor->len};
    *sum += ln_siphash(key, tensor->data, tl_tensor_size(tensor), 1, 3);
    return LN_OK;
}

static bool is_input(const ln_context *ctx, const ln_tensor_file *file, int index)
{
    const ln_tensor_entry *entry =
        ln_tensor_table_find(ctx->tensor_table, ln_tensor_file_name(file, index));
    return entry && entry->is_input;
}

static ln_status find_fingerprint(const ln_context *ctx, const ln_tensor_file *file, char text[17])
{
    uint64_t sum = 0;
    for (int i = 0; i < ln_tensor_file_count(file); i++) {
        if (!is_input(ctx, file, i))
            LN_TRY(add_tensor(file, i, &sum));
    }
    snprintf(text, 17, "%016" PRIx64, sum);
    return LN_OK;
}

ln_status ln_context_note_datafile(ln_context *ctx, const char *datafile)
{
    ln_tensor_file *file;
    char text[17];
    LN_TRY(ln_tensor_file_open(datafile, &file));
    ln_status status = find_fingerprint(ctx, file, text);
    ln_tensor_file_close(file);
    LN_TRY(status);
    char *copy = ln_strdup(text);
    if (!copy)
        return LN_NO_MEMORY;
    ln_free(ctx->weights_from);
    ctx->weights_from = copy;
    return LN_OK;
}

// ---- Comparing ----

static ln_status check_fingerprint(const ln_context *ctx, const ln_tensor_file *file,
                                   const char *datafile)
{
    char text[17];
    LN_TRY(find_fingerprint(ctx, file, text));
    if (strcmp(text, ctx->weights_from) == 0)
        return LN_OK;
    return LN_FAIL(LN_INVALID,
                   "%s is not the data file that the model was compiled with, and its weights are "
                   "in '%s' already; leave the data file out, or compile the model with it",
                   datafile, ctx->weights ? ctx->weights : "the model");
}

// In the model's type: 16-bit floats of a file may be that or TL_FLOAT.
static ln_status compare(const ln_tensor_file *file, int index, const tl_tensor *own,
                         bool *out_is_same)
{
    size_t byte_count = tl_tensor_size(own);
    *out_is_same = ln_tensor_file_describe(file, index)->len == own->len &&
                   ln_tensor_file_holds(file, index, own->dtype);
    if (!*out_is_same || byte_count == 0)
        return LN_OK;
    void *elements = ln_alloc(byte_count);
    if (!elements)
        return LN_NO_MEMORY;
    ln_status status = ln_tensor_file_read_as(file, index, own->dtype, elements);
    *out_is_same = memcmp(elements, own->data, byte_count) == 0;
    ln_free(elements);
    return status;
}

typedef struct findings {
    int weight_count; // tensors of the file that are no inputs
    int same_count;   // of these: that the model has
    int input_count;
} findings;

static ln_status check_tensor(const ln_context *ctx, const ln_tensor_file *file, int index,
                              const char *datafile, findings *f)
{
    const char *name = ln_tensor_file_name(file, index);
    if (is_input(ctx, file, index)) {
        f->input_count++;
        return LN_OK;
    }
    f->weight_count++;
    const tl_tensor *own = ln_attached_find(ctx->attached, name);
    if (!own)
        return LN_OK;
    bool is_same;
    LN_TRY(compare(file, index, own, &is_same));
    if (!is_same)
        return LN_FAIL(LN_INVALID,
                       "%s: tensor '%s' differs from the model's own; a model that brings its data "
                       "takes no other: leave the data file out, and set tensors once it is loaded",
                       datafile, name);
    f->same_count++;
    return LN_OK;
}

static ln_status check_tensors(const ln_context *ctx, const ln_tensor_file *file,
                               const char *datafile)
{
    findings f = {0};
    for (int i = 0; i < ln_tensor_file_count(file); i++)
        LN_TRY(check_tensor(ctx, file, i, datafile, &f));
    // Of a compiled form the others may be what its constants were computed from.
    bool is_any = f.same_count > 0 || (f.input_count > 0 && f.weight_count == 0);
    if (!is_any || (ctx->weights && f.same_count < f.weight_count))
        return LN_FAIL(LN_INVALID,
                       "%s: the model brings its own data, and has %d of the file's %d tensors; "
                       "leave the data file out",
                       datafile, f.same_count, f.weight_count);
    if (f.same_count < f.weight_count)
        ln_msg_warn("%s: the model, which brings its own data, has %d of the file's %d tensors",
                    datafile, f.same_count, f.weight_count);
    return LN_OK;
}

ln_status ln_context_check_given_again(const ln_context *ctx, const char *datafile)
{
    ln_tensor_file *file;
    LN_TRY(ln_tensor_file_open(datafile, &file));
    ln_status status = ctx->weights_from ? check_fingerprint(ctx, file, datafile)
                                         : check_tensors(ctx, file, datafile);
    ln_tensor_file_close(file);
    return status;
}
