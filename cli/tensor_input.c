// SPDX-License-Identifier: Apache-2.0
// Files as plain tensors, and the inputs that they are for.

#include "tensor_input.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lightnet/lightnet.h>

#include "file_bytes.h"
#include "input_file.h"
#include "npy.h"

// ---- Files ----

// The tensor of an object, for whoever frees it; the object is released.
static ln_status take_tensor(ln_object *object, tl_tensor **out_tensor)
{
    *out_tensor = tl_tensor_clone(ln_object_tensor(object));
    ln_object_release(object);
    return *out_tensor ? LN_OK : ln_error_status();
}

ln_status tensor_read(const char *path, const char *name, const tl_tensor *like,
                      tl_tensor **out_tensor)
{
    *out_tensor = NULL;
    input_wish wish = input_wish_like(name, like);
    ln_object *object;
    LN_TRY(input_read(path, &wish, NULL, &object));
    return take_tensor(object, out_tensor);
}

int is_npy(const char *path)
{
    char bytes[8];
    return npy_is(bytes, file_peek(path, bytes, sizeof bytes));
}

ln_status npy_read(const char *path, tl_tensor **out_tensor)
{
    *out_tensor = NULL;
    char *bytes;
    size_t count;
    ln_object *object = NULL;
    LN_TRY(file_read(path, &bytes, &count));
    ln_status status = npy_is(bytes, count) ? npy_parse(path, bytes, count, &object)
                                            : LN_FAIL(LN_SYNTAX, "%s is no .npy file", path);
    free(bytes);
    if (status == LN_OK && ln_object_elem_dtype(object) == TL_STRING) {
        ln_object_release(object);
        return LN_FAIL(LN_UNSUPPORTED, "%s holds strings, not numbers", path);
    }
    return status == LN_OK ? take_tensor(object, out_tensor) : status;
}

// ---- Inputs of a model ----

// "it has 'a', 'b'".
static void list_inputs(const ln_context *ctx, char *text, size_t size)
{
    size_t used = 0;
    const char *name;
    snprintf(text, size, "none");
    for (size_t i = 0; (name = ln_context_input_name(ctx, i)) && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s'%s'", used ? ", " : "", name);
}

// "x:x.npy", as other programs have it, where no file has that name and the model has that input.
static ln_status check_is_no_pair(const ln_context *ctx, const char *text)
{
    const char *colon = strchr(text, ':');
    if (!colon || !colon[1] || strchr(text, '=') || access(text, F_OK) == 0)
        return LN_OK;
    size_t name_len = (size_t)(colon - text);
    const char *name;
    for (size_t i = 0; (name = ln_context_input_name(ctx, i)); i++)
        if (strlen(name) == name_len && strncmp(name, text, name_len) == 0)
            return LN_FAIL(LN_INVALID, "-i takes NAME=FILE: -i %s=%s, not %s", name, colon + 1,
                           text);
    return LN_OK;
}

const ln_tensor_entry *tensor_input_named(const ln_context *ctx, const char *text,
                                          size_t longer_than)
{
    const ln_tensor_entry *found = NULL, *entry;
    for (size_t i = 0; (entry = ln_context_input(ctx, i)); i++) {
        size_t len = strlen(entry->name);
        if (len <= longer_than || strncmp(entry->name, text, len) != 0 || text[len] != '=')
            continue;
        longer_than = len;
        found = entry;
    }
    return found;
}

ln_status tensor_input_find(const ln_context *ctx, const char *text, const ln_tensor_entry **out,
                            const char **out_path)
{
    char known[512];
    size_t count = ln_context_input_count(ctx);
    const char *equals = strchr(text, '=');
    *out_path = equals ? equals + 1 : text;
    *out = NULL;
    size_t name_len = equals ? (size_t)(equals - text) : 0;
    LN_TRY(check_is_no_pair(ctx, text));
    if (!equals) {
        list_inputs(ctx, known, sizeof known);
        if (count != 1)
            return LN_FAIL(
                LN_INVALID,
                "the model has %zu inputs, %s, so say which: -i NAME=%s, each with an -i "
                "of its own",
                count, known, text);
        *out = ln_context_input(ctx, 0);
        return LN_OK;
    }
    *out = tensor_input_named(ctx, text, 0);
    if (*out)
        *out_path = text + strlen((*out)->name) + 1;
    char *end;
    unsigned long position = strtoul(text, &end, 10);
    if (!*out && end == equals && end != text)
        *out = ln_context_input(ctx, position);
    if (*out)
        return LN_OK;

    list_inputs(ctx, known, sizeof known);
    return LN_FAIL(LN_NOT_FOUND, "the model has no input '%.*s'; it has %s", (int)name_len, text,
                   known);
}
