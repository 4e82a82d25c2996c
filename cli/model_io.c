// SPDX-License-Identifier: Apache-2.0
// Values into and out of models, whether their shapes are known beforehand or not.

#include "model_io.h"

#include <stdlib.h>
#include <string.h>

#include <lightnet/lightnet.h>

#include "given_options.h"
#include "npz.h"
#include "output_folder.h"
#include "shape_text.h"
#include "tensor_input.h"

// ---- Inputs ----

// What the operator that stands for an input of open shape says of it.
static input_wish wish_of_params(const char *name, const ln_list *params)
{
    input_wish wish = {.name = name, .dtype = TL_FLOAT, .ndim = -1, .elem_dtype = TL_DTYPE_INVALID};
    const ln_param_entry *dtype = ln_param_list_find(params, "dtype");
    const ln_param_entry *dims = ln_param_list_find(params, "dims");
    const ln_param_entry *open = ln_param_list_find(params, "open");
    if (dtype && dtype->value_string)
        wish.dtype = tl_dtype_from_str(dtype->value_string);
    if (dims && dims->array_len <= TL_MAXDIM && !(open && open->value_bool)) {
        wish.ndim = dims->array_len;
        for (int i = 0; i < wish.ndim; i++)
            wish.dims[i] = dims->value_array_int[i] < 0 ? -1 : dims->value_array_int[i];
    }
    return wish;
}

// What kind of value an input is that is no tensor, as its operator says; 0: it does not.
static ln_object_kind find_kind(const ln_op *op)
{
    static const struct {
        const char *prefix;
        ln_object_kind kind;
    } kinds[] = {
        {"seq(", LN_OBJECT_SEQUENCE}, {"optional(", LN_OBJECT_OPTIONAL}, {"map(", LN_OBJECT_MAP}};
    const ln_param_entry *type = op ? ln_param_list_find(op->op_arg->params, "type") : NULL;
    for (size_t i = 0; type && type->value_string && i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strncmp(type->value_string, kinds[i].prefix, strlen(kinds[i].prefix)) == 0)
            return kinds[i].kind;
    }
    return (ln_object_kind)0;
}

input_wish model_input_wish(const ln_context *ctx, size_t index)
{
    const ln_tensor_entry *entry = ln_context_input(ctx, index);
    const ln_op *op = ln_context_input_is_open(ctx, index)
                          ? ln_op_table_find(ctx->op_table, entry->creater)
                          : NULL;
    input_wish wish = op ? wish_of_params(entry->name, op->op_arg->params)
                         : input_wish_like(entry->name, entry->tensor);
    if (wish.dtype == TL_OBJECT)
        wish.kind = find_kind(op);
    return wish;
}

const ln_tensor_entry *model_find_input(const ln_context *ctx, const char *name, size_t *out_index)
{
    const ln_tensor_entry *entry;
    *out_index = 0;
    for (size_t i = 0; (entry = ln_context_input(ctx, i)); i++) {
        if (strcmp(entry->name, name) != 0)
            continue;
        *out_index = i;
        return entry;
    }
    return NULL;
}

// ---- -s ----

static ln_status set_range(ln_context *ctx, const char *text, const char *equals, int is_upper_only)
{
    int from, to;
    LN_TRY(shape_check(text));
    shape_parse_range(equals + 1, &from, &to);
    char *name = ln_strdup(text);
    if (!name)
        return LN_NO_MEMORY;
    name[equals - text] = '\0';
    ln_status status = is_upper_only && from <= to ? ln_context_set_symbol(ctx, name, to)
                                                   : ln_context_set_range(ctx, name, from, to);
    ln_free(name);
    return status;
}

// "1x3x224x224" without a name.
static ln_status set_only_shape(ln_context *ctx, const char *text, int ndim, const int *dims)
{
    size_t count = ln_context_input_count(ctx);
    if (count == 1)
        return ln_context_set_shape(ctx, ln_context_input_name(ctx, 0), ndim, dims);
    if (count == 0)
        return LN_FAIL(LN_INVALID, "-s %s: the model has no inputs", text);
    return LN_FAIL(LN_INVALID, "the model has %zu inputs, so say which: -s %s=%s", count,
                   ln_context_input_name(ctx, 0), text);
}

