// SPDX-License-Identifier: Apache-2.0
// The table of options, the parser that all verbs share, and help texts.

#include "options.h"

#include <ctype.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lightnet/spelling.h>

#include "cli.h"
#include "given_options.h"
#include "option_checks.h"
#include "option_values.h"

const option_row option_rows[OPT_COUNT] = {
#define OPTION_ROW(id, name, letter, value, kind, max, help)                                       \
    [OPT_##id] = {name, letter, value, kind, max, help},
    OPTION_LIST(OPTION_ROW)
#undef OPTION_ROW
};

// ---- Values ----

static int take_text(const char *verb, const option_row *row, const char *text, option_texts *texts)
{
    if (texts->count == MAX_OPTION_TEXTS)
        return say_usage_error(verb, "more than %d times --%s", MAX_OPTION_TEXTS, row->name);
    texts->items[texts->count++] = text;
    return EXIT_OK;
}

// An exit code, or -1 for help that is printed.
static int take_value(const verb_usage *verb, const verb_option *option, char *dest,
                      const char *value)
{
    const option_row *row = &option_rows[option->id];
    void *member = dest + option->offset;
    char form[64];
    snprintf(form, sizeof form, "--%s", row->name);
    if (value && !*value)
        return say_usage_error(verb->name, "option %s=%s has an empty value", form, row->value);
    if (option->take)
        return option->take(member, verb->name, value);
    switch (row->kind) {
    case OPTION_FLAG: *(int *)member = 1; return EXIT_OK;
    case OPTION_CLEAR: *(int *)member = 0; return EXIT_OK;
    case OPTION_TEXT: *(const char **)member = value; return EXIT_OK;
    case OPTION_MAYBE:
        // -j4, as make and others take it
        if (value && *value && strspn(value, "0123456789") == strlen(value))
            return say_usage_error(verb->name,
                                   "%s takes a file, not '%s'; --threads=%s is how many threads "
                                   "run the model",
                                   form, value, value);
        *(const char **)member = value ? value : "-";
        return EXIT_OK;
    case OPTION_TEXTS: return take_text(verb->name, row, value, member);
    case OPTION_COUNT: return take_count(verb->name, form, value, row->max, member);
    case OPTION_NUMBER: return take_number(verb->name, form, value, member);
    case OPTION_SEED: return take_seed(verb->name, form, value, member);
    case OPTION_CALL: break; // has a function, which options_test sees to
    case OPTION_HELP: options_print_help(verb, stdout); return -1;
    }
    return EXIT_OK;
}

// ---- What is wrong with an option ----

static size_t prefix_len(const char *name, const char *text, size_t len)
{
    return strlen(name) >= len && strncmp(name, text, len) == 0 ? len : 0;
}

static int has_option(const verb_usage *verb, option_id id)
{
    const verb_option *o = verb->options;
    while (o->id != OPT_COUNT && o->id != id)
        o++;
    return o->id == id;
}

// "run, bench or compare": the verbs that take an option. 0 if there is none.
static int list_takers(option_id id, char *buffer, size_t size)
{
    size_t used = 0;
    int count = 0, all = 0;
    buffer[0] = '\0';
    for (const command *c = commands; c->name; c++)
        all += has_option(c->usage, id);
    for (const command *c = commands; c->name; c++) {
        if (!has_option(c->usage, id) || used >= size)
            continue;
        used += (size_t)snprintf(buffer + used, size - used, "%s%s",
                                 !count            ? ""
                                 : count + 1 < all ? ", "
                                                   : " or ",
                                 c->name);
        count++;
    }
    return count;
}

// "--a, --b or --c": the verb's options that begin with the `len` bytes of a text.
static int list_completions(const verb_usage *verb, const char *text, size_t len, char *buffer,
                            size_t size)
{
    size_t used = 0;
    int count = 0, all = 0;
    buffer[0] = '\0';
    for (const verb_option *o = verb->options; o->id != OPT_COUNT; o++)
        all += prefix_len(option_rows[o->id].name, text, len) > 0;
    for (const verb_option *o = verb->options; o->id != OPT_COUNT; o++) {
        const char *name = option_rows[o->id].name;
        if (!prefix_len(name, text, len) || used >= size)
            continue;
        used += (size_t)snprintf(buffer + used, size - used, "%s--%s",
                                 !count            ? ""
                                 : count + 1 < all ? ", "
                                                   : " or ",
                                 name);
        count++;
    }
    return count;
}

static option_id find_row(const char *name, size_t len)
{
    int i = 0;
    while (i < OPT_COUNT &&
           (strlen(option_rows[i].name) != len || strncmp(option_rows[i].name, name, len) != 0))
        i++;
    return (option_id)i;
}

static const char *nearest_option(const verb_usage *verb, const char *name)
{
    ln_nearest nearest = ln_nearest_to(name);
    for (const verb_option *o = verb->options; o->id != OPT_COUNT; o++)
        ln_nearest_try(&nearest, option_rows[o->id].name);
    return nearest.name;
}

// What users of ONNX Runtime, trtexec, ncnn, OpenVINO and torchvision type, and what does it here.
static const char *foreign_option(const char *name)
{
    static const struct {
        const char *word, *hint;
    } words[] = {
        // clang-format off
        // Where it runs.
        {"provider", "the execution provider is the target: -t cpu"},
        {"providers", "the execution provider is the target: -t cpu"},
        {"ep", "the execution provider is the target: -t cpu"},
        {"execution_provider", "the execution provider is the target: -t cpu"},
        {"backend", "the backend is the target: -t cpu"},
        {"gpu", "there is no target for GPUs; `lightnet archs` lists the targets"},
        {"cuda", "there is no target for GPUs; `lightnet archs` lists the targets"},
        {"vulkan", "there is no target for GPUs; `lightnet archs` lists the targets"},
        {"use_gpu", "there is no target for GPUs; `lightnet archs` lists the targets"},
        {"use_cuda", "there is no target for GPUs; `lightnet archs` lists the targets"},
        {"useDLACore", "there is no target for accelerators; `lightnet archs` lists the targets"},
        {"gpu_device", "there is no target for GPUs; `lightnet archs` lists the targets"},
        {"intra_op_num_threads", "--threads=COUNT"},
        {"inter_op_num_threads", "--threads=COUNT: operators run one after the other"},
        {"num_threads", "--threads=COUNT"},
        {"num-threads", "--threads=COUNT"},
        {"nthreads", "--threads=COUNT"},
        {"intra_op", "--threads=COUNT"},
        {"jobs", "--threads=COUNT"},
        {"powersave", "--threads=COUNT; which processors, the system decides: taskset"},
        {"cooling_down", "`lightnet bench` has no pauses between runs"},
        {"parallel", "--threads=COUNT"},
        // Shapes.
        {"batch", "-s SYMBOL=N gives a symbolic dimension its size"},
        {"batch-size", "-s SYMBOL=N gives a symbolic dimension its size"},
        {"batch_size", "-s SYMBOL=N gives a symbolic dimension its size"},
        {"shapes", "-s NAME=1x3x224x224, once for each input"},
        {"dim", "-s SYMBOL=N gives a symbolic dimension its size"},
        {"dims", "-s NAME=1x3x224x224, once for each input"},
        {"input_shape", "-s NAME=1x3x224x224, once for each input"},
        {"input-shape", "-s NAME=1x3x224x224, once for each input"},
        {"inputshape", "-s NAME=1x3x224x224, once for each input"},
        {"input_layer_shape", "-s NAME=1x3x224x224, once for each input"},
        {"data_shape", "-s NAME=1x3x224x224, once for each input"},
        {"optShapes", "-s SYMBOL=1..32 plans for a range"},
        {"minShapes", "-s SYMBOL=1..32 plans for a range"},
        {"maxShapes", "-s SYMBOL=1..32 plans for a range"},
        {"free_dimension_override", "-s SYMBOL=N gives a symbolic dimension its size"},
        {"dim_param", "-s SYMBOL=N gives a symbolic dimension its size"},
        // Data in and out.
        {"image", "give a picture with -i FILE"},
        {"images", "give a folder of pictures with -i FOLDER"},
        {"data", "give data with -i NAME=FILE"},
        {"input_layer", "inputs have the model's names: -i NAME=FILE, -s NAME=1x3x224x224"},
        {"loadInputs", "-i NAME=FILE, once for each input"},
        {"input_data", "-i NAME=FILE, once for each input"},
        {"exportOutput", "-o FOLDER, or -o NAME=FILE.npy"},
        {"output", "-o FOLDER, -o FILE.npy or -o NAME=FILE.npy"},
        {"output_dir", "-o FOLDER"},
        {"save_outputs", "-o FOLDER, -o FILE.npy or -o NAME=FILE.npy"},
        {"dumpOutput", "outputs are shown; --json has all of their elements"},
        {"std", "--preset=imagenet, or --scale with 1 / (255 * std)"},
        {"norm", "--scale=A,B,C, or --preset=NAME"},
        {"normalize", "--preset=imagenet, caffe, unit or signed"},
        {"mean_values", "--mean=A,B,C"},
        {"scale_values", "--scale=A,B,C, of which each is 1 / the scale of others"},
        {"reverse_input_channels", "--bgr"},
        {"rgb", "RGB is the default; --bgr takes blue first"},
        {"pixel", "--bgr takes blue first; RGB is the default"},
        {"classes", "--labels=FILE has the names of classes, --top=COUNT shows so many"},
        {"topk", "--top=COUNT"},
        {"names", "--labels=FILE has the names of classes"},
        // How often, and for how long.
        {"iterations", "`lightnet run --repeat=COUNT`, or `lightnet bench --runs=COUNT`"},
        {"iters", "`lightnet run --repeat=COUNT`, or `lightnet bench --runs=COUNT`"},
        {"niter", "`lightnet run --repeat=COUNT`, or `lightnet bench --runs=COUNT`"},
        {"loop_count", "`lightnet run --repeat=COUNT`, or `lightnet bench --runs=COUNT`"},
        {"loop", "`lightnet run --repeat=COUNT`, or `lightnet bench --runs=COUNT`"},
        {"num_runs", "`lightnet run --repeat=COUNT`, or `lightnet bench --runs=COUNT`"},
        {"loops", "`lightnet run --repeat=COUNT`, or `lightnet bench --runs=COUNT`"},
        {"avgRuns", "`lightnet bench --runs=COUNT` shows the median and the best"},
        {"warmUp", "`lightnet bench --warmup=COUNT`"},
        {"warmup_runs", "`lightnet bench --warmup=COUNT`"},
        {"duration", "`lightnet bench --min-time=SECONDS`"},
        {"streams", "one model at a time runs; -s SYMBOL=N makes a batch, and programs have sessions"},
        {"nstreams", "one model at a time runs; -s SYMBOL=N makes a batch, and programs have sessions"},
        {"nireq", "one model at a time runs; -s SYMBOL=N makes a batch, and programs have sessions"},
        {"concurrency", "one model at a time runs; -s SYMBOL=N makes a batch, and programs have sessions"},
        {"dumpProfile", "`lightnet bench --profile`"},
        {"separateProfileRun", "`lightnet bench --profile`"},
        {"enable_profiling", "`lightnet bench --profile`"},
        {"enable_op_profiling", "`lightnet bench --profile`"},
        {"exportTimes", "`lightnet bench --json=FILE`"},
        {"exportProfile", "`lightnet bench --profile --json=FILE`"},
        {"report_type", "`lightnet bench --profile`"},
        {"pc", "`lightnet bench --profile`"},
        // Models and types.
        {"onnx", "the model stands alone: lightnet run MODEL"},
        {"model", "the model stands alone: lightnet run MODEL"},
        {"graph", "the model stands alone: lightnet run MODEL"},
        {"model_path", "the model stands alone: lightnet run MODEL"},
        {"modelfile", "the model stands alone: lightnet run MODEL"},
        {"param", "models of ncnn are not read: `lightnet formats` lists what is"},
        {"bin", "models of ncnn are not read: `lightnet formats` lists what is"},
        {"uff", "models in UFF are not read: `lightnet formats` lists what is"},
        {"saveEngine", "lightnet -c -o COMPILED.json MODEL"},
        {"loadEngine", "a compiled model stands where a model does"},
        {"buildOnly", "lightnet -c -o COMPILED.json MODEL"},
        {"skipInference", "lightnet -c -o COMPILED.json MODEL"},
        {"fp16", "models of float16 run as they are; float32 models keep their type"},
        {"bf16", "models of bfloat16 run as they are; float32 models keep their type"},
        {"fp32", "--keep-halves computes halves as halves; else they are computed in float32"},
        {"int8", "quantized models run as they are"},
        {"best", "models keep their types; --tune measures which algorithm is fastest"},
        {"calib", "models are not quantized here: a quantized one runs as it is"},
        {"precision", "models keep their types"},
        {"workspace", "--budget=BYTES"},
        {"memPoolSize", "--budget=BYTES"},
        {"memory_limit", "--budget=BYTES"},
        {"timingCacheFile", "--tune measures; what is compiled keeps the choice: lightnet -c -o COMPILED.json"},
        {"use_xnnpack", "the kernels of `cpu` are the fast ones; `lightnet archs` lists others"},
        {"use_gpu", "`lightnet archs` lists what models can be compiled for; -t takes it"},
        {"graph_optimization_level", "--rules=none leaves out every rewrite"},
        {"optimize", "models are optimized; --rules=none leaves out every rewrite"},
        {"optimization_level", "models are optimized; --rules=none leaves out every rewrite"},
        {"log_level", "-w hides warnings of `lightnet MODEL`, -d shows what the passes do"},
        {"log-level", "-w hides warnings of `lightnet MODEL`, -d shows what the passes do"},
        {"verbosity", "--verbose shows what is rewritten; -d what the passes do"},
        {"quiet", "messages are on standard error: 2>/dev/null"},
        {"format", "the format is told by content, and that of output by the ending of its name"},
        {"to", "-o FILE names what is written, and its ending the format"},
        {"dot", "`lightnet plan --svg -o FILE.svg` draws the memory plan"},
        {"tolerance", "--rtol and --atol"},
        {"tol", "--rtol and --atol"},
        {"threshold", "--rtol and --atol"},
        {"no-rules", "--rules=none leaves out every rewrite"},
        {"no-optimize", "--rules=none leaves out every rewrite"},
        {"O0", "--rules=none leaves out every rewrite"},
        {"O1", "models are optimized; --rules=none leaves out every rewrite"},
        {"O2", "models are optimized; --rules=none leaves out every rewrite"},
        {"O3", "models are optimized; --rules=none leaves out every rewrite"},
        {"opset", "the operator set is the one that the model states"},
        {"check", "`lightnet verify` compares with stored outputs, `lightnet compare` with the model as it was read"},
        // clang-format on
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i].word, name) == 0)
            return words[i].hint;
    return NULL;
}

