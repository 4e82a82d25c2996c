// SPDX-License-Identifier: Apache-2.0
// Ranges, small tensors in full, and the classes of a classifier.

#include "summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lightnet/lightnet.h>

#include "cli.h"
#include "model_io.h"

#define MAX_SHOWN       16 // elements of a tensor that is shown in full
#define MAX_SHOWN_ITEMS 16 // items of a sequence
#define MAX_ROWS        16 // of classes
#define BLOCK           1024
#define DEFAULT_TOP     5

static int is_number(tl_dtype dtype)
{
    return dtype != TL_STRING && dtype != TL_OBJECT && dtype != TL_COMPLEX64 &&
           dtype != TL_COMPLEX128;
}

static double number_at(const tl_tensor *tensor, int index)
{
    double value = 0;
    (void)tl_convert(&value, TL_DOUBLE, tl_padd(tensor->data, index, tl_size_of(tensor->dtype)),
                     tensor->dtype);
    return value;
}

// ---- The range ----

// What the finite elements have; positions are -1 where none is finite.
typedef struct range {
    int min_at, max_at;
    double mean;
    int nan_count, infinite_count;
} range;

// Integers of 64 bits are told apart also where they are the same double.
static int is_less(const tl_tensor *tensor, int a, double x, int b, double y)
{
    size_t size = tl_size_of(tensor->dtype);
    if (tensor->dtype != TL_INT64 && tensor->dtype != TL_UINT64)
        return x < y;
    return tl_cmp(tl_padd(tensor->data, a, size), tl_padd(tensor->data, b, size), tensor->dtype) <
           0;
}

static range range_of(const tl_tensor *tensor)
{
    range r = {.min_at = -1, .max_at = -1};
    double min = 0, max = 0, sum = 0, block[BLOCK];
    for (int i = 0; i < tensor->len; i += BLOCK) {
        int count = tensor->len - i < BLOCK ? tensor->len - i : BLOCK;
        (void)tl_convert_n(block, TL_DOUBLE, tl_padd(tensor->data, i, tl_size_of(tensor->dtype)),
                           tensor->dtype, (size_t)count);
        for (int k = 0; k < count; k++) {
            r.nan_count += isnan(block[k]) != 0;
            r.infinite_count += isinf(block[k]) != 0;
            if (!isfinite(block[k]))
                continue;
            if (r.min_at < 0 || is_less(tensor, i + k, block[k], r.min_at, min)) {
                r.min_at = i + k;
                min = block[k];
            }
            if (r.max_at < 0 || is_less(tensor, r.max_at, max, i + k, block[k])) {
                r.max_at = i + k;
                max = block[k];
            }
            sum += block[k];
        }
    }
    r.mean = r.min_at < 0 ? 0 : sum / (tensor->len - r.nan_count - r.infinite_count);
    return r;
}

static void print_range(const tl_tensor *tensor)
{
    range r = range_of(tensor);
    if (tensor->len > 0 && r.min_at < 0)
        printf(" no finite element");
    else if (tensor->len > 0)
        printf(" min %.6g max %.6g mean %.6g", number_at(tensor, r.min_at),
               number_at(tensor, r.max_at), r.mean);
    if (r.nan_count > 0)
        printf(" (%d NaN)", r.nan_count);
    if (r.infinite_count > 0)
        printf(" (%d infinite)", r.infinite_count);
}

// ---- Elements ----

static void print_strings(const tl_tensor *tensor)
{
    for (int i = 0; i < tensor->len; i++) {
        const char *text = ((const char *const *)tensor->data)[i];
        fputs(i ? ", \"" : "[\"", stdout);
        put_printable(text ? text : "", stdout);
        fputc('"', stdout);
    }
    fputs(tensor->len ? "]\n" : "[]\n", stdout);
}

static int is_floating(tl_dtype dtype)
{
    return dtype == TL_FLOAT || dtype == TL_DOUBLE;
}

static void print_elements(const tl_tensor *tensor)
{
    if (tensor->len > MAX_SHOWN)
        return;
    if (tensor->dtype == TL_STRING)
        print_strings(tensor);
    else
        (void)tl_tensor_print(tensor, is_floating(tensor->dtype) ? "%.6g" : NULL);
}

// ---- Classes ----