static ln_status set_shape(ln_context *ctx, const char *text, int is_upper_only)
{
    const char *equals = strrchr(text, '=');
    int ndim, dims[TL_MAXDIM];
    if (equals && strstr(equals, ".."))
        return set_range(ctx, text, equals, is_upper_only);
    if (!equals && *text && shape_parse(text, &ndim, dims))
        return set_only_shape(ctx, text, ndim, dims);
    LN_TRY(shape_check(text));
    shape_parse(equals + 1, &ndim, dims);
    char *name = ln_strdup(text);
    if (!name)
        return LN_NO_MEMORY;
    name[equals - text] = '\0';
    size_t index;
    ln_status status;
    if (model_find_input(ctx, name, &index))
        status = ln_context_set_shape(ctx, name, ndim, dims);
    else if (ndim == 1)
        status = ln_context_set_symbol(ctx, name, dims[0]);
    else
        status = LN_FAIL(LN_NOT_FOUND, "-s %s: the model has no input '%s'", text, name);
    if (status == LN_NOT_FOUND && strchr(name, ','))
        status = shape_fail(text); // several, of which one is none
    ln_free(name);
    return status;
}

// ---- Of a model that is compiled already ----

// What a -s says of one input; of those without dimensions it says nothing.
typedef struct given_shape {
    int ndim, dims[TL_MAXDIM];
    int is_given;
} given_shape;

// Dimension `symbol` of all inputs.
static ln_status give_symbol(const ln_context *ctx, const char *symbol, int dim, given_shape *given)
{
    int is_known = 0;
    for (size_t i = 0; i < ln_context_input_count(ctx); i++) {
        for (int d = 0; d < given[i].ndim; d++) {
            const char *of = ln_context_tensor_symbol(ctx, ln_context_input_name(ctx, i), d);
            if (!of || strcmp(of, symbol) != 0)
                continue;
            given[i].dims[d] = dim;
            given[i].is_given = is_known = 1;
        }
    }
    return is_known ? LN_OK
                    : LN_FAIL(LN_NOT_FOUND,
                              "-s %s=%d: the model has no input and no symbolic dimension '%s'",
                              symbol, dim, symbol);
}

static ln_status give_shape(const ln_context *ctx, const char *text, given_shape *given)
{
    const char *equals = strrchr(text, '=');
    given_shape said = {.is_given = 1};
    if (equals && strstr(equals, ".."))
        return LN_FAIL(LN_STATE,
                       "-s %s: a range is stated when a model is compiled, and this one is", text);
    if (!shape_parse(equals ? equals + 1 : text, &said.ndim, said.dims) || !*text)
        return LN_FAIL(LN_INVALID, "-s takes NAME=1x3x224x224 or SYMBOL=4, not '%s'", text);
    size_t index = 0;
    if (!equals) {
        if (ln_context_input_count(ctx) != 1)
            return LN_FAIL(LN_INVALID, "the model has %zu inputs, so say which: -s NAME=%s",
                           ln_context_input_count(ctx), text);
        given[0] = said;
        return LN_OK;
    }
    char *name = ln_strdup(text);
    if (!name)
        return LN_NO_MEMORY;
    name[equals - text] = '\0';
    ln_status status = LN_OK;
    if (model_find_input(ctx, name, &index))
        given[index] = said;
    else if (said.ndim == 1)
        status = give_symbol(ctx, name, said.dims[0], given);
    else
        status = LN_FAIL(LN_NOT_FOUND, "-s %s: the model has no input '%s'", text, name);
    ln_free(name);
    return status;
}

static ln_status check_whole(const ln_context *ctx, size_t index, const given_shape *given)
{
    for (int d = 0; d < given->ndim; d++)
        if (given->dims[d] < 0)
            return LN_FAIL(
                LN_INVALID,
                "a model that is compiled takes whole shapes: -s says nothing of dimension "
                "%d of input '%s'",
                d, ln_context_input_name(ctx, index));
    return LN_OK;
}