static int say_bad_long(const verb_usage *verb, const char *text)
{
    char name[64], list[512];
    size_t len = strcspn(text, "=");
    snprintf(name, sizeof name, "%.*s", (int)(len < sizeof name ? len : sizeof name - 1), text);
    option_id id = find_row(text, len);
    if (id != OPT_COUNT && has_option(verb, id))
        return say_usage_error(verb->name, "option --%s takes no value%s", name,
                               strchr(text + len, '.') && has_option(verb, OPT_OUTFILE)
                                   ? "; -o FILE names what is written"
                                   : "");
    int completion_count = list_completions(verb, text, len, list, sizeof list);
    if (completion_count > 1)
        return say_usage_error(verb->name, "option --%s may be %s", name, list);
    const char *hint = foreign_option(name);
    if (hint)
        return say_usage_error(verb->name, "unknown option --%s: %s", name, hint);
    if (completion_count == 1)
        return say_usage_error(verb->name, "unknown option --%s; did you mean %s?", name, list);
    const char *nearest = nearest_option(verb, name);
    if (nearest)
        return say_usage_error(verb->name, "unknown option --%s; did you mean --%s?", name,
                               nearest);
    if (id != OPT_COUNT && list_takers(id, list, sizeof list))
        return say_usage_error(
            verb->name, "unknown option --%s here; it is an option of lightnet %s", name, list);
    return say_usage_error(verb->name, "unknown option --%s", name);
}

