// SPDX-License-Identifier: Apache-2.0
// The table of options, the parser that all verbs share, and help texts.

#include "options.h"

#include <getopt.h>
#include <string.h>

#include <lightnet/spelling.h>

#include "cli.h"
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

// EXIT_OK, EXIT_USAGE, or -1 for help that is printed.
static int take_value(const verb_usage *verb, const verb_option *option, char *dest,
                      const char *value)
{
    const option_row *row = &option_rows[option->id];
    void *member = dest + option->offset;
    char form[64];
    snprintf(form, sizeof form, "--%s", row->name);
    if (option->take)
        return option->take(member, verb->name, value);
    switch (row->kind) {
    case OPTION_FLAG: *(int *)member = 1; return EXIT_OK;
    case OPTION_CLEAR: *(int *)member = 0; return EXIT_OK;
    case OPTION_TEXT: *(const char **)member = value; return EXIT_OK;
    case OPTION_MAYBE: *(const char **)member = value ? value : "-"; return EXIT_OK;
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

// "run, bench": the verbs that take an option. 0 if there is none.
static int list_takers(option_id id, char *buffer, size_t size)
{
    size_t used = 0;
    int count = 0;
    buffer[0] = '\0';
    for (const command *c = commands; c->name; c++) {
        if (!has_option(c->usage, id) || used >= size)
            continue;
        used += (size_t)snprintf(buffer + used, size - used, "%s%s", count++ ? ", " : "", c->name);
    }
    return count;
}

// The verb's options that begin with the `len` bytes of a text.
static int list_completions(const verb_usage *verb, const char *text, size_t len, char *buffer,
                            size_t size)
{
    size_t used = 0;
    int count = 0;
    buffer[0] = '\0';
    for (const verb_option *o = verb->options; o->id != OPT_COUNT; o++) {
        const char *name = option_rows[o->id].name;
        if (!prefix_len(name, text, len) || used >= size)
            continue;
        used += (size_t)snprintf(buffer + used, size - used, "%s--%s", count++ ? ", " : "", name);
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

// What users of ONNX Runtime, trtexec and torchvision type, and what does it here.
static const char *foreign_option(const char *name)
{
    static const struct {
        const char *word, *hint;
    } words[] = {
        // clang-format off
        {"image", "give a picture with -i FILE"},
        {"std", "--preset=imagenet, or --scale with 1 / (255 * std)"},
        {"device", "the device is the target: -t cpu"},
        {"provider", "the execution provider is the target: -t cpu"},
        {"providers", "the execution provider is the target: -t cpu"},
        {"execution_provider", "the execution provider is the target: -t cpu"},
        {"batch", "-s SYMBOL=N gives a symbolic dimension its size"},
        {"batch-size", "-s SYMBOL=N gives a symbolic dimension its size"},
        {"batch_size", "-s SYMBOL=N gives a symbolic dimension its size"},
        {"shapes", "-s NAME=1x3x224x224, once for each input"},
        {"optShapes", "-s SYMBOL=1..32 plans for a range"},
        {"minShapes", "-s SYMBOL=1..32 plans for a range"},
        {"maxShapes", "-s SYMBOL=1..32 plans for a range"},
        {"iterations", "lightnet run --repeat=N, or lightnet bench"},
        {"warmUp", "lightnet bench warms up by itself"},
        {"duration", "lightnet bench measures until numbers are steady"},
        {"onnx", "the model stands alone: lightnet run MODEL"},
        {"model", "the model stands alone: lightnet run MODEL"},
        {"loadInputs", "-i NAME=FILE, once for each input"},
        {"exportOutput", "-o FOLDER, or -o NAME=FILE.npy"},
        {"saveEngine", "lightnet -c -o COMPILED.json MODEL"},
        {"loadEngine", "a compiled model stands where a model does"},
        {"fp16", "models of float16 run as they are; float32 models keep their type"},
        {"int8", "quantized models run as they are"},
        {"intra_op_num_threads", "--threads=N"},
        {"gpu", "there is no target for GPUs; lightnet list shows the targets"},
        {"cuda", "there is no target for GPUs; lightnet list shows the targets"},
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
        return say_usage_error(verb->name, "option --%s takes no value", name);
    if (list_completions(verb, text, len, list, sizeof list) > 1)
        return say_usage_error(verb->name, "option --%s may be any of %s", name, list);
    const char *hint = id == OPT_COUNT ? foreign_option(name) : NULL;
    if (hint)
        return say_usage_error(verb->name, "unknown option --%s: %s", name, hint);
    const char *nearest = nearest_option(verb, name);
    if (nearest)
        return say_usage_error(verb->name, "unknown option --%s; did you mean --%s?", name,
                               nearest);
    if (id != OPT_COUNT && list_takers(id, list, sizeof list))
        return say_usage_error(verb->name, "unknown option --%s here; it is one of lightnet %s",
                               name, list);
    return say_usage_error(verb->name, "unknown option --%s", name);
}

static int say_bad_letter(const verb_usage *verb, char letter)
{
    char list[512];
    if (list_completions(verb, &letter, 1, list, sizeof list) == 1)
        return say_usage_error(verb->name, "unknown option -%c; did you mean %s?", letter, list);
    for (int i = 0; i < OPT_COUNT; i++) {
        if (option_rows[i].letter == letter && list_takers((option_id)i, list, sizeof list))
            return say_usage_error(verb->name,
                                   "unknown option -%c here; -%c, --%s is one of lightnet %s",
                                   letter, letter, option_rows[i].name, list);
    }
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
    return say_bad_letter(verb, (char)optopt);
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

// What one of two would write would be lost. *first is NULL before.
static int check_written_once(const verb_usage *verb, const verb_option *option, const char *value,
                              const char **first)
{
    const option_row *row = &option_rows[option->id];
    if (row->letter != 'o' || row->kind != OPTION_TEXT)
        return EXIT_OK;
    if (*first)
        return say_usage_error(verb->name, "-o is given twice, with '%s' and '%s'; one is enough%s",
                               *first, value,
                               option->id == OPT_OUTDIR ? ": a folder takes all outputs" : "");
    *first = value;
    return EXIT_OK;
}

int options_parse(const verb_usage *verb, int argc, char **argv, void *dest, int *out_argc,
                  char ***out_argv)
{
    getopt_tables tables;
    const char *written = NULL;
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
        int code = check_written_once(verb, option, optarg, &written);
        if (code == EXIT_OK)
            code = take_value(verb, option, dest, optarg);
        if (code != EXIT_OK)
            return code;
    }
    *out_argc = argc - optind;
    *out_argv = argv + optind;
    return EXIT_OK;
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
        return say_usage_error(verb->name, "one %s at a time; '%s' is too many%s", what,
                               operands[1],
                               has_option(verb, OPT_INPUT) ? "; give inputs with -i" : "");
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
