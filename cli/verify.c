// SPDX-License-Identifier: Apache-2.0
// One model, its data sets, and what each output should be.

#include "verify.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <lightnet/lightnet.h>

#include "cli.h"
#include "compare_json.h"
#include "compiled_forms.h"
#include "file_bytes.h"
#include "model_io.h"
#include "on_bytes.h"
#include "output_folder.h"
#include "pb.h"
#include "through.h"
#include "write_option.h"

#define MAX_PATH 4096

// The case that runs, and the first thing that is wrong with it.
typedef struct verifier {
    const verify_case *c;
    const verify_options *o;
    char model[MAX_PATH];
    char folder[MAX_PATH];
    char *reason;
    size_t reason_size;
    int wrong_count;
    int unstored_count;        // data sets without outputs
    compiled_forms *forms;     // of the context that runs; NULL: none are asked for
    const given_inputs *given; // of the set that runs
    ln_context *as_read;       // the model as it was read, has run on them; NULL: not yet
} verifier;

// ---- Files ----

static int is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static int is_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

static int ends_with(const char *text, const char *ending)
{
    size_t len = strlen(text), ending_len = strlen(ending);
    return len > ending_len && strcmp(text + len - ending_len, ending) == 0;
}

// The only model in a folder, where it is not called model.onnx.
static ln_status find_only_model(const char *folder, char *model)
{
    DIR *dir = opendir(folder);
    int count = 0;
    const struct dirent *entry;
    while (dir && (entry = readdir(dir))) {
        if (entry->d_name[0] == '.' || !ends_with(entry->d_name, ".onnx"))
            continue;
        count++;
        snprintf(model, MAX_PATH, "%s/%s", folder, entry->d_name);
    }
    if (dir)
        closedir(dir);
    if (count == 1)
        return LN_OK;
    return LN_FAIL(LN_NOT_FOUND, "%s holds %d files of type .onnx; name the model", folder, count);
}

static ln_status find_model(verifier *v)
{
    const char *path = v->c->path;
    if (strlen(path) + 64 >= MAX_PATH)
        return LN_FAIL(LN_IO, "the path %s is too long", path);
    if (is_folder(path)) {
        snprintf(v->folder, sizeof v->folder, "%s", path);
        snprintf(v->model, sizeof v->model, "%s/model.onnx", path);
        return is_file(v->model) ? LN_OK : find_only_model(path, v->model);
    }
    if (!is_file(path))
        return LN_FAIL(LN_NOT_FOUND, "there is no file or folder %s", path);
    snprintf(v->model, sizeof v->model, "%s", path);
    const char *slash = strrchr(path, '/');
    snprintf(v->folder, sizeof v->folder, "%.*s", slash > path ? (int)(slash - path) : 1,
             slash ? path : ".");
    return LN_OK;
}

// Output `number` of a data set that `run -o FOLDER/test_data_set_K` wrote.
static int find_written(const verifier *v, int set, size_t number, char *path)
{
    char folder_path[MAX_PATH];
    output_folder folder;
    int len = snprintf(folder_path, sizeof folder_path, "%s/test_data_set_%d", v->folder, set);
    if (len >= MAX_PATH || !output_folder_is(folder_path))
        return 0;
    int is_found = output_folder_read(folder_path, &folder) == LN_OK && number < folder.count &&
                   folder.files[number].path &&
                   snprintf(path, MAX_PATH, "%s", folder.files[number].path) < MAX_PATH &&
                   is_file(path);
    output_folder_free(&folder);
    return is_found;
}

// "FOLDER/test_data_set_K/input_N.pb", or with .npy; 0 if there is no such file.
static int find_data(const verifier *v, int set, const char *what, size_t number, char *path)
{
    static const char *const endings[] = {"pb", "npy", "npz"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        int len = snprintf(path, MAX_PATH, "%s/test_data_set_%d/%s_%zu.%s", v->folder, set, what,
                           number, endings[i]);
        if (len < MAX_PATH && is_file(path))
            return 1;
    }
    return strcmp(what, "output") == 0 && find_written(v, set, number, path);
}

// ---- Expected values ----