// The same for letters, of onnxruntime_perf_test and trtexec.
static const char *foreign_letter(char letter)
{
    switch (letter) {
    case 'e': return "the execution provider is the target: -t cpu";
    case 'r': return "`lightnet run --repeat=COUNT`, or `lightnet bench --runs=COUNT`";
    case 'x': return "--threads=COUNT";
    case 'y': return "--threads=COUNT: operators run one after the other";
    case 'I': return "`lightnet bench` makes random inputs of those that are not given";
    case 'u': return "lightnet -c -o COMPILED.json MODEL";
    case 'q': return "messages are on standard error: 2>/dev/null";
    default: return NULL;
    }
}

static int say_bad_letter(const verb_usage *verb, char letter)
{
    char list[512];
    for (int i = 0; i < OPT_COUNT; i++) {
        if (option_rows[i].letter == letter && list_takers((option_id)i, list, sizeof list))
            return say_usage_error(verb->name,
                                   "unknown option -%c here; -%c, --%s is an option of lightnet %s",
                                   letter, letter, option_rows[i].name, list);
    }
    const char *hint = foreign_letter(letter);
    if (hint)
        return say_usage_error(verb->name, "unknown option -%c: %s", letter, hint);
    if (list_completions(verb, &letter, 1, list, sizeof list) == 1)
        return say_usage_error(verb->name, "unknown option -%c; did you mean %s?", letter, list);
    for (const verb_option *o = verb->options; o->id != OPT_COUNT; o++)
        if (isalpha((unsigned char)letter) && option_rows[o->id].letter == (letter ^ ('a' ^ 'A')))
            return say_usage_error(verb->name, "unknown option -%c; did you mean -%c, --%s?",
                                   letter, option_rows[o->id].letter, option_rows[o->id].name);
    return say_usage_error(verb->name, "unknown option -%c", letter);
}

