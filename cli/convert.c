// SPDX-License-Identifier: Apache-2.0
// `lightnet convert`: a model or weights in one format, out in another.

#include <stdlib.h>
#include <string.h>

#include <lightnet/spelling.h>

#include "cli.h"
#include "convert_weights.h"
#include "file_bytes.h"
#include "plugin_option.h"

typedef struct convert_options {
    const char *model;
    const char *outfile;
    const char *datafile;
    const char *weights;
    int is_external;
} convert_options;

static const verb_option takes[] = {
    NOTE(OUTFILE, convert_options, outfile, "(required)"),
    NOTE(DATAFILE, convert_options, datafile, "; of a model that brings none along, for ONNX"),
    TAKES(WEIGHTS, convert_options, weights),
    TAKES(EXTERNAL, convert_options, is_external),
    {OPT_SIGNATURE, 0, take_signature, NULL, 0},
    {OPT_ROUNDING, 0, take_rounding, NULL, 0},
    {OPT_RESIZABLE, 0, take_resizable, NULL, 0},
    {OPT_STRICT, 0, take_strict, NULL, 0},
    TAKES_PLUGIN,
    TAKES_HELP,
    END_OF_OPTIONS,
};

const verb_usage convert_usage = {
    .name = "convert",
    .synopsis = "MODEL [-f WEIGHTS] [--external] -o FILE\n"
                "MODEL [--weights=WEIGHTS] -o FILE\n"
                "WEIGHTS -o FILE\n"
                "EXPANDER.json -o FILE.rules",
    .about =
        "Writes MODEL in the format that FILE's name says: .onnx for ONNX, .json for JSON IR, "
        ".net for IL; a name that says none gives JSON IR, and \"-\" writes that to standard "
        "output. ONNX holds the weights, those of WEIGHTS or those that the model brings "
        "along. In the other formats they go to a file beside FILE, which -f then takes.\n\n"
        "Writes WEIGHTS, which are safetensors, .wts or a params dictionary, told apart by "
        "content, as FILE's name says: .safetensors, .wts or .params. Floats of 16 bits become "
        "32 bits. .wts holds float and int8 only, and lengths in place of shapes.\n\n"
        "Writes the optimizer description EXPANDER.json of the first LightNet as rules, which "
        "--rules takes.",
    .options = takes,
};

static int ends_in(const char *name, const char *end)
{
    size_t len = strlen(name), end_len = strlen(end);
    return len > end_len && strcmp(name + len - end_len, end) == 0;
}

// A name without an ending is fine, one with an ending of no format is a mistake.
static int check_ending(const char *outfile)
{
    const char *slash = strrchr(outfile, '/'), *name = slash ? slash + 1 : outfile;
    const char *ending = strrchr(name, '.');
    if (!ending || strcmp(outfile, "-") == 0 || ln_serializer_for_path(outfile))
        return EXIT_OK;
    char endings[256] = "";
    size_t used = 0;
    ln_nearest nearest = ln_nearest_to(ending);
    const ln_serializer *s;
    for (size_t i = 0; (s = ln_serializer_find_at(i)) && used < sizeof endings; i++) {
        if ((!s->write && !s->write_file) || !s->extensions)
            continue;
        ln_nearest_try(&nearest, s->extensions[0]);
        used += (size_t)snprintf(endings + used, sizeof endings - used, "%s%s", used ? ", " : "",
                                 s->extensions[0]);
    }
    return say_usage_error(
        "convert",
        "%s: no format has the ending '%s'%s%s%s; models are written as %s, weights as "
        ".safetensors, .wts, .params",
        outfile, ending, nearest.name ? "; did you mean " : "", nearest.name ? nearest.name : "",
        nearest.name ? "?" : "", endings);
}

// An optimizer description of the first LightNet as rules.
static int convert_expander(const convert_options *o)
{
    char *text, *rules;
    size_t len;
    ln_status status = file_read(o->model, &text, &len);
    if (status != LN_OK)
        return say_failure();
    status = ln_expander_to_rules(text, len, o->model, &rules);
    free(text);
    if (status != LN_OK)
        return say_failure();
    int code = write_text(o->outfile, rules);
    ln_free(rules);
    return code;
}