// As what came out says: only then is it known which kind of value a .pb holds.
static ln_status read_expected(const char *path, ln_object *got, ln_object **out_object)
{
    input_wish wish = {.name = "", .ndim = -1, .elem_dtype = TL_DTYPE_INVALID};
    wish.kind = ln_object_get_kind(got);
    wish.dtype = wish.kind == LN_OBJECT_TENSOR ? ln_object_elem_dtype(got) : TL_OBJECT;
    if (!ends_with(path, ".pb"))
        return input_read(path, &wish, NULL, out_object);
    char *bytes;
    size_t count;
    LN_TRY(file_read(path, &bytes, &count));
    ln_object *stored;
    ln_status status = pb_parse(path, bytes, count, wish.kind, &stored);
    free(bytes);
    LN_TRY(status);
    // Values of bfloat16 have been stored as what NumPy had for them: their bits.
    if (input_are_patterns(ln_object_elem_dtype(stored), wish.dtype)) {
        status = input_fit(path, &wish, stored, out_object);
        ln_object_release(stored);
        return status;
    }
    *out_object = stored;
    return LN_OK;
}

// ---- Words ----

static void note(verifier *v, const char *text)
{
    if (v->wrong_count++ == 0)
        snprintf(v->reason, v->reason_size, "%s", text);
}

static void print_shape_of(ln_object *value, char *buffer, size_t size)
{
    const tl_tensor *tensor = ln_object_tensor(value);
    if (!tensor) {
        snprintf(buffer, size, "%zu items", ln_object_count(value));
        return;
    }
    char shape[128];
    ln_sprint_shape(shape, sizeof shape, tensor->ndim, tensor->dims);
    snprintf(buffer, size, "%s %s", tl_dtype_title(tensor->dtype), shape);
}

// What is wrong, or how near it is.
static void describe(ln_object *got, ln_object *expected, const deviation *d, const char *place,
                     int is_wrong, char *text, size_t size)
{
    char words[512], got_shape[192], expected_shape[192];
    print_shape_of(got, got_shape, sizeof got_shape);
    print_shape_of(expected, expected_shape, sizeof expected_shape);
    const tl_tensor *like = ln_object_tensor(expected);
    describe_deviation(d, place[0] ? NULL : like, words, sizeof words);
    if (!is_wrong)
        snprintf(text, size, "%s, largest deviation %.3g, relative %.3g%s%s", got_shape,
                 d->largest_difference, d->largest_relative, d->excess > 0 ? "; " : "",
                 d->excess > 0 ? words : "");
    else if (strcmp(got_shape, expected_shape) != 0)
        snprintf(text, size, "%s instead of %s", got_shape, expected_shape);
    else if (d->fault)
        snprintf(text, size, "%s%s%s (element %d)", place, place[0] ? ": " : "", d->fault,
                 d->index);
    else
        snprintf(text, size, "%s%s%s; %d of %d are wrong", place, place[0] ? ": " : "", words,
                 d->wrong_count, like ? like->len : d->wrong_count);
}

// ---- Running ----

static int is_quantized(const ln_context *ctx, const ln_tensor_entry *entry)
{
    const ln_op *op = entry->creater ? ln_op_table_find(ctx->op_table, entry->creater) : NULL;
    return op && is_quantizing(op->op_arg->optype);
}

// Where the model is compiled as it was read, nothing else could say more.
static int is_as_read(const verifier *v)
{
    return v->o->options && v->o->options->stays_as_read;
}

static ln_status run_as_read(const verifier *v, ln_context *ctx)
{
    ln_optimize_options options = ln_optimize_options_default();
    options.stays_as_read = 1;
    LN_TRY(read_model(ctx, v->model));
    LN_TRY(given_inputs_override_values(ctx, v->given));
    LN_TRY(given_inputs_bind_shapes(ctx, v->given));
    LN_TRY(compile_model(ctx, "ref", &options));
    silence_model(ctx);
    LN_TRY(load_model(ctx, NULL));
    LN_TRY(given_inputs_set(ctx, v->given));
    return ln_context_run(ctx);
}

// *out_value is retained.
static ln_status get_as_read(verifier *v, size_t index, ln_object **out_value)
{
    if (!v->as_read) {
        v->as_read = ln_context_create();
        ln_status status = v->as_read ? run_as_read(v, v->as_read) : LN_NO_MEMORY;
        if (status != LN_OK) {
            close_model(v->as_read);
            v->as_read = NULL;
            return ln_fail_prefix("the model as it was read");
        }
    }
    const ln_tensor_entry *entry = ln_context_output(v->as_read, index);
    if (!entry)
        return LN_FAIL(LN_INTERNAL, "the model as it was read has no output %zu", index);
    return model_get_output(v->as_read, entry, out_value);
}