// All at once: its plan is for all of them.
static ln_status reshape(ln_context *ctx, const option_texts *texts)
{
    size_t count = ln_context_input_count(ctx), given_count = 0;
    given_shape *given = calloc(count + 1, sizeof *given);
    ln_input_shape *shapes = calloc(count + 1, sizeof *shapes);
    ln_status status = given && shapes ? LN_OK : LN_FAIL(LN_NO_MEMORY, "out of memory for shapes");
    for (size_t i = 0; status == LN_OK && i < count; i++) {
        const char *name = ln_context_input_name(ctx, i);
        int rank = ln_context_tensor_rank(ctx, name);
        given[i].ndim = rank > 0 ? rank : 0;
        for (int d = 0; d < given[i].ndim; d++)
            given[i].dims[d] = (int)ln_context_tensor_dim(ctx, name, d);
    }
    for (int i = 0; status == LN_OK && i < texts->count; i++)
        status = give_shape(ctx, texts->items[i], given);
    for (size_t i = 0; status == LN_OK && i < count; i++) {
        if (!given[i].is_given)
            continue;
        status = check_whole(ctx, i, &given[i]);
        shapes[given_count++] =
            (ln_input_shape){ln_context_input_name(ctx, i), given[i].ndim, given[i].dims};
    }
    if (status == LN_OK)
        status = ln_context_reshape(ctx, given_count, shapes);
    free(given);
    free(shapes);
    return status;
}

static ln_status check_names(const option_texts *texts)
{
    for (int i = 0; i < texts->count; i++)
        for (int j = 0; j < i; j++)
            LN_TRY(shape_check_pair(texts->items[j], texts->items[i]));
    return LN_OK;
}

// The input whose whole shape `text` states, and that shape; NULL if it states none.
static const char *find_stated(const ln_context *ctx, const char *text, int *out_ndim, int *dims)
{
    const size_t len = shape_name_len(text), count = ln_context_input_count(ctx);
    if (!shape_parse(len ? text + len + 1 : text, out_ndim, dims))
        return NULL;
    for (size_t i = 0; i < count; i++) {
        const char *name = ln_context_input_name(ctx, i);
        if (len ? strlen(name) == len && !strncmp(name, text, len) : count == 1)
            return name;
    }
    return NULL;
}

// Whether `text` gives `symbol` sizes without `size`.
static int excludes(const char *text, const char *symbol, int size)
{
    const size_t len = shape_name_len(text);
    int ndim, dims[TL_MAXDIM], from, to;
    if (len == 0 || strlen(symbol) != len || strncmp(text, symbol, len))
        return 0;
    if (shape_parse_range(text + len + 1, &from, &to))
        return size < from || size > to;
    return shape_parse(text + len + 1, &ndim, dims) && ndim == 1 && dims[0] != size;
}

// A shape and a symbol may say two sizes of one dimension.
static ln_status check_symbols(const ln_context *ctx, const option_texts *texts)
{
    for (int i = 0; i < texts->count; i++) {
        int ndim, dims[TL_MAXDIM];
        const char *name = find_stated(ctx, texts->items[i], &ndim, dims);
        for (int d = 0; name && d < ndim; d++) {
            const char *symbol = ln_context_tensor_symbol(ctx, name, d);
            for (int j = 0; symbol && j < texts->count; j++)
                if (i != j && excludes(texts->items[j], symbol, dims[d]))
                    return LN_FAIL(LN_INVALID,
                                   "-s %s and -s %s contradict each other: dimension %d of input "
                                   "'%s', which is %s, is %d in the first",
                                   texts->items[i], texts->items[j], d, name, symbol, dims[d]);
        }
    }
    return LN_OK;
}

// ---- Several in one option ----

// Whether `part`, of `len` bytes, is NAME=SHAPE or NAME=RANGE.
static int is_whole_part(const char *part, size_t len)
{
    char *text = ln_strdup_printf("%.*s", (int)len, part);
    const char *equals = text ? strrchr(text, '=') : NULL;
    int ndim, dims[TL_MAXDIM], from, to;
    int is_whole =
        equals && equals > text && equals[1] &&
        (shape_parse(equals + 1, &ndim, dims) || shape_parse_range(equals + 1, &from, &to));
    ln_free(text);
    return is_whole;
}

// The comma before the next NAME= of "n=1,h=8"; NULL if there is none. Commas in shapes stand
// before digits.
static char *next_comma(char *text)
{
    for (char *comma = strchr(text, ','); comma; comma = strchr(comma + 1, ','))
        if ((comma[1] < '0' || comma[1] > '9') && strchr(comma, '=') &&
            is_whole_part(text, (size_t)(comma - text)))
            return comma;
    return NULL;
}

static int names_input(const ln_context *ctx, const char *text)
{
    size_t index;
    char *name = ln_strdup_printf("%.*s", (int)shape_name_len(text), text);
    int is_input = name && name[0] && model_find_input(ctx, name, &index);
    ln_free(name);
    return is_input;
}

