// SPDX-License-Identifier: Apache-2.0
// lightnet-gen: makes C code and documentation from descriptions while LightNet is built.
//
// Users have the same as verbs of the command `lightnet`. Verbs stand in one table.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/opdesc.h>

#include "base/text.h"
#include "desc/opdesc_pack.h"
#include "desc/rule_gen.h"

// What the command line said after the verb.
typedef struct request {
    const char *out_path; // -o
    const char *arch;     // --arch
    const char *name;     // --name
    const char **paths;   // the files given with --base, then the others
    size_t path_count;
    size_t base_count;
} request;

static ln_status generate_op(const request *r, char **out_text)
{
    return ln_opdesc_generate(r->paths, r->path_count, r->base_count, out_text);
}

static ln_status generate_table(const request *r, char **out_text)
{
    if (!r->arch)
        return LN_FAIL(LN_INVALID, "say which arch with --arch NAME");
    return ln_opdesc_generate_table(r->arch, r->paths, r->path_count, r->base_count, out_text);
}

// What runs untrusted models has to know what each operator may cost.
static ln_status check_costs(const ln_opdesc_set *set)
{
    for (const ln_opdesc *op = set->first; op; op = op->next)
        if ((op->run || op->static_run || op->compute) && ln_opdesc_is_generated(op) && !op->cost)
            return ln_fail_at(op->source->place, LN_INVALID,
                              "'%s' runs, but neither it nor its base says its 'cost'", op->optype);
    return LN_OK;
}

// Bases are read as all others: what the operators have in common with them is not packed again.
static ln_status generate_packed(const request *r, char **out_text)
{
    if (!r->arch)
        return LN_FAIL(LN_INVALID, "say which arch with --arch NAME");
    ln_opdesc_set set = {0};
    ln_text text = {0};
    ln_status status = LN_OK;
    for (size_t i = 0; i < r->path_count && status == LN_OK; i++)
        status = ln_opdesc_read_file(&set, r->paths[i], false);
    if (status == LN_OK)
        status = check_costs(&set);
    if (status == LN_OK) {
        ln_opdesc_print_packed(&set, r->arch, &text);
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
    {"table", generate_table, "table --arch NAME [--base FILE]... -o OUT.c FILE..."},
    {"packed", generate_packed, "packed --arch NAME [--base FILE]... -o OUT.c FILE..."},
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

// Bases first, then files, each in the order given. False when the command line makes no sense.
static int read_arguments(int argc, char **argv, request *r)
{
    r->out_path = "-";
    for (int want_base = 1; want_base >= 0; want_base--) {
        for (int i = 2; i < argc; i++) {
            int has_value = strcmp(argv[i], "--base") == 0 || strcmp(argv[i], "-o") == 0 ||
                            strcmp(argv[i], "--arch") == 0 || strcmp(argv[i], "--name") == 0;
            if (has_value && i + 1 == argc)
                return 0;
            int is_base = strcmp(argv[i], "--base") == 0;
            if (!has_value && argv[i][0] == '-' && argv[i][1])
                return 0;
            if (strcmp(argv[i], "-o") == 0)
                r->out_path = argv[i + 1];
            else if (strcmp(argv[i], "--arch") == 0)
                r->arch = argv[i + 1];
            else if (strcmp(argv[i], "--name") == 0)
                r->name = argv[i + 1];
            else if (is_base == want_base)
                r->paths[r->path_count++] = argv[i + is_base];
            i += has_value;
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
