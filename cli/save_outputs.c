// SPDX-License-Identifier: Apache-2.0
// One .npy file for each tensor, and outputs.json.

#include "save_outputs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lightnet/lightnet.h>

#include "cli.h"
#include "file_bytes.h"
#include "model_io.h"
#include "npy.h"
#include "npy_types.h"

#define MAX_DEPTH 16 // of sequences in sequences
#define MAX_PLACE 256

// Where the files go, and where in the outputs we are: "2" or "2_0_1".
typedef struct writer {
    const char *outdir;
    FILE *list;
    const char *name; // of the output
    char place[MAX_PLACE];
    int depth;
} writer;

// Letters, digits and a few signs that no shell and no file system takes for something else.
// "output_" begins the names that come from numbers.
static int can_be_file_name(const char *name)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    size_t len = strlen(name);
    return len > 0 && len <= 200 && name[0] != '.' && name[0] != '-' &&
           strspn(name, allowed) == len && strncmp(name, "output_", 7) != 0;
}

static ln_status save_tensor(writer *w, const tl_tensor *tensor, int has_own_file)
{
    char name[MAX_PLACE + 64], path[4096];
    if (has_own_file && can_be_file_name(w->name))
        snprintf(name, sizeof name, "%s.npy", w->name);
    else
        snprintf(name, sizeof name, "output_%s.npy", w->place);
    if ((size_t)snprintf(path, sizeof path, "%s/%s", w->outdir, name) >= sizeof path)
        return LN_FAIL(LN_IO, "the name of folder %s is too long", w->outdir);
    LN_TRY(npy_write(path, tensor));

    fprintf(w->list, "\"file\": ");
    print_json_string(w->list, name);
    fprintf(w->list, ", \"dtype\": \"%s\", \"shape\": [", onnx_dtype_name(tensor->dtype));
    for (int i = 0; i < tensor->ndim; i++)
        fprintf(w->list, "%s%d", i ? ", " : "", tensor->dims[i]);
    fputc(']', w->list);
    return LN_OK;
}

static ln_status save_value(writer *w, ln_object *value, int is_item);

static ln_status save_items(writer *w, ln_object *value)
{
    size_t count = ln_object_count(value), place_len = strlen(w->place);
    if (++w->depth > MAX_DEPTH)
        return LN_FAIL(LN_LIMIT, "output '%s' is nested more than %d deep", w->name, MAX_DEPTH);
    fprintf(w->list, "\"items\": [");
    for (size_t i = 0; i < count; i++) {
        fputs(i ? ", " : "", w->list);
        snprintf(w->place + place_len, sizeof w->place - place_len, "_%zu", i);
        LN_TRY(save_value(w, ln_object_item(value, i), 1));
        w->place[place_len] = '\0';
    }
    fputc(']', w->list);
    w->depth--;
    return LN_OK;
}

// An optional is what it holds.
static ln_status save_value(writer *w, ln_object *value, int is_item)
{
    int depth = 0;
    while (value && ln_object_get_kind(value) == LN_OBJECT_OPTIONAL) {
        if (++depth > MAX_DEPTH)
            return LN_FAIL(LN_LIMIT, "output '%s' is nested more than %d deep", w->name, MAX_DEPTH);
        value = ln_object_item(value, 0);
    }
    if (!value) {
        fputs("null", w->list);
        return LN_OK;
    }
    fprintf(w->list, "{\"name\": ");
    print_json_string(w->list, w->name);
    fputs(", ", w->list);
    const tl_tensor *tensor = ln_object_tensor(value);
    LN_TRY(tensor ? save_tensor(w, tensor, !is_item) : save_items(w, value));
    fputc('}', w->list);
    return LN_OK;
}

static ln_status save_all(ln_context *ctx, writer *w)
{
    const ln_tensor_entry *entry;
    fputs("[\n", w->list);
    for (size_t i = 0; (entry = ln_context_output(ctx, i)); i++) {
        fputs(i ? ",\n    " : "    ", w->list);
        w->name = entry->name;
        w->depth = 0;
        snprintf(w->place, sizeof w->place, "%zu", i);
        ln_object *value;
        LN_TRY(model_get_output(ctx, entry, &value));
        ln_status status = save_value(w, value, 0);
        ln_object_release(value);
        LN_TRY(status);
    }
    fputs("\n]\n", w->list);
    return LN_OK;
}

