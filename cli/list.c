// SPDX-License-Identifier: Apache-2.0
// `lightnet ops` and `lightnet archs`: what this library was built with.

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include <lightnet/spelling.h>

#include "cli.h"
#include "op_prose.h"
#include "plugin_option.h"

static const verb_option only_help[] = {TAKES_PLUGIN, TAKES_HELP, END_OF_OPTIONS};

// ---- ops ----

// `docs` has a text for each argument, or is NULL; operators of users have theirs in `args`.
static void print_args(const char *title, const ln_arg_info *args, const char *const *docs)
{
    for (const ln_arg_info *arg = args; arg && arg->arg_name; arg++) {
        const char *doc = docs ? docs[arg - args] : arg->doc;
        printf("  %-6s %s%s%s%s", title, arg->arg_name,
               arg->flags & LN_ARG_VARIADIC ? "1, 2, ..." : "",
               arg->flags & LN_ARG_OPTIONAL ? " (optional)" : "",
               arg->flags & LN_ARG_STATIC ? " (static)" : "");
        printf("%s%s\n", doc ? ": " : "", doc ? doc : "");
    }
}

static void print_params(const ln_param_info *params, const char *const *docs)
{
    for (const ln_param_info *param = params; param && param->arg_name; param++) {
        const char *doc = docs ? docs[param - params] : param->doc;
        printf("  param  %s (%s", param->arg_name, ln_param_type_title(param->ptype));
        if (param->default_text)
            printf(", default %s", param->default_text);
        printf(")%s%s\n", doc ? ": " : "", doc ? doc : "");
    }
}

// What others call operators; else the longest type that the word begins with: Convolution, Conv.
static const char *other_name(const char *word)
{
    static const struct {
        const char *word, *here;
    } others[] = {
        {"Dense", "linear"},          {"Linear", "linear"},
        {"FullyConnected", "linear"}, {"InnerProduct", "linear"},
        {"Pooling", "pool"},          {"SiLU", "Swish"},
        {"Permute", "Transpose"},     {"View", "Reshape"},
        {"Eltwise", "elew"},          {"ConvolutionDepthWise", "Conv"},
        {"Interp", "Resize"},         {"Interpolate", "Resize"},
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcasecmp(others[i].word, word) == 0)
            return others[i].here;
    const char *longest = NULL;
    const ln_op *op;
    for (size_t i = 0; (op = ln_op_find_at(i)); i++) {
        const char *optype = op->op_arg->optype;
        size_t len = strlen(optype);
        if (len >= 3 && strncasecmp(word, optype, len) == 0 &&
            (!longest || len > strlen(longest) || strncmp(word, optype, len) == 0))
            longest = optype;
    }
    return longest;
}

static int say_unknown_op(const char *optype)
{
    ln_nearest nearest = ln_nearest_to(optype);
    const ln_op *op;
    for (size_t i = 0; (op = ln_op_find_at(i)); i++)
        ln_nearest_try(&nearest, op->op_arg->optype);
    if (!nearest.name)
        nearest.name = other_name(optype);
    say_error("no operator '%s' is registered; %s%s%s`lightnet ops` lists them", optype,
              nearest.name ? "did you mean '" : "", nearest.name ? nearest.name : "",
              nearest.name ? "'? " : "");
    return EXIT_FAILED;
}

static int describe_op(const char *optype)
{
    const ln_op *op = ln_op_find(optype);
    if (!op)
        return say_unknown_op(optype);
    const ln_op_info *info = op->op_arg->info;
    printf("%s, arch %s\n", optype, op->op_arg->arch);
    if (!info)
        return EXIT_OK;
    const op_prose own = {
        .doc = info->doc, .example = info->example, .dtypes = info->dtypes, .nan = info->nan};
    const op_prose *prose = info->doc ? &own : op_prose_find(op);
    if (!prose)
        prose = &own;
    if (prose->doc)
        printf("%s\n", prose->doc);
    print_args("in", info->ins, prose->ins);
    print_args("out", info->outs, prose->outs);
    print_params(info->params, prose->params);
    if (prose->dtypes)
        printf("  element types: %s\n", prose->dtypes);
    if (prose->nan)
        printf("  NaN and infinity: %s\n", prose->nan);
    if (prose->example)
        printf("\n%s\n", prose->example);
    return EXIT_OK;
}

