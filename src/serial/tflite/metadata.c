// SPDX-License-Identifier: Apache-2.0
// What the file states about the model: its description, metadata, signatures, the quantization
// and open dimensions of its inputs and outputs, the labels of outputs, the normalization of
// inputs, and the names of files that are packed in it, as a zip archive past the end of the
// tables.
//
// Metadata is a FlatBuffer of its own, in a buffer that the model names. What is malformed in it is
// left out: it changes no result.

#include <stdio.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/model_info.h>

#include "base/text.h"
#include "serial/tflite/builder.h"

#define MAX_PROPERTIES 256
#define MAX_TEXT       2000
#define MAX_SCALES     4096

typedef struct listed {
    ln_model_property items[MAX_PROPERTIES];
    size_t count;
    ln_status status;
} listed;

static char *text_of(const ln_flat *file, ln_flat_vector text)
{
    char buf[MAX_TEXT];
    ln_tflite_clean(file, text, buf, sizeof buf);
    return ln_strdup(buf);
}

// Takes over the texts. Empty values are left out.
static void add(listed *l, char *key, char *value)
{
    if (!key || !value)
        l->status = LN_NO_MEMORY;
    if (key && value && *key && *value && l->count < MAX_PROPERTIES) {
        l->items[l->count++] = (ln_model_property){.key = key, .value = value};
        return;
    }
    ln_free(key);
    ln_free(value);
}

// ---- Signatures ----

// The name of a signature, and its subgraph.
static int64_t read_signature(ln_tflite_builder *b, ln_flat_table table, char *key, size_t size)
{
    ln_tflite_clean(b->file, ln_flat_text(b->file, table, 2), key, size);
    return ln_flat_number(b->file, table, 4, LN_FLAT_U32, 0);
}

static void refuse_signature(ln_tflite_builder *b, ln_flat_vector tables, const char *wanted)
{
    ln_text text = {0};
    for (size_t i = 0; i < tables.count && i < MAX_PROPERTIES && text.len < MAX_TEXT; i++) {
        char key[256];
        read_signature(b, ln_flat_table_at(b->file, tables, i), key, sizeof key);
        ln_text_printf(&text, "%s'%s'", i ? ", " : "; it has ", key);
    }
    ln_tflite_stop(b, LN_NOT_FOUND, "the model has no signature '%s'%s", wanted,
                   text.bytes ? text.bytes : "");
    ln_text_deinit(&text);
}

void ln_tflite_choose(ln_tflite_builder *b, const char *signature)
{
    ln_flat_vector tables = ln_flat_list(b->file, b->model, 7, 4);
    for (size_t i = 0; i < tables.count && i < MAX_PROPERTIES; i++) {
        char key[256];
        const int64_t subgraph =
            read_signature(b, ln_flat_table_at(b->file, tables, i), key, sizeof key);
        if (strcmp(key, signature) != 0)
            continue;
        if (subgraph < 0 || (uint64_t)subgraph >= b->subgraphs.count)
            ln_tflite_stop(b, LN_INVALID, "signature '%s' is of subgraph %lld of %zu", key,
                           (long long)subgraph, b->subgraphs.count);
        else
            b->entry = (size_t)subgraph;
        return;
    }
    refuse_signature(b, tables, signature);
}

// What separates names, and begins an escape, is "\x2c" within them.
static void print_name(ln_text *text, const char *name)
{
    for (; *name; name++)
        ln_text_printf(text, strchr("\\,=>(", *name) ? "\\x%02x" : "%c", *name);
}

// Of the subgraph that is the model the tensors are known by name.
static void print_ends(ln_tflite_builder *b, ln_flat_vector maps, bool is_model, ln_text *text)
{
    for (size_t i = 0; i < maps.count && text->len < MAX_TEXT; i++) {
        ln_flat_table map = ln_flat_table_at(b->file, maps, i);
        int64_t tensor = ln_flat_number(b->file, map, 1, LN_FLAT_U32, 0);
        char name[256];
        ln_tflite_clean(b->file, ln_flat_text(b->file, map, 0), name, sizeof name);
        ln_text_puts(text, i ? ", " : "");
        print_name(text, name);
        ln_text_puts(text, "=");
        if (is_model && tensor >= 0 && (uint64_t)tensor < b->tensor_count)
            print_name(text, b->tensors[tensor].name);
        else
            ln_text_printf(text, "%lld", (long long)tensor);
    }
}

