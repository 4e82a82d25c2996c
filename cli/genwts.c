// SPDX-License-Identifier: Apache-2.0
// `lightnet genwts`: weights files out of text files of numbers, or random ones for a model.

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "file_bytes.h"
#include "number_text.h"
#include "plugin_option.h"
#include "progress.h"
#include "random_weights.h"

typedef struct genwts_options {
    const char *model;
    const char *outfile;
    ln_tensor_file_format format;
    uint64_t seed;
    tl_dtype dtype;
    char **files;
    int file_count;
} genwts_options;

static int take_type(void *member, const char *verb, const char *text)
{
    tl_dtype *dtype = member;
    if (strcmp(text, "0") == 0 || strcmp(text, "2") == 0) {
        *dtype = *text == '0' ? TL_FLOAT : TL_INT8;
        return EXIT_OK;
    }
    return say_usage_error(verb, "--type takes 0 (float) or 2 (int8), not '%s'", text);
}

// The command that this one succeeds spelled --type as -t, which is --target elsewhere.
static const verb_option takes[] = {
    {OPT_TYPE, offsetof(genwts_options, dtype), take_type, NULL, 't'},
    TAKES(MODEL, genwts_options, model),
    NOTE(SEED, genwts_options, seed, "(default 0)"),
    NOTE(OUTFILE, genwts_options, outfile, "(required)"),
    TAKES_PLUGIN,
    TAKES_HELP,
    END_OF_OPTIONS,
};

const verb_usage genwts_usage = {
    .name = "genwts",
    .synopsis = "[--type TYPE] -o OUT FILE...\n"
                "--model MODEL [--seed N] -o OUT",
    .about =
        "Makes a file of weights: from text files of numbers, each an array that is named after its "
        "file, or random ones for all tensors that MODEL takes from a data file. The name of OUT "
        "says the format: .wts, .safetensors or .params.\n\n"
        "Numbers are decimal, with sign and exponent, or inf or nan, between white space and any of "
        ", ; ! | [ ] ( ) { } < >; other words are passed over, with a warning. The name of an array "
        "is the identifier that its file's name begins with. A FILE that cannot be used is left "
        "out; the others are written and the exit status is 1.\n\n"
        "Random weights are the same on every machine for the same seed. They keep the activations "
        "of deep networks in range: +-sqrt(6 / fan-in) in front of a relu, less elsewhere, and what "
        "suits a mean, variance, scale or bias.",
    .options = takes,
};

static int parse(int argc, char **argv, genwts_options *o)
{
    int code = options_parse(&genwts_usage, argc, argv, o, &o->file_count, &o->files);
    if (code != EXIT_OK)
        return code;
    if (!o->outfile)
        return say_usage_error("genwts", "say where to write with -o FILE");
    if (!o->model == !o->file_count)
        return say_usage_error("genwts", o->model ? "either a model or files of numbers"
                                                  : "no files of numbers, and no model");
    option_id unused = o->model ? OPT_TYPE : OPT_SEED;
    code = options_check_unused(&genwts_usage, &unused, 1,
                                o->model ? "with --model, which says the types"
                                         : "without --model, which gets random numbers");
    if (code != EXIT_OK)
        return code;
    if (ln_tensor_file_format_of(o->outfile, &o->format) != LN_OK)
        return say_usage_error("genwts", "%s", ln_error_message());
    return EXIT_OK;
}

// ---- Random weights ----

static int write_random(const genwts_options *o)
{
    ln_context *ctx = open_model(o->model);
    if (!ctx)
        return EXIT_FAILED;
    ln_named_tensor *tensors;
    size_t count;
    progress_begin("making weights for %s", o->model);
    ln_status status = random_weights_create(ctx, o->seed, &tensors, &count);
    if (status == LN_OK && count == 0)
        status = LN_FAIL(LN_INVALID, "%s takes no tensor from a data file", o->model);
    if (status == LN_OK)
        status = ln_tensor_file_save(o->outfile, o->format, tensors, count);
    random_weights_free(tensors, count);
    progress_end();
    close_model(ctx);
    return status == LN_OK ? EXIT_OK : say_failure();
}