const verb_usage ops_usage = {
    .name = "ops",
    .synopsis = "[OPTYPE]",
    .about = "Lists the registered operators with the arch each runs on; with a name, describes "
             "that operator's tensors and parameters, and what it does with element types and NaN.",
    .options = only_help,
};

int cmd_ops(int argc, char **argv)
{
    int count;
    char **operands;
    int code = options_parse(&ops_usage, argc, argv, NULL, &count, &operands);
    if (code == EXIT_OK && count > 1)
        code = say_usage_error("ops", "one operator at a time; '%s' is too many", operands[1]);
    if (code != EXIT_OK)
        return code == -1 ? EXIT_OK : code;
    if (count == 1)
        return describe_op(operands[0]);
    const ln_op *op;
    for (size_t i = 0; (op = ln_op_find_at(i)); i++) {
        const ln_op_info *info = op->op_arg->info;
        const op_prose *prose = op_prose_find(op);
        const char *doc = info && info->doc ? info->doc : prose ? prose->doc : NULL;
        printf("%-20s %-6s %s\n", op->op_arg->optype, op->op_arg->arch, doc ? doc : "");
    }
    return EXIT_OK;
}

// ---- archs ----

static size_t count_ops(const char *arch_name)
{
    size_t count = 0;
    const ln_op *op;
    for (size_t i = 0; (op = ln_op_find_at(i)); i++)
        count += strcmp(op->op_arg->arch, arch_name) == 0;
    return count;
}

static void print_plugins(void)
{
    const ln_plugin *plugin;
    for (size_t i = 0; (plugin = ln_plugin_find_at(i)); i++)
        printf("%splug-in '%s' from %s%s%s\n", i == 0 ? "\n" : "", plugin->name,
               ln_plugin_path(plugin->name), plugin->doc ? ": " : "",
               plugin->doc ? plugin->doc : "");
}

typedef struct archs_options {
    int has_ops;
} archs_options;

static const verb_option archs_list[] = {TAKES_PLUGIN, TAKES(OPS, archs_options, has_ops),
                                         TAKES_HELP, END_OF_OPTIONS};

const verb_usage archs_usage = {
    .name = "archs",
    .synopsis = "",
    .about = "Lists the archs, where their tensors live, how many operators each runs, which "
             "plug-in it came with, and the devices of those that have some, with the options of "
             "--device.",
    .options = archs_list,
};

static void print_option(const ln_device_option *option)
{
    static const char *const kinds[] = {"whole number", "number", "true or false"};
    printf("       %s=%s: %s (", option->name, option->first, option->doc ? option->doc : "");
    if (option->kind == LN_DEVICE_WORD)
        for (int i = 0; option->words[i]; i++)
            printf("%s%s", i > 0 ? ", " : "", option->words[i]);
    else
        printf("%s", kinds[option->kind]);
    printf(")\n");
}

// Those that can be opened, and what with.
static void print_devices(const ln_arch *arch)
{
    if (!arch->open || strchr(arch->arch_name, ':'))
        return;
    ln_device_info info = {.byte_count = sizeof info};
    for (int i = 0;
         i < 1000 && arch->find_device && arch->find_device(arch->priv, i, &info) == LN_OK; i++) {
        char name[LN_MAX_NAME_LEN];
        snprintf(name, sizeof name, i == 0 ? "%s" : "%s:%d", arch->arch_name, i);
        printf("       %s: %.64s", name, info.title);
        if (info.memory_byte_count > 0)
            printf(", %zu bytes", info.memory_byte_count);
        putchar('\n');
        info = (ln_device_info){.byte_count = sizeof info};
    }
    for (const ln_device_option *o = arch->options; o && o->name; o++)
        print_option(o);
}

static int has_variant(const char *optype, const char *arch_name)
{
    char variant[2 * LN_MAX_NAME_LEN];
    snprintf(variant, sizeof variant, "%s_%s", optype, arch_name);
    return ln_op_find(variant) != NULL;
}

// A row for each type of the core that some arch has, a column for each arch.
// Operators that are derived of core_ops are in main memory, if the arch names no other.
static ln_mem_type memory_of(const ln_arch *arch)
{
    bool is_main = arch->mem_type == LN_MEM_NONE && arch->core_ops && arch->core_ops[0];
    return is_main ? LN_MEM_CPU : arch->mem_type;
}