static int check(const convert_options *o)
{
    ln_tensor_file_format format;
    if (!ends_in(o->outfile, ".rules") && ln_tensor_file_format_of(o->outfile, &format) != LN_OK &&
        check_ending(o->outfile) != EXIT_OK)
        return EXIT_USAGE;
    int is_onnx = ends_in(o->outfile, ".onnx");
    if (o->is_external && !is_onnx)
        return say_usage_error("convert", "--external is for models in ONNX");
    if (o->datafile && !is_onnx)
        return say_usage_error("convert", "-f is for models in ONNX; others take it when they run");
    if (o->weights && is_onnx)
        return say_usage_error("convert", "a model in ONNX holds its weights; --external puts them "
                                          "beside it");
    return EXIT_OK;
}

// Rules and weights are written without a model that would have either.
static int check_of_models(const char *kind)
{
    static const option_id of_models[] = {OPT_WEIGHTS, OPT_SIGNATURE, OPT_ROUNDING, OPT_RESIZABLE,
                                          OPT_STRICT,  OPT_BUDGET,    OPT_WORK};
    char why[64];
    snprintf(why, sizeof why, "where %s are written", kind);
    return options_check_unused(&convert_usage, of_models, sizeof of_models / sizeof of_models[0],
                                why);
}

static int parse(int argc, char **argv, convert_options *o)
{
    int code = options_parse_one(&convert_usage, "model", argc, argv, o, &o->model);
    if (code != EXIT_OK)
        return code;
    if (!o->outfile)
        return say_usage_error("convert", "say where to write with -o FILE");
    return check(o);
}

// ---- Models ----

// Where weights go that nobody has said: beside the model. The caller frees it.
static char *weights_beside(const char *outfile)
{
    static const char *const ends[] = {".net", ".json"};
    size_t len = strlen(outfile);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        if (ends_in(outfile, ends[i]))
            len -= strlen(ends[i]);
    }
    return ln_strdup_printf("%.*s.safetensors", (int)len, outfile);
}

static ln_status save_weights(const ln_context *ctx, const convert_options *o)
{
    if (!o->weights && strcmp(o->outfile, "-") == 0)
        return LN_OK;
    char *path = o->weights ? ln_strdup(o->weights) : weights_beside(o->outfile);
    if (!path)
        return LN_NO_MEMORY;
    size_t count;
    ln_status status = ln_context_save_weights(ctx, path, &count);
    if (status == LN_OK && count > 0)
        say_info("%zu tensor%s in %s, which -f takes", count, count == 1 ? "" : "s", path);
    ln_free(path);
    return status;
}

static ln_status convert(ln_context *ctx, const convert_options *o)
{
    if (o->datafile)
        LN_TRY(ln_context_carry_file(ctx, o->datafile));
    if (!ends_in(o->outfile, ".onnx"))
        LN_TRY(save_weights(ctx, o));
    return ln_context_print_with(ctx, o->outfile, o->is_external ? LN_WRITE_WEIGHTS_BESIDE : 0);
}

int cmd_convert(int argc, char **argv)
{
    convert_options o = {0};
    int code = parse(argc, argv, &o);
    if (code != EXIT_OK)
        return code == -1 ? EXIT_OK : code;
    if (ends_in(o.outfile, ".rules"))
        return check_of_models("rules") == EXIT_OK ? convert_expander(&o) : EXIT_USAGE;
    ln_tensor_file_format format;
    if (ln_tensor_file_format_of(o.outfile, &format) == LN_OK)
        return check_of_models("weights") == EXIT_OK ? convert_weights(o.model, o.outfile, format)
                                                     : EXIT_USAGE;
    if (is_weights(o.model)) {
        say_error("%s holds weights, which go to a file whose name ends in .safetensors, .wts or "
                  ".params",
                  o.model);
        return EXIT_FAILED;
    }
    ln_context *ctx = open_model(o.model);
    if (!ctx)
        return EXIT_FAILED;
    code = convert(ctx, &o) == LN_OK ? EXIT_OK : say_failure();
    close_model(ctx);
    return code;
}