// `texts` with one item for each shape; `copies` receives what is to be given back with ln_free.
static ln_status split_texts(const ln_context *ctx, const option_texts *texts, option_texts *parts,
                             char **copies)
{
    for (int i = 0; i < texts->count; i++) {
        char *text = copies[i] = ln_strdup(texts->items[i]);
        if (!text)
            return LN_NO_MEMORY;
        for (char *comma = text; comma; text = comma + 1) {
            comma = names_input(ctx, text) ? NULL : next_comma(text);
            if (parts->count == MAX_OPTION_TEXTS)
                return LN_FAIL(LN_LIMIT, "-s is given more than %d times", MAX_OPTION_TEXTS);
            parts->items[parts->count++] = text;
            if (!comma)
                break;
            *comma = '\0';
        }
    }
    return LN_OK;
}

static ln_status set_all_shapes(ln_context *ctx, const option_texts *texts, int is_upper_only)
{
    LN_TRY(check_names(texts));
    LN_TRY(check_symbols(ctx, texts));
    if (texts->count > 0 && ln_context_get_state(ctx) >= LN_CONTEXT_PLANNED)
        return reshape(ctx, texts);
    for (int i = 0; i < texts->count; i++)
        LN_TRY(set_shape(ctx, texts->items[i], is_upper_only));
    return LN_OK;
}

static ln_status set_shapes(ln_context *ctx, const option_texts *texts, int is_upper_only)
{
    option_texts parts = {.count = 0};
    char *copies[MAX_OPTION_TEXTS] = {NULL};
    ln_status status = split_texts(ctx, texts, &parts, copies);
    if (status == LN_OK)
        status = set_all_shapes(ctx, &parts, is_upper_only);
    for (int i = 0; i < texts->count; i++)
        ln_free(copies[i]);
    return status;
}

ln_status model_set_shapes(ln_context *ctx, const option_texts *texts)
{
    return set_shapes(ctx, texts, 0);
}

ln_status model_set_upper_shapes(ln_context *ctx, const option_texts *texts)
{
    return set_shapes(ctx, texts, 1);
}

// ---- Values from the command line ----

ln_object *given_inputs_find(const given_inputs *given, const char *name)
{
    for (size_t i = 0; i < given->count; i++) {
        if (strcmp(given->items[i].name, name) == 0)
            return given->items[i].value;
    }
    return NULL;
}

ln_status given_inputs_add(given_inputs *given, const char *name, ln_object *value)
{
    if (given_inputs_find(given, name))
        return LN_FAIL(LN_INVALID, "input '%s' is given twice", name);
    given_input *items = realloc(given->items, (given->count + 1) * sizeof *items);
    if (!items)
        return LN_FAIL(LN_NO_MEMORY, "out of memory for inputs");
    given->items = items;
    char *own_name = ln_strdup(name);
    if (!own_name)
        return LN_NO_MEMORY;
    items[given->count++] = (given_input){own_name, ln_object_retain(value)};
    return LN_OK;
}

static int has_range(const ln_context *ctx, const char *name, int axis)
{
    const char *symbol = ln_context_tensor_symbol(ctx, name, axis);
    return symbol && ln_context_symbol_range(ctx, symbol, NULL, NULL);
}

void input_wish_open(const ln_context *ctx, const char *path, input_wish *wish)
{
    for (int d = 0; d < wish->ndim && strncmp(path, "fill:", strlen("fill:")) != 0; d++)
        if (has_range(ctx, wish->name, d) || ln_context_tensor_dim(ctx, wish->name, d) < 0)
            wish->dims[d] = -1;
}

static ln_status read_one(const ln_context *ctx, size_t index, const char *path,
                          const input_options *options, given_inputs *given)
{
    input_wish wish = model_input_wish(ctx, index);
    input_wish_open(ctx, path, &wish);
    ln_object *value;
    LN_TRY(input_read(path, &wish, options, &value));
    if (!input_wish_is_static(&wish) &&
        ((!options->width && input_is_picture(path)) || input_is_sound(path)))
        given->sized_by = path;
    given->has_pixels |= input_is_pixels(path, &wish);
    given->has_sound |= input_is_samples(path, &wish);
    ln_status status = given_inputs_add(given, wish.name, value);
    ln_object_release(value);
    return status;
}