static int say_bad_option(const verb_usage *verb, int answer, const char *text)
{
    if (answer == ':')
        return say_usage_error(verb->name, "option %s needs a value", text);
    if (strncmp(text, "--", 2) == 0)
        return say_bad_long(verb, text + 2);
    if (verb->has_long_only && text[0] == '-' && text[1] && text[2])
        return say_bad_long(verb, text + 1);
    return say_bad_letter(verb, optopt ? (char)optopt : text[1]);
}

// ---- What was given ----

int options_check_unused(const verb_usage *verb, const option_id *ids, size_t count,
                         const char *why)
{
    const char *name = given_first(ids, count);
    return name ? say_usage_error(verb->name, "--%s has no effect %s", name, why) : EXIT_OK;
}

void print_word(FILE *out, const char *word)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=,:+@%";
    if (*word && strspn(word, plain) == strlen(word)) {
        fputs(word, out);
        return;
    }
    fputc('\'', out);
    for (; *word; word++) {
        char one[2] = {*word, '\0'};
        put_printable(*word == '\'' ? "'\\''" : one, out);
    }
    fputc('\'', out);
}

void options_print_given(FILE *out, const verb_usage *verb, const option_id *except, size_t count)
{
    for (size_t i = 0; i < given_count(); i++) {
        const option_row *row = &option_rows[given_at(i)->id];
        int is_left_out = !has_option(verb, given_at(i)->id) || row->kind == OPTION_HELP;
        for (size_t k = 0; k < count; k++)
            is_left_out |= except[k] == given_at(i)->id;
        if (is_left_out)
            continue;
        fprintf(out, " --%s", row->name);
        if (given_at(i)->value) {
            fputc('=', out);
            print_word(out, given_at(i)->value);
        }
    }
}