// Rows of numbers, one for each class: a tensor with one dimension that is not 1, or a matrix.
static int find_classes(const tl_tensor *tensor, int *out_row_count, int *out_class_count)
{
    int long_count = 0;
    for (int i = 0; i < tensor->ndim; i++)
        long_count += tensor->dims[i] != 1;
    *out_row_count = long_count == 1 ? 1 : tensor->ndim == 2 ? tensor->dims[0] : 0;
    *out_class_count = *out_row_count > 0 ? tensor->len / *out_row_count : 0;
    return *out_class_count > 1;
}

// Whether number `a` comes before number `b`: the larger, then the first. NaN comes last.
static int comes_before(const tl_tensor *tensor, int a, int b)
{
    double x = number_at(tensor, a), y = number_at(tensor, b);
    return x > y || (x == y && a < b) || (x == x && y != y);
}

// The `count` top classes of a row in `top`, sorted by insertion.
static int find_top(const tl_tensor *tensor, int first, int class_count, int count, int *top)
{
    int found = 0;
    for (int i = first; i < first + class_count; i++) {
        int at = found < count ? found++ : count;
        while (at > 0 && comes_before(tensor, i, top[at - 1])) {
            if (at < count)
                top[at] = top[at - 1];
            at--;
        }
        if (at < count)
            top[at] = i;
    }
    return found;
}

// What the outputs have instead of as many classes as there are labels.
typedef struct label_check {
    const labels *names;
    char counts[256];
    size_t used;
    int fits;
} label_check;

static void note_classes(label_check *c, const char *name, const tl_tensor *tensor)
{
    int row_count, class_count;
    if (!find_classes(tensor, &row_count, &class_count))
        return;
    c->fits |= (size_t)class_count == c->names->count;
    if (c->used < sizeof c->counts)
        c->used += (size_t)snprintf(c->counts + c->used, sizeof c->counts - c->used,
                                    "%s'%s' has %d", c->used ? ", " : "output ", name, class_count);
}

static ln_status judge_labels(const label_check *c)
{
    if (c->fits)
        return LN_OK;
    return LN_FAIL(
        LN_INVALID, "%s has %zu names of classes, but %s; --top without --labels shows numbers",
        c->names->path, c->names->count, c->used ? c->counts : "no output is one row of classes");
}

ln_status check_labels(const ln_context *ctx, const labels *names)
{
    label_check c = {.names = names};
    const ln_tensor_entry *entry;
    for (size_t i = 0; (entry = ln_context_output(ctx, i)); i++) {
        if (entry->is_open)
            return LN_OK;
        note_classes(&c, entry->name, entry->tensor);
    }
    return judge_labels(&c);
}

ln_status check_labels_of_run(ln_context *ctx, const labels *names)
{
    label_check c = {.names = names};
    const ln_tensor_entry *entry;
    for (size_t i = 0; (entry = ln_context_output(ctx, i)); i++) {
        ln_object *value;
        LN_TRY(model_get_output(ctx, entry, &value));
        const tl_tensor *tensor = ln_object_tensor(value);
        if (tensor)
            note_classes(&c, entry->name, tensor);
        ln_object_release(value);
    }
    return judge_labels(&c);
}

static void print_row(const tl_tensor *tensor, int first, int class_count, const top_options *o,
                      int *top)
{
    int count = find_top(tensor, first, class_count, o->count, top);
    for (int i = 0; i < count; i++) {
        int index = top[i] - first;
        printf("  %3d. %-12.6g %6d", i + 1, number_at(tensor, top[i]), index);
        if (o->all && (size_t)index < o->all->count) {
            fputs("  ", stdout);
            put_printable(o->all->lines[index], stdout);
        }
        putchar('\n');
    }
}

static void print_top(const tl_tensor *tensor, const top_options *o)
{
    int row_count, class_count;
    if (o->count == 0 || !is_number(tensor->dtype))
        return;
    if (!find_classes(tensor, &row_count, &class_count)) {
        if (tensor->ndim > 2 && tensor->len > 1)
            puts(
                "  not shown as classes: it is not one row of scores for each input, as of a detector; "
                "-o FILE.npy keeps it");
        return;
    }
    // Labels name the classes of the outputs that have as many.
    if (o->all && (size_t)class_count != o->all->count)
        return;
    int *top = malloc(((size_t)o->count + 1) * sizeof *top);
    if (!top)
        return;
    for (int row = 0; row < row_count && row < MAX_ROWS; row++) {
        if (row_count > 1)
            printf("  row %d\n", row);
        print_row(tensor, row * class_count, class_count, o, top);
    }
    free(top);
}

