// SPDX-License-Identifier: Apache-2.0
// lightnet-gen: makes C code and documentation from descriptions while LightNet is built.
//
// Users have the same as verbs of the command `lightnet`. Verbs stand in one table.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lightnet/allocator.h>

#include "base/text.h"
#include "desc/opdesc_api.h"
#include "desc/opdesc_gen.h"
#include "desc/opdesc_rows.h"
#include "desc/rule_gen.h"

// What the command line said after the verb.
typedef struct request {
    const char *out_path;    // -o
    const char *header_path; // --header
    const char *arch;        // --arch
    const char *mtype;       // --mtype
    const char *name;        // --name
    const char **paths;      // the files given with --base, then the others
    size_t path_count;
    size_t base_count;
} request;

static ln_status generate_op(const request *r, char **out_text)
{
    return ln_opdesc_generate(r->paths, r->path_count, r->base_count, out_text);
}

// Rows have functions by name; snippets are for operators of users.
static ln_status check_form(const ln_opdesc_set *set)
{
    for (const ln_opdesc *op = set->first; op; op = op->next)
        if (ln_opdesc_is_generated(op) && !ln_opdesc_is_call(op))
            return ln_fail_at(op->source->place, LN_INVALID,
                              "'%s' is not in call form: neither it nor its base has 'infer'",
                              op->optype);
    return LN_OK;
}

// What a file of an arch describes is of that arch; a name such as conv_ref may say another.
static ln_status check_arch(const ln_opdesc *first, const char *arch)
{
    for (const ln_opdesc *op = first; op; op = op->next)
        if (ln_opdesc_is_generated(op) && strcmp(op->arch, arch) != 0)
            return ln_fail_at(op->source->place, LN_INVALID, "'%s' is of arch '%s', not of '%s'",
                              op->optype, op->arch, arch);
    return LN_OK;
}

// Bases are read as all others: what the operators have in common with them is not written again.
static ln_status read_descriptions(const request *r, ln_opdesc_set *set)
{
    set->mtype = r->mtype;
    for (size_t i = 0; i < r->path_count; i++) {
        const ln_opdesc *last = set->last;
        LN_TRY(ln_opdesc_read_file(set, r->paths[i], false));
        if (i >= r->base_count)
            LN_TRY(check_arch(last ? last->next : set->first, r->arch));
    }
    for (ln_opdesc *op = set->first; op; op = op->next) {
        if (!op->author)
            op->author = "LightNet";
        if (!op->cost)
            op->cost = "ln_cost_steps"; // of each element and multiply-accumulate one
    }
    return check_form(set);
}

// A header that is as it was keeps its time, so that nobody is compiled again who includes it.
static ln_status write_header(const request *r, const ln_opdesc_set *set)
{
    ln_text text = {0};
    char *header, *old = NULL;
    size_t len, old_len = 0;
    ln_opdesc_print_header(set, r->arch, &text);
    LN_TRY(ln_text_take(&text, &header, &len));
    bool is_same =
        ln_text_read_file(r->header_path, LN_OPDESC_MAX_BYTES, &old, &old_len) == LN_OK &&
        old_len == len && memcmp(old, header, len) == 0;
    ln_status status = is_same ? LN_OK : ln_text_write_file(r->header_path, header, len);
    ln_free(old);
    ln_free(header);
    return status;
}

static ln_status generate_rows_of_arch(const request *r, char **out_text)
{
    if (!r->arch)
        return LN_FAIL(LN_INVALID, "say which arch with --arch NAME");
    ln_opdesc_set set = {0};
    ln_text text = {0};
    ln_status status = read_descriptions(r, &set);
    if (status == LN_OK && r->header_path)
        status = write_header(r, &set);
    if (status == LN_OK) {
        ln_opdesc_print_rows(&set, r->arch, &text);
        status = ln_text_take(&text, out_text, NULL);
    }
    ln_opdesc_set_deinit(&set);
    return status;
}