char *options_command(const char *start, const verb_usage *verb, const option_id *except,
                      size_t count, const char *model)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    fputs(start, out);
    options_print_given(out, verb, except, count);
    fputc(' ', out);
    print_word(out, model);
    int is_cut = ferror(out);
    if (fclose(out) == 0 && !is_cut)
        return text;
    free(text);
    return NULL;
}

// ---- Parsing ----

enum { FIRST_LONG = 256, MAX_VERB_OPTIONS = OPT_COUNT };

// What getopt wants to know.
typedef struct getopt_tables {
    struct option longs[MAX_VERB_OPTIONS + 1];
    char letters[8 * MAX_VERB_OPTIONS + 2];
} getopt_tables;

static int argument_of(const option_row *row)
{
    return row->kind == OPTION_MAYBE ? optional_argument
           : row->value              ? required_argument
                                     : no_argument;
}

static void add_letter(char *letters, char letter, int argument)
{
    static const char *const colons[] = {"", ":", "::"};
    size_t len = strlen(letters);
    if (letter)
        snprintf(letters + len, 4, "%c%s", letter, colons[argument]);
}

static void make_tables(const verb_usage *verb, getopt_tables *t)
{
    int count = 0;
    snprintf(t->letters, sizeof t->letters, ":");
    for (const verb_option *o = verb->options; o->id != OPT_COUNT; o++, count++) {
        const option_row *row = &option_rows[o->id];
        t->longs[count] = (struct option){row->name, argument_of(row), NULL, FIRST_LONG + count};
        add_letter(t->letters, row->letter, argument_of(row));
        add_letter(t->letters, o->old_letter, argument_of(row));
    }
    t->longs[count] = (struct option){0};
}