ln_status outdir_make(const char *outdir)
{
    char path[4096];
    if ((size_t)snprintf(path, sizeof path, "%s/", outdir) >= sizeof path)
        return LN_FAIL(LN_IO, "the name of folder %s is too long", outdir);
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            return LN_FAIL(LN_IO, "cannot make folder %s: %s", path, strerror(errno));
        *slash = '/';
    }
    if (access(path, W_OK | X_OK) != 0)
        return LN_FAIL(LN_IO, "cannot write into folder %s: %s", outdir, strerror(errno));
    return LN_OK;
}

ln_status save_outputs(ln_context *ctx, const char *outdir)
{
    char path[4096];
    if ((size_t)snprintf(path, sizeof path, "%s/outputs.json", outdir) >= sizeof path)
        return LN_FAIL(LN_IO, "the name of folder %s is too long", outdir);
    writer w = {.outdir = outdir, .list = fopen(path, "w")};
    if (!w.list)
        return LN_FAIL(LN_IO, "cannot open %s: %s", path, strerror(errno));
    ln_status status = save_all(ctx, &w);
    int is_written = !ferror(w.list);
    if ((fclose(w.list) != 0 || !is_written) && status == LN_OK)
        status = LN_FAIL(LN_IO, "cannot write %s: %s", path, strerror(errno));
    if (status != LN_OK)
        remove(path); // half a list would be taken for a whole one
    return status;
}

// ---- One output ----

// "'a', 'b'".
static void list_outputs(const ln_context *ctx, char *text, size_t size)
{
    size_t used = 0;
    const ln_tensor_entry *entry;
    *text = '\0';
    for (size_t i = 0; (entry = ln_context_output(ctx, i)) && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s'%s'", used ? ", " : "", entry->name);
}

// "a=a.npy,b=b.npy": after a comma an output has its name again.
static int is_list(const ln_context *ctx, const char *text)
{
    const ln_tensor_entry *entry;
    for (const char *comma = strchr(text, ','); comma; comma = strchr(comma + 1, ','))
        for (size_t i = 0; (entry = ln_context_output(ctx, i)); i++) {
            size_t len = strlen(entry->name);
            if (strncmp(comma + 1, entry->name, len) == 0 && comma[1 + len] == '=')
                return 1;
        }
    return 0;
}

// The output that `text` means, and the file.
static ln_status find_output(const ln_context *ctx, const char *text, const ln_tensor_entry **out,
                             const char **out_path)
{
    const char *equals = strchr(text, '=');
    *out_path = equals ? equals + 1 : text;
    *out = NULL;
    LN_TRY(output_text_check(text));
    size_t count = ln_context_output_count(ctx), name_len = equals ? (size_t)(equals - text) : 0;
    char known[512];
    list_outputs(ctx, known, sizeof known);
    if (is_list(ctx, text))
        return LN_FAIL(LN_INVALID, "-o takes one output, or a folder for all, not '%s'", text);
    if (!equals && count != 1)
        return LN_FAIL(LN_INVALID,
                       "the model has %zu outputs, %s, so say which: -o NAME=%s, or a folder",
                       count, known, text);
    for (size_t i = 0, longest = 0; i < count; i++) {
        const ln_tensor_entry *entry = ln_context_output(ctx, i);
        size_t len = strlen(entry->name);
        if (equals && (len <= longest || strncmp(entry->name, text, len) != 0 || text[len] != '='))
            continue;
        *out = entry;
        longest = len;
    }
    if (*out && equals)
        *out_path = text + strlen((*out)->name) + 1;
    return *out ? LN_OK
                : LN_FAIL(LN_NOT_FOUND, "-o %s: the model has no output '%.*s'; it has %s", text,
                          (int)name_len, text, known);
}

ln_status output_file_check(const ln_context *ctx, const char *text)
{
    const ln_tensor_entry *entry;
    const char *path;
    LN_TRY(find_output(ctx, text, &entry, &path));
    return file_check_writable(path);
}

ln_status save_output_file(ln_context *ctx, const char *text)
{
    const ln_tensor_entry *entry;
    const char *path;
    ln_object *value;
    LN_TRY(find_output(ctx, text, &entry, &path));
    LN_TRY(model_get_output(ctx, entry, &value));
    const tl_tensor *tensor = ln_object_tensor(value);
    ln_status status =
        tensor ? npy_write(path, tensor)
               : LN_FAIL(LN_UNSUPPORTED, "output '%s' is not a tensor; -o with a folder writes it",
                         entry->name);
    ln_object_release(value);
    return status;
}