// An archive given without a name: each input of which it has an array.
static ln_status read_archive(const ln_context *ctx, const char *path, const input_options *options,
                              given_inputs *given)
{
    size_t found = 0;
    const ln_tensor_entry *entry;
    for (size_t i = 0; (entry = ln_context_input(ctx, i)); i++) {
        if (!npz_has(path, entry->name))
            continue;
        found++;
        LN_TRY(read_one(ctx, i, path, options, given));
    }
    return found ? LN_OK
                 : LN_FAIL(LN_NOT_FOUND,
                           "%s holds no array with the name of an input, such as '%s'; `lightnet "
                           "inspect` lists them",
                           path, ln_context_input_name(ctx, 0));
}

// The output that an input of another name takes: the only tensor.
static const output_file *only_tensor(const output_folder *folder)
{
    return folder->count == 1 && folder->files[0].path ? &folder->files[0] : NULL;
}

static ln_status read_outputs(const ln_context *ctx, const char *text, const output_folder *folder,
                              const input_options *options, given_inputs *given)
{
    size_t found = 0;
    const ln_tensor_entry *entry;
    for (size_t i = 0; (entry = ln_context_input(ctx, i)); i++) {
        const output_file *file = output_folder_find(folder, entry->name);
        if (!file && ln_context_input_count(ctx) == 1)
            file = only_tensor(folder);
        if (!file || !file->path)
            continue;
        found++;
        LN_TRY(read_one(ctx, i, file->path, options, given));
    }
    return found ? LN_OK
                 : LN_FAIL(LN_NOT_FOUND,
                           "none of the %zu outputs in %s has the name of an input; name its file: "
                           "-i NAME=%s/FILE.npy",
                           folder->count, text, text);
}

// "NAME=FOLDER": the output of that name, or the only one.
static ln_status read_output(const ln_context *ctx, const char *text, const output_folder *folder,
                             const input_options *options, given_inputs *given)
{
    const ln_tensor_entry *entry;
    const char *path;
    size_t index;
    LN_TRY(tensor_input_find(ctx, text, &entry, &path));
    const output_file *file = output_folder_find(folder, entry->name);
    if (!file)
        file = only_tensor(folder);
    if (!file || !file->path)
        return LN_FAIL(LN_NOT_FOUND,
                       "none of the %zu outputs in %s is a tensor of the name '%s'; name its file: "
                       "-i %s=%s/FILE.npy",
                       folder->count, path, entry->name, entry->name, path);
    model_find_input(ctx, entry->name, &index);
    return read_one(ctx, index, file->path, options, given);
}

// A folder that `run -o` wrote, if `text` is one; *out_is_folder says so.
static ln_status read_output_folder(const ln_context *ctx, const char *text,
                                    const input_options *options, given_inputs *given,
                                    int *out_is_folder)
{
    const char *path = given_path(text, output_folder_is);
    int is_whole = path == text;
    *out_is_folder = path != NULL;
    if (!*out_is_folder)
        return LN_OK;
    output_folder folder;
    const char *sized_by = given->sized_by; // the paths of the folder do not live on
    ln_status status = output_folder_read(path, &folder);
    if (status == LN_OK)
        status = is_whole ? read_outputs(ctx, text, &folder, options, given)
                          : read_output(ctx, text, &folder, options, given);
    output_folder_free(&folder);
    given->sized_by = sized_by;
    return status;
}

static int is_named(const char *text, const char *name)
{
    size_t len = strlen(name);
    return strncmp(text, name, len) == 0 && text[len] == '=';
}

ln_status given_inputs_override(ln_context *ctx, const char *const *texts, size_t count)
{
    for (size_t i = 0; i < count && ln_context_get_state(ctx) == LN_CONTEXT_READY; i++) {
        const ln_model_info *info = ln_context_info(ctx);
        for (size_t k = 0; k < info->default_count; k++)
            if (is_named(texts[i], info->defaults[k]) &&
                !tensor_input_named(ctx, texts[i], strlen(info->defaults[k])) &&
                ln_tensor_table_find(ctx->tensor_table, info->defaults[k]))
                LN_TRY(ln_context_make_input(ctx, info->defaults[k]));
    }
    return LN_OK;
}

ln_status given_inputs_override_values(ln_context *ctx, const given_inputs *given)
{
    const ln_model_info *info = ln_context_info(ctx);
    for (size_t k = 0; k < info->default_count; k++) {
        size_t index;
        if (given_inputs_find(given, info->defaults[k]) &&
            !model_find_input(ctx, info->defaults[k], &index))
            LN_TRY(ln_context_make_input(ctx, info->defaults[k]));
    }
    return LN_OK;
}