static const verb_option *find_option(const verb_usage *verb, int answer)
{
    if (answer >= FIRST_LONG)
        return &verb->options[answer - FIRST_LONG];
    const verb_option *o = verb->options;
    while (option_rows[o->id].letter != answer && o->old_letter != answer)
        o++;
    return o;
}

// Whether a second value adds to the first.
static int is_repeatable(option_id id)
{
    return option_rows[id].kind == OPTION_TEXTS || id == OPT_RULES || id == OPT_SKIP ||
           id == OPT_PLUGIN || id == OPT_DEVICE;
}

// One of two values would be lost.
static int check_given_once(const verb_usage *verb, const verb_option *option, const char *value)
{
    const option_row *row = &option_rows[option->id];
    char name[64];
    if (!row->value || is_repeatable(option->id))
        return EXIT_OK;
    for (size_t i = 0; i < given_count(); i++) {
        if (given_at(i)->id != option->id)
            continue;
        snprintf(name, sizeof name, row->letter == 'o' ? "-o" : "--%s", row->name);
        if (!value || !given_at(i)->value)
            return say_usage_error(verb->name, "%s is given twice; one is enough", name);
        return say_usage_error(verb->name, "%s is given twice, with '%s' and '%s'; one is enough%s",
                               name, given_at(i)->value, value,
                               option->id == OPT_OUTDIR ? ": a folder takes all outputs" : "");
    }
    return EXIT_OK;
}

// getopt takes the beginning of a name for the name: --time would be --timeout.
static int check_whole_name(const verb_usage *verb, const verb_option *option, char **argv)
{
    const char *text = argv[optind - 1];
    if (optarg && text == optarg) // its value is an argument of its own
        text = argv[optind - 2];
    text += strspn(text, "-");
    const char *name = option_rows[option->id].name;
    size_t len = strcspn(text, "=");
    return strlen(name) == len && strncmp(name, text, len) == 0 ? EXIT_OK
                                                                : say_bad_long(verb, text);
}

// ---- Files that are read and written ----

typedef enum file_use { FILE_UNUSED, FILE_READ, FILE_WRITTEN } file_use;

static file_use use_of(option_id id)
{
    switch (id) {
    case OPT_OUTFILE:
    case OPT_OUTDIR:
    case OPT_WEIGHTS:
    case OPT_JSON:
    case OPT_TRACE: return FILE_WRITTEN;
    case OPT_DATAFILE:
    case OPT_INPUT:
    case OPT_MODEL:
    case OPT_BASE:
    case OPT_LABELS:
    case OPT_LIST:
    case OPT_RULES:
    case OPT_PLUGIN: return FILE_READ;
    default: return FILE_UNUSED;
    }
}