// ---- Numbers in text files ----

// The identifier that the name of the file begins with; NULL if it begins with none.
static char *array_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *end = name;
    while (*end == '_' || isalpha((unsigned char)*end) ||
           (end > name && isdigit((unsigned char)*end)))
        end++;
    if (end == name) {
        ln_fail(LN_INVALID, "its name does not begin with an identifier, so the array has no name");
        return NULL;
    }
    return ln_strdup_printf("%.*s", (int)(end - name), name);
}

static void say_notes(const char *path, tl_dtype dtype, const number_notes *notes)
{
    const word_note *w = &notes->no_numbers;
    if (w->count > 0)
        say_warning("%s: passed over %zu word%s that %s no number: '%s' on line %d%s", path,
                    w->count, w->count == 1 ? "" : "s", w->count == 1 ? "is" : "are", w->word,
                    w->line, w->count == 1 ? "" : " is the first");
    w = &notes->unfit;
    if (w->count > 0)
        say_warning("%s: %zu number%s changed to what %s holds: '%s' on line %d%s", path, w->count,
                    w->count == 1 ? " is" : "s are", tl_dtype_title(dtype), w->word, w->line,
                    w->count == 1 ? "" : " is the first");
}

static ln_status read_array(const char *path, tl_dtype dtype, char **out_name,
                            tl_tensor **out_tensor)
{
    *out_tensor = NULL;
    *out_name = array_name(path);
    if (!*out_name)
        return ln_error_status();
    char *text;
    size_t len;
    number_notes notes = {0};
    LN_TRY(file_read(path, &text, &len));
    const char *zero = memchr(text, 0, len);
    ln_status status = zero ? LN_FAIL(LN_INVALID, "it is no text of numbers: its byte %zu is 0",
                                      (size_t)(zero - text))
                            : numbers_parse(text, len, dtype, out_tensor, &notes);
    free(text);
    // An empty file is an empty array.
    if (status == LN_OK && (*out_tensor)->len == 0 && notes.no_numbers.count > 0) {
        tl_tensor_free_data_too(*out_tensor);
        *out_tensor = NULL;
        status = LN_FAIL(LN_INVALID, "there is no number in it");
    }
    if (status == LN_OK)
        say_notes(path, dtype, &notes);
    return status;
}

// Fills in `tensors`, in the order of the files; those that cannot be used are left out.
static size_t read_arrays(const genwts_options *o, ln_named_tensor *tensors)
{
    size_t count = 0;
    for (int i = 0; i < o->file_count; i++) {
        char *name;
        tl_tensor *tensor;
        if (read_array(o->files[i], o->dtype, &name, &tensor) == LN_OK) {
            tensors[count++] = (ln_named_tensor){name, tensor};
            continue;
        }
        say_error("%s is left out: %s", o->files[i], ln_error_message());
        ln_free(name);
    }
    return count;
}

static int write_numbers(const genwts_options *o)
{
    ln_named_tensor *tensors = ln_alloc_array((size_t)o->file_count, sizeof *tensors);
    if (!tensors)
        return say_failure();
    size_t count = read_arrays(o, tensors);
    int code = count == (size_t)o->file_count ? EXIT_OK : EXIT_FAILED;
    if (count > 0 && ln_tensor_file_save(o->outfile, o->format, tensors, count) != LN_OK)
        code = say_failure();
    for (size_t i = 0; i < count; i++) {
        ln_free((char *)(uintptr_t)tensors[i].name);
        tl_tensor_free_data_too((tl_tensor *)(uintptr_t)tensors[i].tensor);
    }
    ln_free(tensors);
    return code;
}

int cmd_genwts(int argc, char **argv)
{
    genwts_options o = {.dtype = TL_FLOAT};
    int code = parse(argc, argv, &o);
    if (code != EXIT_OK)
        return code == -1 ? EXIT_OK : code;
    return o.model ? write_random(&o) : write_numbers(&o);
}