// Options that say how to read what is not there.
static ln_status check_media_options(const given_inputs *given)
{
    static const option_id of_pictures[] = {PICTURE_OPTION_IDS};
    const char *name = given_first(of_pictures, sizeof of_pictures / sizeof of_pictures[0]);
    if (name && !given->has_pixels)
        return LN_FAIL(LN_INVALID,
                       "--%s has no effect: it is for pictures, and no input is given as one%s",
                       name, given->count ? "; an array is taken as it is" : "");
    if (given_value(OPT_RATE) && !given->has_sound)
        return LN_FAIL(LN_INVALID,
                       "--rate has no effect: it is for sound, and no input is given as WAV");
    return LN_OK;
}

static ln_status read_texts(const ln_context *ctx, const char *const *texts, size_t count,
                            const input_options *options, given_inputs *out)
{
    for (size_t i = 0; i < count; i++) {
        if (!strchr(texts[i], '=') && ln_context_input_count(ctx) > 1 && npz_is_file(texts[i])) {
            LN_TRY(read_archive(ctx, texts[i], options, out));
            continue;
        }
        int is_folder;
        LN_TRY(read_output_folder(ctx, texts[i], options, out, &is_folder));
        if (is_folder)
            continue;
        const ln_tensor_entry *entry;
        const char *path;
        size_t index;
        LN_TRY(tensor_input_find(ctx, texts[i], &entry, &path));
        model_find_input(ctx, entry->name, &index);
        LN_TRY(read_one(ctx, index, path, options, out));
    }
    return LN_OK;
}

ln_status given_inputs_read(const ln_context *ctx, const char *const *texts, size_t count,
                            const input_options *options, given_inputs *out)
{
    *out = (given_inputs){0};
    LN_TRY(read_texts(ctx, texts, count, options, out));
    return check_media_options(out);
}

void given_inputs_free(given_inputs *given)
{
    for (size_t i = 0; i < given->count; i++) {
        ln_free(given->items[i].name);
        ln_object_release(given->items[i].value);
    }
    free(given->items);
    *given = (given_inputs){0};
}

// No size, or one by default that data may replace.
static int has_open_dimension(const ln_context *ctx, size_t index)
{
    const char *name = ln_context_input_name(ctx, index);
    int is_open = ln_context_input_is_open(ctx, index), rank = ln_context_tensor_rank(ctx, name);
    for (int d = 0; d < rank; d++)
        is_open |= ln_context_tensor_dim(ctx, name, d) < 0;
    return is_open;
}

ln_status given_inputs_bind_shapes(ln_context *ctx, const given_inputs *given)
{
    for (size_t i = 0; i < given->count; i++) {
        size_t index;
        const tl_tensor *tensor = ln_object_tensor(given->items[i].value);
        if (!tensor || !model_find_input(ctx, given->items[i].name, &index) ||
            !has_open_dimension(ctx, index))
            continue;
        LN_TRY(ln_context_set_shape(ctx, given->items[i].name, tensor->ndim, tensor->dims));
    }
    return LN_OK;
}

// The size that a given value has where its input has dimension `symbol`; -1: none says.
static int size_of_symbol(const ln_context *ctx, const given_inputs *given, const char *symbol)
{
    for (size_t i = 0; symbol && i < given->count; i++) {
        const tl_tensor *tensor = ln_object_tensor(given->items[i].value);
        for (int d = 0; tensor && d < tensor->ndim; d++) {
            const char *name = ln_context_tensor_symbol(ctx, given->items[i].name, d);
            if (name && strcmp(name, symbol) == 0)
                return tensor->dims[d];
        }
    }
    return -1;
}

// The size that another input is bound to where it has dimension `symbol`; -1: none is.
static int bound_size_of_symbol(const ln_context *ctx, const char *symbol)
{
    const char *name;
    for (size_t i = 0; symbol && (name = ln_context_input_name(ctx, i)); i++) {
        int rank = ln_context_tensor_rank(ctx, name);
        for (int d = 0; d < rank; d++) {
            const char *other = ln_context_tensor_symbol(ctx, name, d);
            int64_t size = ln_context_tensor_dim(ctx, name, d);
            if (size >= 0 && other && strcmp(other, symbol) == 0)
                return (int)size;
        }
    }
    return -1;
}