static int is_there(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

// FILE or NAME=FILE; 1 where it is a regular file.
static int find_file(const char *text, struct stat *info)
{
    const char *path = given_path(text, is_there);
    return path && stat(path, info) == 0 && S_ISREG(info->st_mode);
}

int options_check_overwrite(const verb_usage *verb, const char *written, const char *read)
{
    struct stat of_written, of_read;
    if (!find_file(written, &of_written) || !find_file(read, &of_read) ||
        of_written.st_dev != of_read.st_dev || of_written.st_ino != of_read.st_ino)
        return EXIT_OK;
    if (strcmp(written, read) == 0)
        return say_usage_error(verb->name,
                               "%s is read, and cannot be overwritten; name another file", read);
    return say_usage_error(verb->name,
                           "%s is the file %s, which is read, and cannot be overwritten; name "
                           "another file",
                           written, read);
}

// The file of NAME=FILE or FILE, there or not.
static const char *written_file(const char *text)
{
    const char *path = given_path(text, is_there), *equals = strchr(text, '=');
    return path ? path : equals ? equals + 1 : text;
}

static int check_written_once(const verb_usage *verb, const given_option *a, const given_option *b)
{
    struct stat of_a, of_b;
    const char *first = written_file(a->value), *second = written_file(b->value);
    int is_same = strcmp(first, second) == 0 ||
                  (stat(first, &of_a) == 0 && stat(second, &of_b) == 0 && S_ISREG(of_a.st_mode) &&
                   of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino);
    if (!is_same)
        return EXIT_OK;
    return say_usage_error(verb->name, "%s would be written by --%s and by --%s; name two files",
                           second, a->name, b->name);
}

static int check_overwrites(const verb_usage *verb, int argc, char **argv)
{
    for (size_t i = 0; i < given_count(); i++) {
        if (use_of(given_at(i)->id) != FILE_WRITTEN || !given_at(i)->value)
            continue;
        int code = EXIT_OK;
        for (int k = optind; k < argc && code == EXIT_OK && !verb->has_words; k++)
            code = options_check_overwrite(verb, given_at(i)->value, argv[k]);
        for (size_t k = 0; k < given_count() && code == EXIT_OK; k++)
            if (use_of(given_at(k)->id) == FILE_READ)
                code = options_check_overwrite(verb, given_at(i)->value, given_at(k)->value);
            else if (k < i && use_of(given_at(k)->id) == FILE_WRITTEN && given_at(k)->value)
                code = check_written_once(verb, given_at(k), given_at(i));
        if (code != EXIT_OK)
            return code;
    }
    return EXIT_OK;
}

int options_parse(const verb_usage *verb, int argc, char **argv, void *dest, int *out_argc,
                  char ***out_argv)
{
    getopt_tables tables;
    make_tables(verb, &tables);
    opterr = 0;
    for (;;) {
        int answer = (verb->has_long_only ? getopt_long_only : getopt_long)(
            argc, argv, tables.letters, tables.longs, NULL);
        if (answer == -1)
            break;
        if (answer == '?' || answer == ':')
            return say_bad_option(verb, answer, argv[optind - 1]);
        const verb_option *option = find_option(verb, answer);
        int code = answer >= FIRST_LONG ? check_whole_name(verb, option, argv) : EXIT_OK;
        if (code == EXIT_OK)
            code = check_given_once(verb, option, optarg);
        if (code == EXIT_OK)
            code = take_value(verb, option, dest, optarg);
        if (code != EXIT_OK)
            return code;
        given_add(option->id, option_rows[option->id].name, optarg);
    }
    *out_argc = argc - optind;
    *out_argv = argv + optind;
    for (int i = optind; i < argc; i++)
        if (!*argv[i])
            return say_usage_error(verb->name, "an empty word is no file");
    int code = check_overwrites(verb, argc, argv);
    return code == EXIT_OK ? option_checks(verb) : code;
}

// What a second operand was most likely meant to be.
static int say_extra(const verb_usage *verb, const char *what, const char *extra)
{
    char *end;
    (void)strtod(extra, &end);
    if (end != extra && !*end)
        return say_usage_error(verb->name,
                               "one %s at a time; '%s' is too many; numbers of one option are "
                               "joined by commas, such as 1,2,3",
                               what, extra);
    for (size_t i = 0; i < given_count(); i++)
        if (option_rows[given_at(i)->id].kind == OPTION_MAYBE && !given_at(i)->value)
            return say_usage_error(verb->name,
                                   "one %s at a time; '%s' is too many; a value that may be left "
                                   "out is given with an equals sign: --%s=%s",
                                   what, extra, option_rows[given_at(i)->id].name, extra);
    if (has_option(verb, OPT_INPUT))
        return say_usage_error(
            verb->name, "one %s at a time; '%s' is too many; give inputs with -i", what, extra);
    return say_usage_error(verb->name, "one %s at a time; '%s' is too many%s", what, extra,
                           has_option(verb, OPT_OUTFILE) ? "; -o FILE names what is written" : "");
}

int options_parse_one(const verb_usage *verb, const char *what, int argc, char **argv, void *dest,
                      const char **out_operand)
{
    int count;
    char **operands;
    int code = options_parse(verb, argc, argv, dest, &count, &operands);
    if (code != EXIT_OK)
        return code;
    if (count == 0)
        return say_usage_error(verb->name, "no %s", what);
    if (count > 1)
        return say_extra(verb, what, operands[1]);
    if (strcmp(operands[0], "help") == 0 && access(operands[0], F_OK) != 0)
        return say_usage_error(
            verb->name, "there is no file 'help'; did you mean `lightnet help %s`?", verb->name);
    *out_operand = operands[0];
    return EXIT_OK;
}

// ---- Help ----

enum { HELP_WIDTH = 80, HELP_COLUMN = 26 };

// Words from column `column` on, in lines that begin there; the first line is begun already.
static void print_wrapped(FILE *out, const char *text, int indent, int column)
{
    while (*text) {
        int len = (int)strcspn(text, " \n");
        if (column > indent && column + 1 + len > HELP_WIDTH) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            putc(' ', out);
            column++;
        }
        fprintf(out, "%.*s", len, text);
        column += len;
        text += len;
        if (*text == '\n') {
            fprintf(out, "\n%s%*s", text[1] == '\n' ? "\n" : "", text[1] == '\n' ? 0 : indent, "");
            column = indent;
        }
        text += strspn(text, " \n");
    }
    putc('\n', out);
}