static void print_matrix(void)
{
    const ln_arch *arch;
    const ln_op *op;
    printf("%-16s", "");
    for (size_t i = 0; (arch = ln_arch_find_at(i)); i++)
        if (strcmp(arch->arch_name, "none") != 0)
            printf(" %s", arch->arch_name);
    putchar('\n');
    for (size_t k = 0; (op = ln_op_find_at(k)); k++) {
        int is_any = 0;
        if (strcmp(op->op_arg->arch, "none") != 0)
            continue;
        for (size_t i = 0; (arch = ln_arch_find_at(i)); i++)
            is_any |= has_variant(op->op_arg->optype, arch->arch_name);
        if (!is_any)
            continue;
        printf("%-16s", op->op_arg->optype);
        for (size_t i = 0; (arch = ln_arch_find_at(i)); i++)
            if (strcmp(arch->arch_name, "none") != 0)
                printf(" %-*s", (int)strlen(arch->arch_name),
                       has_variant(op->op_arg->optype, arch->arch_name) ? "+" : "-");
        putchar('\n');
    }
}

int cmd_archs(int argc, char **argv)
{
    int count;
    char **operands;
    archs_options options = {0};
    int code = options_parse(&archs_usage, argc, argv, &options, &count, &operands);
    if (code == EXIT_OK && count > 0)
        code = say_usage_error("archs", "it takes no words, and '%s' is one", operands[0]);
    if (code != EXIT_OK)
        return code == -1 ? EXIT_OK : code;
    if (options.has_ops) {
        print_matrix();
        return EXIT_OK;
    }
    const ln_arch *arch;
    for (size_t i = 0; (arch = ln_arch_find_at(i)); i++) {
        printf("%-6s %3zu operators, %s%s%s: %s", arch->arch_name, count_ops(arch->arch_name),
               ln_mem_type_title(memory_of(arch)), arch->fallbacks ? ", falls back to " : "",
               arch->fallbacks ? arch->fallbacks : "", arch->doc ? arch->doc : "");
        const ln_plugin *plugin = ln_plugin_of_arch(arch->arch_name);
        if (plugin)
            printf(" (plug-in '%s', %s)", plugin->name, ln_plugin_path(plugin->name));
        putchar('\n');
        print_devices(arch);
    }
    print_plugins();
    return EXIT_OK;
}

// ---- formats ----

// Those of values, which have no registry; docs/formats.md has the bytes.
static const struct {
    const char *name, *use, *what;
} value_formats[] = {
    {"safetensors", "weights (-f), inputs (-i); written by convert, genwts, -c", ".safetensors"},
    {"wts", "weights; written by convert, genwts", ".wts, float and int8 as text"},
    {"params", "weights, inputs; written by convert, genwts", ".params, NDArray dictionaries"},
    {"npy, npz", "inputs; .npy is written by run -o", "arrays of NumPy"},
    {"pb", "inputs, stored outputs of verify", "values of ONNX"},
    {"pictures", "inputs", "JPEG, PNG, BMP, PNM; WebP and TIFF where their libraries are built in"},
    {"wav", "inputs", "sound"},
    {"raw", "inputs", "bytes of the right size; for strings a line each"},
};

static void print_model_formats(void)
{
    puts("Models:");
    const ln_serializer *s;
    for (size_t i = 0; (s = ln_serializer_find_at(i)); i++) {
        int is_read = s->load_file || s->load_mem, is_written = s->write || s->write_file;
        printf("  %-12s %-6s%-8s %-6s %s\n", s->name, is_read ? "read" : "",
               is_written ? "written" : "",
               s->extensions && s->extensions[0] ? s->extensions[0] : "", s->doc ? s->doc : "");
    }
}

const verb_usage formats_usage = {
    .name = "formats",
    .synopsis = "",
    .about = "Lists the formats of models that are read and written, and those of weights, inputs "
             "and outputs. Files of other systems, such as PyTorch, Keras or ncnn, are "
             "recognized, and the message says how to convert them.",
    .options = only_help,
};

int cmd_formats(int argc, char **argv)
{
    int count;
    char **operands;
    int code = options_parse(&formats_usage, argc, argv, NULL, &count, &operands);
    if (code == EXIT_OK && count > 0)
        code = say_usage_error("formats", "it takes no words, and '%s' is one", operands[0]);
    if (code != EXIT_OK)
        return code == -1 ? EXIT_OK : code;
    print_model_formats();
    puts("Weights and values, told apart by content:");
    for (size_t i = 0; i < sizeof value_formats / sizeof value_formats[0]; i++)
        printf("  %-12s %s: %s\n", value_formats[i].name, value_formats[i].use,
               value_formats[i].what);
    return EXIT_OK;
}