// Whether the model as it was read gives what is stored: 1, 0, or -1 if it does not run, with
// `text` why or what it gives.
static int is_right_as_read(verifier *v, size_t index, ln_object *expected,
                            const tolerance *allowed, char *text, size_t size)
{
    ln_object *value;
    deviation d;
    char place[64];
    if (get_as_read(v, index, &value) != LN_OK) {
        snprintf(text, size, "%s", ln_error_message());
        return -1;
    }
    int is_wrong = compare_values(value, expected, allowed, &d, place, sizeof place);
    describe(value, expected, &d, place, is_wrong, text, size);
    ln_object_release(value);
    return !is_wrong;
}

// Whether it is the compiler that makes an output wrong, or the operators, or the stored value.
static void say_as_read(const verifier *v, int is_right, const char *text)
{
    const char *optype;
    if (is_right < 0)
        printf("      cannot say more: %s\n", printable(text));
    else if (!is_right)
        printf("      the model as it was read gives something else than what is stored as well: "
               "%s;\n      no rewrite is at fault: what is stored is, or what an operator means\n",
               text);
    else
        printf("      the model as it was read gives what is stored: a rewrite or a kernel for %s "
               "%s\n",
               v->o->target,
               count_rounding(v->as_read, &optype) > 0 ? "makes the difference" : "is wrong");
}

static int is_default(const ln_context *ctx, const char *name)
{
    const ln_model_info *info = ln_context_info(ctx);
    for (size_t i = 0; i < info->default_count; i++)
        if (strcmp(info->defaults[i], name) == 0)
            return 1;
    return 0;
}

// What stored input `number` is for: the model's inputs, then those with a value in the file. NULL
// past the end. *out_default is 1 for the latter.
static const char *stored_input(const ln_context *ctx, size_t number, int *out_default)
{
    const ln_model_info *info = ln_context_info(ctx);
    const char *name;
    size_t count = 0;
    *out_default = 0;
    for (size_t i = 0; (name = ln_context_input_name(ctx, i)); i++)
        if (!is_default(ctx, name) && count++ == number)
            return name;
    *out_default = 1;
    return number - count < info->default_count ? info->defaults[number - count] : NULL;
}

// A command that goes on with the same data.
static void say_command(const verifier *v, const ln_context *ctx, int set, const char *what,
                        const verb_usage *verb)
{
    static const option_id own[] = {OPT_TARGET, OPT_TIMEOUT};
    char path[MAX_PATH];
    const char *name;
    int has_value;
    printf("      %s %s", what, v->o->target);
    options_print_given(stdout, verb, own, sizeof own / sizeof own[0]);
    for (size_t i = 0; (name = stored_input(ctx, i, &has_value)); i++) {
        if (!find_data(v, set, "input", i, path))
            continue;
        char *text = ln_strdup_printf("%s=%s", name, path);
        fputs(" -i ", stdout);
        print_word(stdout, text ? text : path);
        ln_free(text);
    }
    putchar(' ');
    print_word(stdout, v->model);
    putchar('\n');
}

// What finds the rule or kernel. In a model that rounds in the run, outputs may be far off where
// nothing is wrong, and operators are compared by the steps that they read.
static void say_next(const verifier *v, const ln_context *ctx, int set)
{
    const char *optype;
    const size_t count = v->as_read ? count_rounding(v->as_read, &optype) : 0;
    if (count == 0) {
        say_command(v, ctx, set, "what makes it so: lightnet blame -t", &blame_usage);
        return;
    }
    printf(
        "      %zu operator%s in the run (%.*s): last digits of floats decide between two steps, "
        "and steps change all that follows, without a fault\n",
        count, count == 1 ? " rounds" : "s round", (int)(strlen(optype) - strlen("_ref")), optype);
    say_command(v, ctx, set, "whether each operator is right by what it reads: lightnet compare -b",
                &compare_usage);
}

// An output that has been compared.
typedef struct checked_output {
    int set;
    size_t index;
    const char *name;
    const char *path; // NULL: with what the model as it was read gives
    const char *place;
    const deviation *d;
    int is_wrong;
    int is_right_as_read; // as above, of one that is wrong
} checked_output;

static void put_checked(json_out *j, const checked_output *o, ln_object *got, ln_object *expected)
{
    const tl_tensor *tensor = ln_object_tensor(got), *like = ln_object_tensor(expected);
    json_open(j, NULL, '{');
    json_int(j, "set", o->set);
    json_size(j, "index", o->index);
    json_text(j, "name", o->name);
    json_text(j, "against", o->path ? "stored" : "as read");
    json_text(j, "dtype", tensor ? tl_dtype_title(tensor->dtype) : NULL);
    if (tensor)
        json_shape(j, "shape", tensor->ndim, tensor->dims);
    else
        json_null(j, "shape");
    json_text(j, "item", *o->place ? o->place : NULL);
    put_deviation(j, o->d, *o->place ? NULL : like, o->is_wrong);
    if (o->is_wrong && o->is_right_as_read >= 0)
        json_bool(j, "right_as_read", o->is_right_as_read);
    else
        json_null(j, "right_as_read");
    json_close(j, '}');
}