void option_form(const verb_option *option, char *buffer, size_t size)
{
    const option_row *row = &option_rows[option->id];
    char letter[5] = "    ";
    if (row->letter)
        snprintf(letter, sizeof letter, "-%c, ", row->letter);
    snprintf(buffer, size, "%s--%s%s%s%s%s", letter, row->name,
             row->kind == OPTION_MAYBE ? "[" : "", row->value ? "=" : "",
             row->value ? row->value : "", row->kind == OPTION_MAYBE ? "]" : "");
}

void option_words(const verb_option *option, char *buffer, size_t size)
{
    const char *note = option->note ? option->note : "";
    snprintf(buffer, size, "%s%s%s", option_rows[option->id].help,
             *note && !strchr(";,:", *note) ? " " : "", note);
}

static void print_option(FILE *out, const verb_option *option)
{
    char form[128], words[1024];
    option_form(option, form, sizeof form);
    option_words(option, words, sizeof words);
    int used = fprintf(out, "  %-*s", HELP_COLUMN - 4, form);
    if (used > HELP_COLUMN - 2)
        fputc('\n', out);
    fprintf(out, "%*s", used > HELP_COLUMN - 2 ? HELP_COLUMN : HELP_COLUMN - used, "");
    print_wrapped(out, words, HELP_COLUMN, HELP_COLUMN);
}

static void print_synopsis(FILE *out, const verb_usage *verb)
{
    const char *title = "Usage:", *line = verb->synopsis;
    while (*line) {
        int len = (int)strcspn(line, "\n");
        fprintf(out, "%-6s %s%s%s%s%.*s\n", title, program_name(), verb->name ? " " : "",
                verb->name ? verb->name : "", len ? " " : "", len, line);
        title = "";
        line += len + (line[len] == '\n');
    }
    if (!*verb->synopsis)
        fprintf(out, "%-6s %s %s\n", title, program_name(), verb->name);
}

void options_print_help(const verb_usage *verb, FILE *out)
{
    print_synopsis(out, verb);
    putc('\n', out);
    print_wrapped(out, verb->about, 0, 0);
    fputs("\nOptions:\n", out);
    for (const verb_option *o = verb->options; o->id != OPT_COUNT; o++)
        print_option(out, o);
    if (verb->trailer) {
        putc('\n', out);
        print_wrapped(out, verb->trailer, 0, 0);
    }
}