// "serve": "x=serve_x:0 -> y=call:0": names of a signature's ends, and the tensors that they are;
// of a subgraph that is not the model "x=0 -> y=7 (subgraph 1)", their numbers.
static void add_signatures(ln_tflite_builder *b, listed *l)
{
    ln_flat_vector tables = ln_flat_list(b->file, b->model, 7, 4);
    for (size_t i = 0; i < tables.count && i < MAX_PROPERTIES; i++) {
        ln_flat_table table = ln_flat_table_at(b->file, tables, i);
        char key[256];
        const int64_t subgraph = read_signature(b, table, key, sizeof key);
        const bool is_model = subgraph == (int64_t)b->entry;
        ln_text text = {0};
        print_ends(b, ln_flat_list(b->file, table, 0, 4), is_model, &text);
        ln_text_puts(&text, " -> ");
        print_ends(b, ln_flat_list(b->file, table, 1, 4), is_model, &text);
        if (!is_model)
            ln_text_printf(&text, " (subgraph %lld)", (long long)subgraph);
        add(l, ln_strdup_printf("signature %s", key), text.bytes ? ln_strdup(text.bytes) : NULL);
        ln_text_deinit(&text);
    }
}

// ---- Inputs and outputs ----

// "-1,224,224,3", where the model leaves dimensions open; sizes that they have by default are those
// of the input.
static void add_open_shapes(ln_tflite_builder *b, listed *l, ln_flat_vector ends)
{
    for (size_t i = 0; i < ends.count && i < MAX_PROPERTIES; i++) {
        const int64_t index = ln_flat_number_at(b->file, ends, i, LN_FLAT_I32);
        if (index < 0 || (uint64_t)index >= b->tensor_count)
            continue;
        const ln_tflite_tensor *t = &b->tensors[index];
        bool is_open = false;
        ln_text text = {0};
        for (int k = 0; k < t->ndim; k++) {
            is_open = is_open || t->dims[k] < 0;
            ln_text_printf(&text, "%s%d", k ? "," : "", t->dims[k]);
        }
        if (is_open)
            add(l, ln_strdup_printf("shape_signature %s", t->name),
                text.bytes ? ln_strdup(text.bytes) : NULL);
        ln_text_deinit(&text);
    }
}

// "scale=0.0078125 zero=-1": the real number is `scale * (integer - zero)`; of
// several scales "scale=0.5,0.25 zero=0,0 axis=3". Nine digits tell each float32 from all others.
static char *print_scales(const ln_flat *file, const ln_tflite_tensor *t)
{
    ln_text text = {0};
    for (size_t i = 0; i < t->scales.count; i++)
        ln_text_printf(&text, "%s%.9g",
                       i ? "," : "scale=", (double)ln_flat_float_at(file, t->scales, i));
    for (size_t i = 0; i < t->scales.count; i++) {
        long long zero =
            i < t->zeros.count ? (long long)ln_flat_number_at(file, t->zeros, i, LN_FLAT_I64) : 0;
        ln_text_printf(&text, "%s%lld", i ? "," : " zero=", zero);
    }
    if (t->scales.count > 1)
        ln_text_printf(&text, " axis=%d", t->axis);
    char *copy = text.bytes ? ln_strdup(text.bytes) : NULL;
    ln_text_deinit(&text);
    return copy;
}

static void add_scales(ln_tflite_builder *b, listed *l, ln_flat_vector ends)
{
    for (size_t i = 0; i < ends.count && i < MAX_PROPERTIES; i++) {
        const int64_t index = ln_flat_number_at(b->file, ends, i, LN_FLAT_I32);
        const ln_tflite_tensor *t =
            index >= 0 && (uint64_t)index < b->tensor_count ? &b->tensors[index] : NULL;
        if (t && t->scales.count > 0 && t->scales.count <= MAX_SCALES)
            add(l, ln_strdup_printf("quantization %s", t->name), print_scales(b->file, t));
    }
}

// ---- Metadata ----

static ln_flat_vector buffer_of(ln_tflite_builder *b, int64_t index)
{
    if (index < 0 || (uint64_t)index >= b->buffers.count)
        return (ln_flat_vector){0};
    return ln_flat_text(b->file, ln_flat_table_at(b->file, b->buffers, (size_t)index), 0);
}

// The name of input or output `i` of the first subgraph; "" where there is none.
static const char *end_name(const ln_tflite_builder *b, ln_flat_vector ends, size_t i)
{
    int64_t index = i < ends.count ? ln_flat_number_at(b->file, ends, i, LN_FLAT_I32) : -1;
    return index >= 0 && (uint64_t)index < b->tensor_count ? b->tensors[index].name : "";
}