// 1 if the values that are given, or shapes of other inputs, tell all dimensions of the input.
static int find_zeros_shape(const ln_context *ctx, const given_inputs *given, const char *name,
                            int dims[TL_MAXDIM])
{
    int rank = ln_context_tensor_rank(ctx, name);
    for (int d = 0; d < rank; d++) {
        dims[d] = (int)ln_context_tensor_dim(ctx, name, d);
        if (dims[d] < 0)
            dims[d] = size_of_symbol(ctx, given, ln_context_tensor_symbol(ctx, name, d));
        if (dims[d] < 0)
            dims[d] = bound_size_of_symbol(ctx, ln_context_tensor_symbol(ctx, name, d));
        if (dims[d] < 0)
            return 0;
    }
    return rank >= 0;
}

ln_status given_inputs_bind_zeros(ln_context *ctx, const given_inputs *given)
{
    const char *name;
    for (size_t i = 0; (name = ln_context_input_name(ctx, i)); i++) {
        int dims[TL_MAXDIM];
        if (ln_context_input_is_open(ctx, i) && !given_inputs_find(given, name) &&
            find_zeros_shape(ctx, given, name, dims))
            LN_TRY(ln_context_set_shape(ctx, name, ln_context_tensor_rank(ctx, name), dims));
    }
    return LN_OK;
}

// ---- What is missing ----

// "-s batch=1", or with a size for each dimension: what would give dynamic input `name` a shape.
static void print_shape_option(const ln_context *ctx, const char *name, char *text, size_t size)
{
    int rank = ln_context_tensor_rank(ctx, name);
    size_t used = (size_t)snprintf(text, size, "-s %s=", name);
    for (int d = 0; d < rank && used < size; d++) {
        int64_t dim = ln_context_tensor_dim(ctx, name, d);
        const char *symbol = ln_context_tensor_symbol(ctx, name, d);
        if (dim < 0 && symbol) {
            snprintf(text, size, "-s %s=1", symbol);
            return;
        }
        used += (size_t)snprintf(text + used, size - used, d ? "x%lld" : "%lld",
                                 dim < 0 ? 1LL : (long long)dim);
    }
    if (rank < 0)
        snprintf(text, size, "-s %s=1x3x224x224", name);
}

int model_states_input(const ln_context *ctx, const ln_tensor_entry *entry)
{
    static const char *const params[] = {"from_file", "ran", "data"};
    const ln_op *op = ln_op_table_find(ctx->op_table, entry->creater);
    for (size_t i = 0; op && i < sizeof params / sizeof params[0]; i++) {
        if (ln_param_list_find(op->op_arg->params, params[i]))
            return 1;
    }
    return 0;
}

static size_t add_input(const input_wish *wish, char *text, size_t size)
{
    char shape[LN_SHAPE_TEXT_BYTES] = "no tensor";
    if (wish->dtype == TL_OBJECT)
        return (size_t)snprintf(text, size, "'%s' (%s)", wish->name, shape);
    return (size_t)snprintf(text, size, "'%s' (%s %s)", wish->name, tl_dtype_title(wish->dtype),
                            input_wish_shape_text(wish, shape, sizeof shape));
}

ln_status given_inputs_check(const ln_context *ctx, const given_inputs *given, int takes_zeros)
{
    char list[1024] = "";
    char option[LN_MAX_NAME_LEN + 128] = "";
    const char *without_zeros = NULL; // an input that has none, whatever its shape
    const char *of_strings = NULL;    // the same
    size_t used = 0, count = 0;
    const ln_tensor_entry *entry;
    for (size_t i = 0; (entry = ln_context_input(ctx, i)); i++) {
        if (entry->isstatic || model_states_input(ctx, entry) ||
            given_inputs_find(given, entry->name) ||
            (takes_zeros && !ln_context_input_is_open(ctx, i)))
            continue;
        input_wish wish = model_input_wish(ctx, i);
        if (wish.dtype == TL_OBJECT && !without_zeros)
            without_zeros = entry->name;
        if (wish.dtype == TL_STRING && !of_strings)
            of_strings = entry->name;
        if (!*option)
            print_shape_option(ctx, entry->name, option, sizeof option);
        if (count++ > 0 && used < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, ", ");
        if (used < sizeof list)
            used += add_input(&wish, list + used, sizeof list - used);
    }
    if (count == 0)
        return LN_OK;
    if (takes_zeros && without_zeros)
        return LN_FAIL(
            LN_NOT_FOUND,
            "input%s %s %s not given; '%s' is not a tensor, so that it has no zeros: give "
            "it with -i %s=FILE.pb, or as .npz",
            count > 1 ? "s" : "", list, count > 1 ? "are" : "is", without_zeros, without_zeros);
    if (takes_zeros && of_strings)
        return LN_FAIL(LN_NOT_FOUND,
                       "input%s %s %s not given; there are no zeros of strings: give '%s' as a "
                       "text file, a string a line, or as .npy: -i %s=FILE",
                       count > 1 ? "s" : "", list, count > 1 ? "are" : "is", of_strings,
                       of_strings);
    return LN_FAIL(LN_NOT_FOUND, "input%s %s %s not given; %s%s", count > 1 ? "s" : "", list,
                   count > 1 ? "are" : "is",
                   takes_zeros ? "zeros need a shape: "
                               : "give data with -i NAME=FILE, or zeros with --zero",
                   takes_zeros ? option : "");
}