static void print_checked(const checked_output *o, const char *text)
{
    printf("%s set %d output %zu ", o->is_wrong ? "WRONG" : "pass ", o->set, o->index);
    put_printable(o->name, stdout);
    printf("%s: %s\n", o->path ? "" : ", against the model as it was read", text);
}

// Why an output is wrong, and what to do next.
static void explain(verifier *v, const ln_context *ctx, checked_output *o, ln_object *expected,
                    const tolerance *allowed)
{
    char text[1024];
    if (o->path)
        o->is_right_as_read = is_right_as_read(v, o->index, expected, allowed, text, sizeof text);
    if (v->o->is_quiet)
        return;
    if (o->path)
        say_as_read(v, o->is_right_as_read, text);
    const char *optype;
    if (!o->path || o->is_right_as_read == 1 ||
        (v->as_read && count_rounding(v->as_read, &optype) > 0))
        say_next(v, ctx, o->set);
}

// What an output should be: what `path` has, or for NULL what the model as it was read gives.
static ln_status compare_output(verifier *v, int set, size_t index, const char *path,
                                const ln_context *ctx, const ln_tensor_entry *entry, ln_object *got)
{
    const char *name = entry->name;
    ln_object *expected;
    LN_TRY(path ? read_expected(path, got, &expected) : get_as_read(v, index, &expected));
    deviation d;
    char place[64], text[1024];
    tolerance allowed = v->c->allowed;
    allowed.allows_steps = is_quantized(ctx, entry);
    if (v->c->is_shape_only)
        allowed.atol = INFINITY;
    int is_wrong = compare_values(got, expected, &allowed, &d, place, sizeof place);
    if (v->c->is_shape_only && !d.fault)
        is_wrong = 0;
    describe(got, expected, &d, place, is_wrong, text, sizeof text);
    checked_output o = {set, index, name, path, place, &d, is_wrong, -1};
    if (!v->o->is_quiet)
        print_checked(&o, text);
    if ((!v->o->is_quiet || v->o->json) && is_wrong && !is_as_read(v))
        explain(v, ctx, &o, expected, &allowed);
    if (v->o->json)
        put_checked(v->o->json, &o, got, expected);
    ln_object_release(expected);
    if (is_wrong) {
        char line[LN_MAX_NAME_LEN + sizeof text + 64];
        snprintf(line, sizeof line, "set %d: output %zu '%s': %s", set, index, name, text);
        note(v, line);
    }
    return LN_OK;
}

static int has_outputs(const verifier *v, int set, size_t count)
{
    char path[MAX_PATH];
    for (size_t i = 0; i < count; i++)
        if (find_data(v, set, "output", i, path))
            return 1;
    return 0;
}

// Without stored outputs the other side is the model as it was read.
static ln_status compare_outputs(verifier *v, ln_context *ctx, int set)
{
    const ln_tensor_entry *entry;
    char path[MAX_PATH];
    size_t count = ln_context_output_count(ctx);
    int has_stored = has_outputs(v, set, count);
    if (!has_stored && is_as_read(v))
        return LN_FAIL(LN_NOT_FOUND, "%s/test_data_set_%d holds no output_0.pb", v->folder, set);
    v->unstored_count += !has_stored;
    for (size_t i = 0; (entry = ln_context_output(ctx, i)); i++) {
        if (has_stored && !find_data(v, set, "output", i, path))
            continue;
        ln_object *got;
        LN_TRY(model_get_output(ctx, entry, &got));
        ln_status status = compare_output(v, set, i, has_stored ? path : NULL, ctx, entry, got);
        ln_object_release(got);
        LN_TRY(status);
    }
    if (find_data(v, set, "output", count, path))
        return LN_FAIL(LN_INVALID, "%s is there, and the model has %zu outputs", path, count);
    return LN_OK;
}

