// SPDX-License-Identifier: Apache-2.0
// How a compiled model with dynamic inputs is compiled when it is read.
//
//     "dynamic": ["freezes_constants"],
//     "shapes": [{"name": "x", "dims": [32, 16]}],
//     "ranges": [{"name": "batch", "dims": [1, 32]}],
//
// The first has the names of the options that are on; the others are left out where there are none.

#include <limits.h>
#include <stddef.h>

#include <lightnet/allocator.h>
#include <lightnet/util.h>

#include "base/value.h"
#include "serial/model_tree.h"

static const struct option {
    const char *name;
    size_t offset; // of an int
} options_known[] = {
#define OPTION(name) {#name, offsetof(ln_file_options, name)},
    LN_FILE_OPTIONS(OPTION)
#undef OPTION
};

#define OPTION_COUNT (sizeof options_known / sizeof *options_known)

static int *place_of(ln_file_options *options, size_t i)
{
    return (int *)(void *)((char *)options + options_known[i].offset);
}

// ---- Making ----

static const ln_place nowhere = {.file = ""};

static ln_status add_array(ln_document *doc, ln_value *parent, const char *key,
                           ln_value **out_array)
{
    *out_array = ln_value_new(doc, LN_VALUE_ARRAY, nowhere);
    return ln_value_append(doc, parent, key, *out_array);
}

static ln_status add_dims(ln_document *doc, ln_value *rows, const char *name, int count,
                          const int *dims)
{
    ln_value *row = ln_value_new(doc, LN_VALUE_OBJECT, nowhere), *array;
    LN_TRY(ln_value_append(doc, rows, NULL, row));
    LN_TRY(ln_value_append(doc, row, "name", ln_value_new_string(doc, name, nowhere)));
    LN_TRY(add_array(doc, row, "dims", &array));
    for (int i = 0; i < count; i++)
        LN_TRY(ln_value_append(doc, array, NULL, ln_value_new_number(doc, dims[i], nowhere)));
    return LN_OK;
}

ln_status ln_model_tree_make_dynamic(const ln_compiled *compiled, ln_document *document,
                                     ln_value *root)
{
    ln_file_options options = compiled->options;
    ln_value *array;
    LN_TRY(add_array(document, root, "dynamic", &array));
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if (*place_of(&options, i))
            LN_TRY(ln_value_append(document, array, NULL,
                                   ln_value_new_string(document, options_known[i].name, nowhere)));
    if (compiled->shape_count > 0)
        LN_TRY(add_array(document, root, "shapes", &array));
    for (size_t i = 0; i < compiled->shape_count; i++) {
        const ln_compiled_shape *shape = &compiled->shapes[i];
        LN_TRY(add_dims(document, array, shape->name, shape->ndim, shape->dims));
    }
    if (compiled->range_count > 0)
        LN_TRY(add_array(document, root, "ranges", &array));
    for (size_t i = 0; i < compiled->range_count; i++) {
        const ln_compiled_range *range = &compiled->ranges[i];
        LN_TRY(add_dims(document, array, range->symbol, 2, (const int[]){range->from, range->to}));
    }
    return LN_OK;
}

// ---- Reading ----

// An array that may be absent, of at most `max_count` elements. NULL: it is.
static ln_status find_array(const ln_value *object, const char *key, size_t max_count,
                            const ln_value **out_array)
{
    const ln_value *array = *out_array = ln_value_get(object, key);
    if (!array)
        return LN_OK;
    if (array->kind != LN_VALUE_ARRAY)
        return ln_fail_at(array->place, LN_SYNTAX, "\"%s\" must be an array, found %s", key,
                          ln_value_kind_text(array->kind));
    if (array->count > max_count)
        return ln_fail_at(array->place, LN_LIMIT, "%zu \"%s\" are over the limit of %zu",
                          array->count, key, max_count);
    return LN_OK;
}

static ln_status read_options(const ln_value *names, ln_file_options *out_options)
{
    for (const ln_value *name = names->first; name; name = name->next) {
        size_t i = 0;
        while (i < OPTION_COUNT &&
               !(name->kind == LN_VALUE_STRING && ln_streq(name->text, options_known[i].name)))
            i++;
        if (i == OPTION_COUNT)
            return ln_fail_at(
                name->place, LN_UNSUPPORTED,
                "\"dynamic\" has an option that is not known here; compile the model again");
        *place_of(out_options, i) = 1;
    }
    return LN_OK;
}

// A name, which the caller frees, and `*out_count` dimensions, at most LN_MAXDIM.
static ln_status read_dims(const ln_value *row, char **out_name, int *out_count,
                           int dims[LN_MAXDIM])
{
    const ln_value *name = row->kind == LN_VALUE_OBJECT ? ln_value_get(row, "name") : NULL, *array;
    if (!name || name->kind != LN_VALUE_STRING || name->text_len >= LN_MAX_NAME_LEN)
        return ln_fail_at(row->place, LN_SYNTAX, "expected an object with \"name\" and \"dims\"");
    LN_TRY(find_array(row, "dims", LN_MAXDIM, &array));
    for (const ln_value *dim = array ? array->first : NULL; dim; dim = dim->next) {
        if (dim->kind != LN_VALUE_NUMBER || !(dim->number >= 0 && dim->number <= INT_MAX) ||
            dim->number > (int)dim->number || dim->number < (int)dim->number)
            return ln_fail_at(dim->place, LN_SYNTAX, "a dimension is an integer of 0 to %d",
                              INT_MAX);
        dims[(*out_count)++] = (int)dim->number;
    }
    *out_name = ln_strdup(name->text);
    return *out_name ? LN_OK : LN_NO_MEMORY;
}

static ln_status read_shapes(const ln_value *rows, ln_compiled *compiled)
{
    compiled->shapes = ln_alloc_array(rows->count + 1, sizeof *compiled->shapes);
    if (!compiled->shapes)
        return LN_NO_MEMORY;
    for (const ln_value *row = rows->first; row; row = row->next) {
        ln_compiled_shape *shape = &compiled->shapes[compiled->shape_count];
        *shape = (ln_compiled_shape){0};
        LN_TRY(read_dims(row, &shape->name, &shape->ndim, shape->dims));
        compiled->shape_count++;
    }
    return LN_OK;
}

static ln_status read_ranges(const ln_value *rows, ln_compiled *compiled)
{
    for (const ln_value *row = rows->first; row; row = row->next) {
        ln_compiled_range *range = &compiled->ranges[compiled->range_count];
        int count = 0, dims[LN_MAXDIM];
        LN_TRY(read_dims(row, &range->symbol, &count, dims));
        compiled->range_count++;
        if (count != 2)
            return ln_fail_at(row->place, LN_SYNTAX, "a range has 2 \"dims\", not %d", count);
        range->from = dims[0];
        range->to = dims[1];
    }
    return LN_OK;
}

ln_status ln_model_tree_read_dynamic(const ln_value *root, ln_compiled *compiled)
{
    const ln_value *names, *shapes, *ranges;
    LN_TRY(find_array(root, "dynamic", OPTION_COUNT, &names));
    LN_TRY(find_array(root, "shapes", LN_MODEL_MAX_TENSORS, &shapes));
    LN_TRY(find_array(root, "ranges", LN_COMPILED_MAX_RANGES, &ranges));
    LN_TRY(read_options(names, &compiled->options));
    if (shapes)
        LN_TRY(read_shapes(shapes, compiled));
    return ranges ? read_ranges(ranges, compiled) : LN_OK;
}