// The file with names of classes, without a language before one with it.
static void add_labels(listed *l, ln_flat *inner, ln_flat_table tensor, const char *name)
{
    enum { AXIS_LABELS = 2, VALUE_LABELS = 3 };
    ln_flat_vector files = ln_flat_list(inner, tensor, 6, 4), found = {0};
    bool has_locale = true;
    for (size_t i = 0; i < files.count && inner->status == LN_OK; i++) {
        ln_flat_table file = ln_flat_table_at(inner, files, i);
        int64_t type = ln_flat_number(inner, file, 2, LN_FLAT_I8, 0);
        bool is_of_locale = ln_flat_text(inner, file, 3).count > 0;
        if ((type != AXIS_LABELS && type != VALUE_LABELS) ||
            (found.count > 0 && (is_of_locale || !has_locale)))
            continue;
        found = ln_flat_text(inner, file, 0);
        has_locale = is_of_locale;
    }
    if (*name && found.count > 0)
        add(l, ln_strdup_printf("labels %s", name), text_of(inner, found));
}

static void print_floats(const ln_flat *file, ln_flat_vector floats, const char *key, ln_text *text)
{
    for (size_t i = 0; i < floats.count && text->len < MAX_TEXT; i++)
        ln_text_printf(text, "%s%.9g", i ? "," : key, (double)ln_flat_float_at(file, floats, i));
}

// "mean=127.5 std=127.5": an element of the input is (pixel - mean) / std.
static void add_normalization(listed *l, ln_flat *inner, ln_flat_table tensor, const char *name)
{
    enum { NORMALIZATION = 1 };
    ln_flat_vector units = ln_flat_list(inner, tensor, 4, 4);
    for (size_t i = 0; i < units.count && inner->status == LN_OK; i++) {
        ln_flat_table unit = ln_flat_table_at(inner, units, i);
        if (ln_flat_number(inner, unit, 0, LN_FLAT_U8, 0) != NORMALIZATION)
            continue;
        ln_flat_table options = ln_flat_child(inner, unit, 1);
        ln_flat_vector means = ln_flat_list(inner, options, 0, 4);
        ln_flat_vector deviations = ln_flat_list(inner, options, 1, 4);
        if (!*name || inner->status != LN_OK || means.count == 0 || deviations.count == 0)
            return;
        ln_text text = {0};
        print_floats(inner, means, "mean=", &text);
        print_floats(inner, deviations, " std=", &text);
        add(l, ln_strdup_printf("normalization %s", name),
            text.bytes ? ln_strdup(text.bytes) : NULL);
        ln_text_deinit(&text);
        return;
    }
}

// Inputs and outputs are described in the order of the subgraph.
static void add_ends(ln_tflite_builder *b, listed *l, ln_flat *inner, ln_flat_table root,
                     ln_flat_table subgraph)
{
    ln_flat_vector graphs = ln_flat_list(inner, root, 3, 4);
    if (graphs.count == 0)
        return;
    ln_flat_table graph = ln_flat_table_at(inner, graphs, 0);
    for (unsigned side = 0; side < 2; side++) {
        ln_flat_vector tensors = ln_flat_list(inner, graph, 2 + side, 4);
        ln_flat_vector ends = ln_flat_list(b->file, subgraph, 1 + side, 4);
        for (size_t i = 0; i < tensors.count && i < MAX_PROPERTIES && inner->status == LN_OK; i++) {
            ln_flat_table tensor = ln_flat_table_at(inner, tensors, i);
            if (side == 0)
                add_normalization(l, inner, tensor, end_name(b, ends, i));
            else
                add_labels(l, inner, tensor, end_name(b, ends, i));
        }
    }
}

// A FlatBuffer of its own, whose faults are not the model's.
static void add_described(ln_tflite_builder *b, listed *l, ln_flat_vector bytes,
                          ln_flat_table subgraph, char **doc)
{
    static const char *const keys[] = {"name", NULL, "version", NULL, "author", "license"};
    ln_flat inner = ln_flat_of(b->file->bytes + bytes.at, bytes.count, b->file->name);
    ln_flat_table root = ln_flat_root(&inner);
    for (unsigned i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (keys[i])
            add(l, ln_strdup(keys[i]), text_of(&inner, ln_flat_text(&inner, root, i)));
    }
    add_ends(b, l, &inner, root, subgraph);
    char *text = text_of(&inner, ln_flat_text(&inner, root, 1));
    if (text && *text) {
        ln_free(*doc);
        *doc = text;
    } else {
        ln_free(text);
    }
}