ln_status model_check_weights(const ln_context *ctx, const char *remedy)
{
    enum { SHOWN = 3 };
    char list[SHOWN * (LN_MAX_NAME_LEN + 8)] = "";
    const char *name;
    size_t used = 0, count = 0;
    for (; (name = ln_context_missing(ctx, count)); count++) {
        if (count < SHOWN)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s'%s'", count ? ", " : "",
                                     name);
    }
    if (count == 0)
        return LN_OK;
    char more[32] = "";
    if (count > SHOWN)
        snprintf(more, sizeof more, " and %zu more", count - SHOWN);
    return LN_FAIL(LN_NOT_FOUND, "the weights %s%s come from a data file, and none is given; %s",
                   list, more, remedy);
}

// The shape of an input as the values have it, those of symbols also where others have them. 0 if
// nothing in it has a range, or a size by default.
static int find_shape_in_ranges(const ln_context *ctx, const given_inputs *given, size_t index,
                                int rank, int dims[TL_MAXDIM])
{
    const ln_tensor_entry *now = ln_context_input(ctx, index);
    const char *name = now->name;
    const ln_object *value = given_inputs_find(given, name);
    const tl_tensor *tensor = value ? ln_object_tensor((ln_object *)(uintptr_t)value) : NULL;
    int differs = 0;
    for (int d = 0; d < rank; d++) {
        dims[d] = (int)ln_context_tensor_dim(ctx, name, d);
        bool is_default = dims[d] < 0 && !now->is_open;
        if (is_default)
            dims[d] = now->tensor->dims[d];
        if (!is_default && !has_range(ctx, name, d))
            continue;
        int size = tensor && tensor->ndim == rank
                       ? tensor->dims[d]
                       : size_of_symbol(ctx, given, ln_context_tensor_symbol(ctx, name, d));
        differs |= size >= 0 && size != dims[d];
        dims[d] = size < 0 ? dims[d] : size;
    }
    return differs;
}

// Gives a model that is planned for ranges, or sizes by default, the shapes that the values have.
static ln_status reshape_in_ranges(ln_context *ctx, const given_inputs *given)
{
    size_t count = ln_context_input_count(ctx), found = 0;
    ln_input_shape *shapes = calloc(count + 1, sizeof *shapes);
    int(*dims)[TL_MAXDIM] = calloc(count + 1, sizeof *dims);
    ln_status status = shapes && dims ? LN_OK : LN_FAIL(LN_NO_MEMORY, "out of memory for shapes");
    for (size_t i = 0; i < count && status == LN_OK; i++) {
        const char *name = ln_context_input_name(ctx, i);
        int rank = ln_context_tensor_rank(ctx, name);
        if (find_shape_in_ranges(ctx, given, i, rank, dims[found])) {
            shapes[found] = (ln_input_shape){name, rank, dims[found]};
            found++;
        }
    }
    if (status == LN_OK && found > 0)
        status = ln_context_reshape(ctx, found, shapes);
    free(dims);
    free(shapes);
    return status;
}

ln_status given_inputs_set(ln_context *ctx, const given_inputs *given)
{
    LN_TRY(reshape_in_ranges(ctx, given));
    for (size_t i = 0; i < given->count; i++) {
        const given_input *input = &given->items[i];
        if (ln_tensor_table_find(ctx->tensor_table, input->name))
            LN_TRY(ln_context_set_object(ctx, input->name, input->value));
    }
    return LN_OK;
}

// ---- Values of a model ----

ln_status model_get_output(ln_context *ctx, const ln_tensor_entry *entry, ln_object **out_object)
{
    return ln_context_get_object(ctx, entry->name, out_object);
}