static ln_status generate_prose(const request *r, char **out_text)
{
    ln_opdesc_set set = {0};
    ln_text text = {0};
    ln_status status = LN_OK;
    for (size_t i = 0; i < r->path_count && status == LN_OK; i++)
        status = ln_opdesc_read_file(&set, r->paths[i], false);
    if (status == LN_OK) {
        ln_opdesc_print_prose(&set, &text);
        status = ln_text_take(&text, out_text, NULL);
    }
    ln_opdesc_set_deinit(&set);
    return status;
}

static ln_status generate_docs(const request *r, char **out_text)
{
    return ln_opdesc_generate_docs(r->paths, r->path_count, r->base_count, out_text);
}

static ln_status generate_rules(const request *r, char **out_text)
{
    if (r->base_count > 0)
        return LN_FAIL(LN_INVALID, "rules have no bases");
    if (!r->name)
        return LN_FAIL(LN_INVALID, "say what the table is called with --name NAME");
    return ln_rule_generate(r->name, r->paths, r->path_count, out_text);
}

static const struct verb {
    const char *name;
    ln_status (*generate)(const request *r, char **out_text);
    const char *usage;
} verbs[] = {
    {"op", generate_op, "op [--base FILE]... -o OUT.c FILE..."},
    {"rows", generate_rows_of_arch,
     "rows --arch NAME [--mtype TYPE] [--base FILE]... -o OUT.c [--header OUT.h] FILE..."},
    {"prose", generate_prose, "prose -o OUT.c FILE..."},
    {"docs", generate_docs, "docs [--base FILE]... -o OUT.md FILE..."},
    {"rules", generate_rules, "rules --name NAME -o OUT.c FILE..."},
};

#define VERB_COUNT (sizeof verbs / sizeof verbs[0])

static int print_usage(void)
{
    fprintf(stderr, "usage:\n");
    for (size_t i = 0; i < VERB_COUNT; i++)
        fprintf(stderr, "  lightnet-gen %s\n", verbs[i].usage);
    return 2;
}

// The member that the value of an option goes to; NULL for what is no option with one.
static const char **value_of(request *r, const char *option)
{
    const struct {
        const char *option;
        const char **value;
    } rows[] = {{"-o", &r->out_path},
                {"--header", &r->header_path},
                {"--arch", &r->arch},
                {"--mtype", &r->mtype},
                {"--name", &r->name}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].option, option) == 0)
            return rows[i].value;
    return NULL;
}

// Bases first, then files, each in the order given. False when the command line makes no sense.
static int read_arguments(int argc, char **argv, request *r)
{
    r->out_path = "-";
    for (int want_base = 1; want_base >= 0; want_base--) {
        for (int i = 2; i < argc; i++) {
            const char **value = value_of(r, argv[i]);
            int is_base = strcmp(argv[i], "--base") == 0;
            if ((value || is_base) && i + 1 == argc)
                return 0;
            if (!value && !is_base && argv[i][0] == '-' && argv[i][1])
                return 0;
            if (value)
                *value = argv[i + 1];
            else if (is_base == want_base)
                r->paths[r->path_count++] = argv[i + is_base];
            i += value || is_base;
        }
        if (want_base)
            r->base_count = r->path_count;
    }
    return r->path_count > r->base_count;
}

static ln_status run(const struct verb *verb, const request *r)
{
    char *text;
    LN_TRY(verb->generate(r, &text));
    ln_status status = ln_text_write_file(r->out_path, text, strlen(text));
    ln_free(text);
    return status;
}

int main(int argc, char **argv)
{
    size_t i = 0;
    while (argc > 1 && i < VERB_COUNT && strcmp(verbs[i].name, argv[1]) != 0)
        i++;
    if (argc < 2 || i == VERB_COUNT)
        return print_usage();
    request r = {.paths = ln_alloc_array((size_t)argc, sizeof *r.paths)};
    int is_valid = r.paths && read_arguments(argc, argv, &r);
    if (is_valid && run(&verbs[i], &r) != LN_OK) {
        fprintf(stderr, "lightnet-gen: %s\n", ln_error_message());
        ln_free(r.paths);
        return 1;
    }
    ln_free(r.paths);
    return is_valid ? 0 : print_usage();
}