static void add_metadata(ln_tflite_builder *b, listed *l, ln_flat_table subgraph, char **doc)
{
    ln_flat_vector tables = ln_flat_list(b->file, b->model, 6, 4);
    for (size_t i = 0; i < tables.count && i < MAX_PROPERTIES; i++) {
        ln_flat_table table = ln_flat_table_at(b->file, tables, i);
        char name[64];
        ln_tflite_clean(b->file, ln_flat_text(b->file, table, 0), name, sizeof name);
        ln_flat_vector bytes = buffer_of(b, ln_flat_number(b->file, table, 1, LN_FLAT_U32, 0));
        if (strcmp(name, "TFLITE_METADATA") == 0)
            add_described(b, l, bytes, subgraph, doc);
        else if (strcmp(name, "min_runtime_version") == 0) {
            while (bytes.count > 0 && b->file->bytes[bytes.at + bytes.count - 1] == 0)
                bytes.count--;
            add(l, ln_strdup(name), text_of(b->file, bytes));
        }
    }
}

// ---- Packed files ----

static size_t get(const ln_flat *f, size_t at, size_t size)
{
    size_t value = 0;
    for (size_t i = 0; i < size; i++)
        value |= (size_t)f->bytes[at + i] << 8 * i;
    return value;
}

// The end record of a zip archive, which is among the last bytes; 0: there is none.
static size_t find_end_record(const ln_flat *f)
{
    enum { RECORD = 22, COMMENT = 65535 };
    for (size_t back = RECORD; back <= f->len && back <= RECORD + COMMENT; back++) {
        size_t at = f->len - back;
        if (memcmp(f->bytes + at, "PK\5\6", 4) == 0 && get(f, at + 20, 2) == back - RECORD)
            return at;
    }
    return 0;
}

// Offsets of the archive may count from its own start, or from that of the file: its list of names
// ends where the end record begins.
static void add_files(ln_tflite_builder *b, listed *l)
{
    enum { HEADER = 46 };
    const ln_flat *f = b->file;
    size_t end = find_end_record(f), len = end ? get(f, end + 12, 4) : 0;
    if (len == 0 || len > end)
        return;
    ln_text text = {0};
    size_t at = end - len;
    for (size_t i = 0; i < MAX_PROPERTIES && end - at >= HEADER; i++) {
        size_t name_len = get(f, at + 28, 2);
        size_t rest = name_len + get(f, at + 30, 2) + get(f, at + 32, 2);
        if (memcmp(f->bytes + at, "PK\1\2", 4) != 0 || rest > end - at - HEADER)
            break;
        char name[256];
        ln_tflite_clean(f, (ln_flat_vector){.at = at + HEADER, .count = name_len}, name,
                        sizeof name);
        ln_text_printf(&text, "%s%s", text.len ? ", " : "", name);
        at += HEADER + rest;
    }
    if (text.bytes)
        add(l, ln_strdup("files"), ln_strdup(text.bytes));
    ln_text_deinit(&text);
}

ln_status ln_tflite_read_info(ln_tflite_builder *b, ln_flat_table subgraph)
{
    listed *l = ln_alloc(sizeof *l);
    if (!l)
        return LN_NO_MEMORY;
    char *doc = text_of(b->file, ln_flat_text(b->file, b->model, 3));
    char *graph = text_of(b->file, ln_flat_text(b->file, subgraph, 4));
    add_metadata(b, l, subgraph, &doc);
    add_signatures(b, l);
    add_open_shapes(b, l, ln_flat_list(b->file, subgraph, 1, 4));
    add_open_shapes(b, l, ln_flat_list(b->file, subgraph, 2, 4));
    add_scales(b, l, ln_flat_list(b->file, subgraph, 1, 4));
    add_scales(b, l, ln_flat_list(b->file, subgraph, 2, 4));
    add_files(b, l);
    ln_model_info info = {
        .doc = doc, .graph = graph, .properties = l->items, .property_count = l->count};
    ln_status status = doc && graph ? l->status : LN_NO_MEMORY;
    if (status == LN_OK && b->file->status == LN_OK)
        status = ln_context_set_info(b->ctx, &info);
    for (size_t i = 0; i < l->count; i++) {
        ln_free((void *)(uintptr_t)l->items[i].key);
        ln_free((void *)(uintptr_t)l->items[i].value);
    }
    ln_free(doc);
    ln_free(graph);
    ln_free(l);
    return status;
}