// ---- Values ----

static void print_tensor(const tl_tensor *tensor, const top_options *top)
{
    char shape[128];
    ln_sprint_shape(shape, sizeof shape, tensor->ndim, tensor->dims);
    printf(": %s %s", tl_dtype_title(tensor->dtype), shape);
    if (is_number(tensor->dtype))
        print_range(tensor);
    putchar('\n');
    print_elements(tensor);
    print_top(tensor, top);
}

static void print_items(const char *name, const ln_object *value, const top_options *top)
{
    size_t count = ln_object_count(value);
    for (size_t i = 0; i < count && i < MAX_SHOWN_ITEMS; i++) {
        const ln_object *item = ln_object_item(value, i);
        char item_name[LN_MAX_NAME_LEN + 32];
        snprintf(item_name, sizeof item_name, "%s[%zu]", name, i);
        if (item)
            print_value(item_name, item, top);
    }
    if (count > MAX_SHOWN_ITEMS)
        printf("... and %zu more\n", count - MAX_SHOWN_ITEMS);
}

void print_value(const char *name, const ln_object *value, const top_options *top)
{
    put_printable(name, stdout);
    const tl_tensor *tensor = ln_object_tensor((ln_object *)(uintptr_t)value);
    if (tensor) {
        print_tensor(tensor, top);
        return;
    }
    size_t count = ln_object_count(value);
    switch (ln_object_get_kind(value)) {
    case LN_OBJECT_SEQUENCE: printf(": sequence of %zu\n", count); break;
    case LN_OBJECT_MAP: printf(": map\n"); break;
    default: printf(": %s\n", count ? "optional" : "nothing"); break;
    }
    print_items(name, value, top);
}

// ---- Outputs of a model ----

top_options top_options_of(int count, const labels *names)
{
    return (top_options){.count = count > 0 ? count : names ? DEFAULT_TOP : 0, .all = names};
}

// By another operator than `output`, which only names it.
static int is_read(const ln_context *ctx, const ln_tensor_entry *entry)
{
    const ln_op *maker = ln_op_table_find(ctx->op_table, entry->creater), *reader;
    ln_list *readers = maker ? ln_dfg_nexts(ctx->dfg, maker, entry->name) : NULL;
    int is_read = 0;
    LN_LIST_FOREACH (reader, readers)
        is_read |= strcmp(reader->op_arg->optype, "output") != 0 &&
                   strncmp(reader->op_arg->optype, "output_", strlen("output_")) != 0;
    ln_list_free(readers);
    return is_read;
}

ln_status print_outputs(ln_context *ctx, const top_options *top, int skips_read)
{
    const ln_tensor_entry *entry;
    for (size_t i = 0; (entry = ln_context_output(ctx, i)); i++) {
        if (skips_read && is_read(ctx, entry))
            continue;
        ln_object *value;
        LN_TRY(model_get_output(ctx, entry, &value));
        print_value(entry->name, value, top);
        ln_object_release(value);
    }
    return LN_OK;
}

// "0.92 22 bald eagle, 0.03 23 vulture" of the first row; 0 if the output has no such classes.
static int print_classes(const tl_tensor *tensor, const top_options *o)
{
    int row_count, class_count;
    if (o->count == 0 || !is_number(tensor->dtype) ||
        !find_classes(tensor, &row_count, &class_count) ||
        (o->all && (size_t)class_count != o->all->count))
        return 0;
    int *top = malloc(((size_t)o->count + 1) * sizeof *top);
    int count = top ? find_top(tensor, 0, class_count, o->count, top) : 0;
    for (int i = 0; i < count; i++) {
        printf("%s%.6g %d", i ? ", " : " ", number_at(tensor, top[i]), top[i]);
        if (o->all) {
            putchar(' ');
            put_printable(o->all->lines[top[i]], stdout);
        }
    }
    free(top);
    return 1;
}