// Those with a value in the file are inputs of a model that is not compiled yet.
static ln_status read_input(const verifier *v, ln_context *ctx, int set, size_t number,
                            const char *name, int has_value, given_inputs *given)
{
    char path[MAX_PATH];
    size_t index;
    if (!find_data(v, set, "input", number, path))
        return LN_OK;
    if (has_value && ln_context_get_state(ctx) == LN_CONTEXT_READY)
        LN_TRY(ln_context_make_input(ctx, name));
    if (!model_find_input(ctx, name, &index))
        return LN_FAIL(LN_INVALID, "%s is for '%s', which is a constant of the compiled model",
                       path, name);
    input_wish wish = model_input_wish(ctx, index);
    input_wish_open(ctx, path, &wish);
    ln_object *value;
    LN_TRY(input_read(path, &wish, NULL, &value));
    ln_status status = given_inputs_add(given, wish.name, value);
    ln_object_release(value);
    return status;
}

static ln_status read_inputs(const verifier *v, ln_context *ctx, int set, given_inputs *given)
{
    char path[MAX_PATH];
    const char *name;
    int has_value;
    size_t count = 0;
    for (; (name = stored_input(ctx, count, &has_value)); count++)
        LN_TRY(read_input(v, ctx, set, count, name, has_value, given));
    if (find_data(v, set, "input", count, path))
        return LN_FAIL(LN_INVALID, "%s is there, and the model has %zu inputs", path, count);
    return LN_OK;
}

// A context whose shapes stay open serves all data sets, another one set.
static ln_status run_set(verifier *v, ln_context **ctx, int set, given_inputs *given)
{
    if (!*ctx) {
        *ctx = ln_context_create();
        if (!*ctx)
            return LN_NO_MEMORY;
        LN_TRY(read_model(*ctx, v->model));
        if (v->o->through)
            LN_TRY(model_through(ctx, v->o->through));
    }
    LN_TRY(read_inputs(v, *ctx, set, given));
    if (ln_context_get_state(*ctx) < LN_CONTEXT_LOADED) {
        if (!v->o->keeps_open)
            LN_TRY(given_inputs_bind_shapes(*ctx, given));
        LN_TRY(compile_model(*ctx, v->o->target, v->o->options));
        if (v->o->checks_compiled)
            LN_TRY(compiled_forms_create(*ctx, &v->forms));
        silence_model(*ctx);
        LN_TRY(model_check_weights(*ctx, "compile it with them first: lightnet -c -f FILE"));
        LN_TRY(load_model(*ctx, NULL));
    }
    LN_TRY(given_inputs_set(*ctx, given));
    LN_TRY(ln_context_run(*ctx));
    v->given = given;
    if (v->forms)
        LN_TRY(compiled_forms_check(v->forms, *ctx, given, v->c->is_shape_only));
    return compare_outputs(v, *ctx, set);
}

static ln_status run_sets(verifier *v, ln_context **ctx)
{
    char path[MAX_PATH];
    int set = 0;
    for (;; set++) {
        snprintf(path, sizeof path, "%.4000s/test_data_set_%d", v->folder, set);
        if (!is_folder(path))
            break;
        given_inputs given = {0};
        ln_status status = run_set(v, ctx, set, &given);
        given_inputs_free(&given);
        close_model(v->as_read);
        v->as_read = NULL;
        if (status != LN_OK)
            return ln_fail_prefix("set %d", set);
        if (!v->o->keeps_open) {
            close_model(*ctx);
            compiled_forms_destroy(v->forms);
            *ctx = NULL;
            v->forms = NULL;
        }
    }
    return set ? LN_OK
               : LN_FAIL(
                     LN_NOT_FOUND,
                     "there is no folder test_data_set_0 in %s; it holds what the model is given, "
                     "input_0.pb, and should give, output_0.pb (or .npy)",
                     v->folder);
}

verify_result verify_run(const verify_case *c, const verify_options *o, char *reason, size_t size)
{
    verifier v = {.c = c, .o = o, .reason = reason, .reason_size = size};
    reason[0] = '\0';
    ln_context *ctx = NULL;
    ln_status status = find_model(&v);
    if (o->json)
        json_open(o->json, "outputs", '[');
    if (status == LN_OK)
        status = run_sets(&v, &ctx);
    if (o->json)
        json_close(o->json, ']');
    close_model(ctx);
    compiled_forms_destroy(v.forms);
    if (status != LN_OK) {
        snprintf(reason, size, "%s", ln_error_message());
        return VERIFY_FAILED;
    }
    if (v.wrong_count)
        return VERIFY_WRONG;
    if (v.unstored_count)
        snprintf(reason, size, "%d data set%s without outputs, so as the model as it was read",
                 v.unstored_count, v.unstored_count == 1 ? "" : "s");
    return VERIFY_PASS;
}