ln_status print_outputs_in_line(ln_context *ctx, const char *file, const top_options *top)
{
    const ln_tensor_entry *entry;
    put_printable(file, stdout);
    putchar(':');
    for (size_t i = 0; (entry = ln_context_output(ctx, i)); i++) {
        ln_object *value;
        LN_TRY(model_get_output(ctx, entry, &value));
        const tl_tensor *tensor = ln_object_tensor(value);
        if (tensor && !print_classes(tensor, top)) {
            char shape[LN_SHAPE_TEXT_BYTES];
            fputs(i ? "; " : " ", stdout);
            put_printable(entry->name, stdout);
            printf(" %s", ln_sprint_shape(shape, sizeof shape, tensor->ndim, tensor->dims));
            if (is_number(tensor->dtype))
                print_range(tensor);
        }
        ln_object_release(value);
    }
    putchar('\n');
    fflush(stdout);
    return LN_OK;
}

// ---- JSON ----

static void put_range(json_out *j, const tl_tensor *tensor)
{
    range r = range_of(tensor);
    if (r.min_at < 0) {
        json_null(j, "min");
        json_null(j, "max");
        json_null(j, "mean");
    } else {
        json_element(j, "min", tensor, r.min_at);
        json_element(j, "max", tensor, r.max_at);
        json_number(j, "mean", r.mean);
    }
    json_int(j, "nan", r.nan_count);
    json_int(j, "infinite", r.infinite_count);
}

static void put_row(json_out *j, const tl_tensor *tensor, int first, int class_count,
                    const top_options *o, int *top)
{
    int count = find_top(tensor, first, class_count, o->count, top);
    json_open(j, NULL, '[');
    for (int i = 0; i < count; i++) {
        size_t index = (size_t)(top[i] - first);
        json_open(j, NULL, '{');
        json_size(j, "class", index);
        json_element(j, "score", tensor, top[i]);
        json_text(j, "label", o->all && index < o->all->count ? o->all->lines[index] : NULL);
        json_close(j, '}');
    }
    json_close(j, ']');
}

// All rows, where the text shows the first ones.
static void put_top(json_out *j, const tl_tensor *tensor, const top_options *o)
{
    int row_count, class_count;
    if (o->count == 0 || !is_number(tensor->dtype) ||
        !find_classes(tensor, &row_count, &class_count) ||
        (o->all && (size_t)class_count != o->all->count))
        return;
    int *top = malloc(((size_t)o->count + 1) * sizeof *top);
    json_open(j, "top", '[');
    for (int row = 0; top && row < row_count; row++)
        put_row(j, tensor, row * class_count, class_count, o, top);
    json_close(j, ']');
    free(top);
}

static void put_tensor(json_out *j, const tl_tensor *tensor, const top_options *top)
{
    json_text(j, "kind", "tensor");
    json_text(j, "dtype", tl_dtype_title(tensor->dtype));
    json_shape(j, "shape", tensor->ndim, tensor->dims);
    if (is_number(tensor->dtype))
        put_range(j, tensor);
    put_top(j, tensor, top);
    json_elements(j, "data", tensor);
}

static void put_value(json_out *j, const char *name, ln_object *value, const top_options *top)
{
    static const char *const kinds[] = {[LN_OBJECT_SEQUENCE] = "sequence",
                                        [LN_OBJECT_OPTIONAL] = "optional",
                                        [LN_OBJECT_MAP] = "map"};
    const tl_tensor *tensor = value ? ln_object_tensor(value) : NULL;
    json_open(j, NULL, '{');
    if (name)
        json_text(j, "name", name);
    if (tensor) {
        put_tensor(j, tensor, top);
    } else if (value && j->depth < JSON_MAX_DEPTH) {
        json_text(j, "kind", kinds[ln_object_get_kind(value)]);
        json_open(j, "items", '[');
        for (size_t i = 0; i < ln_object_count(value); i++)
            put_value(j, NULL, ln_object_item(value, i), top);
        json_close(j, ']');
    }
    json_close(j, '}');
}

ln_status put_outputs(json_out *j, ln_context *ctx, const top_options *top)
{
    const ln_tensor_entry *entry;
    json_open(j, "outputs", '[');
    for (size_t i = 0; (entry = ln_context_output(ctx, i)); i++) {
        ln_object *value;
        LN_TRY(model_get_output(ctx, entry, &value));
        put_value(j, entry->name, value, top);
        ln_object_release(value);
    }
    json_close(j, ']');
    return LN_OK;
}
