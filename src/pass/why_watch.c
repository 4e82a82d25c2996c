// SPDX-License-Identifier: Apache-2.0
// The rules of one name, watched through all passes. Of each the matcher notes the match that came
// farthest (why.h).

#include "pass/why_api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/arch.h>
#include <lightnet/spelling.h>

#include "ir/context.h"
#include "pass/why.h"

extern const ln_rule_set ln_rules_core, ln_rules_general;

enum { MAX_LINES = 20 };

struct ln_why_watch {
    struct ln_why_watch *next; // of another rule of this name
    ln_why nearest;
    // The rule.
    char root[LN_MAX_NAME_LEN];
    const char *tag;
    ln_rule_stage stage;
    bool is_wide, is_users;
    // What has come of it.
    size_t fired_count, refused_count, skipped_count;
    char *lines; // a line for each firing; the first ones
    size_t lines_size;
    FILE *out;              // to `lines`
    char nearest_pass[32];  // in which it came nearest; "": not yet
    int noted_progress;     // at the last pass
    size_t met_count;       // operators of the root's type, in the model as it was read
    char met_in[32];        // the first pass after which there were some; "": none
    char refused_for[2048]; // the first reason
    char refused_at[LN_MAX_NAME_LEN];
};

// ---- Finding the rule ----

typedef struct finder {
    const char *name;
    ln_nearest near;
    char row[LN_MAX_NAME_LEN]; // the first of a rule of that name which has rows; "": there is none
    ln_why_watch *first, *last; // NULL: none is found
    ln_status status;
} finder;

static bool is_known(const finder *f, const char *file, int line)
{
    for (const ln_why_watch *why = f->first; why; why = why->next)
        if (why->nearest.line == line && strcmp(why->nearest.file, file) == 0)
            return true;
    return false;
}

static void note_row(finder *f, const char *rule)
{
    size_t len = strlen(f->name);
    if (!f->row[0] && strncmp(rule, f->name, len) == 0 && rule[len] == '_')
        snprintf(f->row, sizeof f->row, "%s", rule);
}

static void try_rule(finder *f, const ln_rule *rule, bool is_users)
{
    const char *file = rule->file ? rule->file : "";
    ln_nearest_try(&f->near, rule->name);
    note_row(f, rule->name);
    if (strcmp(rule->name, f->name) != 0 || is_known(f, file, rule->line))
        return;
    ln_why_watch *why = calloc(1, sizeof *why);
    if (why)
        why->out = open_memstream(&why->lines, &why->lines_size);
    if (!why || !why->out) {
        free(why);
        f->status = LN_FAIL(LN_NO_MEMORY, "out of memory for --why");
        return;
    }
    if (f->last) {
        f->last->next = why;
        f->last->nearest.next = &why->nearest;
    } else {
        f->first = why;
    }
    f->last = why;
    why->noted_progress = -1;
    why->nearest.rule = f->name;
    why->nearest.line = rule->line;
    snprintf(why->nearest.file, sizeof why->nearest.file, "%s", file);
    snprintf(why->root, sizeof why->root, "%s", rule->pattern[0].optype);
    why->tag = ln_rule_tag_name(rule->tag);
    why->stage = rule->stage;
    why->is_wide = rule->is_wide;
    why->is_users = is_users;
}

// A set of the library parses its rules root by root.
static ln_status find_in_own(finder *f, const ln_rule_set *own)
{
    ln_rule_set *set;
    LN_TRY(ln_rule_set_open(own, &set));
    ln_status status = LN_OK;
    for (size_t i = 0; i < set->entry_count && status == LN_OK; i++) {
        const ln_rule *rules;
        size_t count = 0;
        const char *root = set->roots + set->entries[i].root;
        bool is_new = i == 0 || set->entries[i - 1].root != set->entries[i].root;
        if (is_new && *root)
            status = ln_rule_set_read_root(set, root, &rules, &count);
        for (size_t k = 0; k < count && status == LN_OK; k++)
            try_rule(f, &rules[k], false);
    }
    // Names that are near are the set's, which goes.
    static char kept[LN_MAX_NAME_LEN];
    if (f->near.name && f->near.name != kept) {
        snprintf(kept, sizeof kept, "%s", f->near.name);
        f->near.name = kept;
    }
    ln_rule_set_destroy(set);
    return status == LN_OK ? f->status : status;
}

static ln_status find_in_file(finder *f, const char *path)
{
    ln_rule_set *set;
    LN_TRY(ln_rule_set_read(path, &set));
    for (size_t i = 0; i < set->rule_count; i++)
        try_rule(f, &set->rules[i], true);
    f->near = ln_nearest_to(f->name); // names go with the set
    ln_rule_set_destroy(set);
    return f->status;
}

static bool is_in_target(const char *target, const char *arch)
{
    size_t len = strlen(arch);
    for (const char *at = target; (at = strstr(at, arch)); at += len)
        if ((at == target || at[-1] == ',') && (at[len] == '\0' || at[len] == ','))
            return true;
    return false;
}

static ln_status find_rule(finder *f, const char *target, const ln_optimize_options *options)
{
    for (size_t i = 0; i < options->rule_file_count; i++)
        LN_TRY(find_in_file(f, options->rule_files[i]));
    LN_TRY(find_in_own(f, &ln_rules_core));
    LN_TRY(find_in_own(f, &ln_rules_general));
    const ln_arch *arch, *other = NULL;
    for (size_t i = 0; (arch = ln_arch_find_at(i)); i++) {
        bool is_first = !f->first;
        if (!arch->rules || !arch->rules->texts ||
            (!is_first && !is_in_target(target, arch->arch_name)))
            continue;
        LN_TRY(find_in_own(f, arch->rules));
        if (is_first && f->first && !is_in_target(target, arch->arch_name))
            other = arch;
    }
    if (other)
        return LN_FAIL(LN_NOT_FOUND, "rule '%s' is one of arch %s, which target %s does not have",
                       f->name, other->arch_name, target);
    return LN_OK;
}

typedef struct type_count {
    const char *optype;
    size_t count;
} type_count;

static ln_status count_in_graph(ln_context *graph, void *user)
{
    type_count *c = user;
    const ln_op *op;
    LN_LIST_FOREACH (op, graph->ops)
        c->count += strcmp(op->op_arg->optype, c->optype) == 0;
    return LN_OK;
}

// In the model and in the graphs inside it.
static size_t count_of_type(const ln_context *ctx, const char *optype)
{
    type_count c = {.optype = optype};
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops)
        c.count += strcmp(op->op_arg->optype, optype) == 0;
    (void)ln_context_each_graph(ctx, count_in_graph, &c);
    return c.count;
}

static ln_status fail_not_found(const finder *f)
{
    const char *name = f->name, *nearest = f->row[0] ? f->row : f->near.name;
    const ln_op *op = ln_op_find(name);
    if (op && strcmp(op->op_arg->arch, "none") != 0)
        return LN_FAIL(LN_NOT_FOUND,
                       "'%s' is what operators are lowered to, not a rule; where that is so, "
                       "`lightnet opt --verbose` lists, and `lightnet inspect` what stays on ref",
                       name);
    if (op)
        return LN_FAIL(LN_NOT_FOUND,
                       "there is no rule '%s', it is a type of operators; a rule has the name that "
                       "--verbose lists",
                       name);
    return LN_FAIL(
        LN_NOT_FOUND,
        "there is no rule '%s'; %s%s%s`lightnet opt --verbose` lists those that fire, with a tag; "
        "what is listed without one is what a pass does without rules",
        name, nearest ? "did you mean '" : "", nearest ? nearest : "", nearest ? "'? " : "");
}

ln_status ln_why_watch_create(const char *rule, const char *target,
                              const ln_optimize_options *options, const ln_context *ctx,
                              ln_why_watch **out_why)
{
    *out_why = NULL;
    if (options->stays_as_read)
        return LN_FAIL(LN_INVALID, "with --rules=none no rule is tried, so --why shows nothing");
    finder f = {.name = rule, .near = ln_nearest_to(rule)};
    ln_status status = find_rule(&f, target, options);
    if (status == LN_OK && !f.first)
        status = fail_not_found(&f);
    if (status != LN_OK) {
        ln_why_watch_destroy(f.first);
        return status;
    }
    for (ln_why_watch *why = f.first; why; why = why->next)
        why->met_count = count_of_type(ctx, why->root);
    ln_why_ask(&f.first->nearest);
    *out_why = f.first;
    return LN_OK;
}

ln_status ln_why_each_graph(const ln_context *ctx,
                            ln_status (*function)(ln_context *graph, void *user), void *user)
{
    return ln_context_each_graph(ctx, function, user);
}

void ln_why_watch_destroy(ln_why_watch *why)
{
    ln_why_ask(NULL);
    for (ln_why_watch *next; why; why = next) {
        next = why->next;
        fclose(why->out);
        free(why->lines);
        free(why);
    }
}

// ---- Watching ----

static void note_firing(ln_why_watch *why, const ln_firing *firing)
{
    if (firing->is_refused && why->refused_count++ == 0) {
        snprintf(why->refused_for, sizeof why->refused_for, "%s",
                 firing->reason ? firing->reason : "");
        snprintf(why->refused_at, sizeof why->refused_at, "%s", firing->op);
    }
    if (firing->is_refused)
        return;
    why->skipped_count += firing->is_skipped != 0;
    if (!firing->is_skipped)
        why->fired_count++;
    if (why->fired_count + why->skipped_count > MAX_LINES)
        return;
    fprintf(why->out, "  firing %zu%s: pass %s, at '%s' (%s)%s%s%s\n", firing->number,
            firing->is_skipped ? ", skipped" : "", firing->pass, firing->op, firing->optype,
            firing->graph ? " in graph '" : "", firing->graph ? firing->graph : "",
            firing->graph ? "'" : "");
}

void ln_why_note_firing(ln_why_watch *why, const ln_firing *firing)
{
    for (; why; why = why->next)
        if (!firing->is_lowering && strcmp(firing->rule, why->nearest.rule) == 0 &&
            firing->line == why->nearest.line &&
            strcmp(firing->file ? firing->file : "", why->nearest.file) == 0)
            note_firing(why, firing);
}

static void note_pass(ln_why_watch *why, const char *pass, const ln_context *ctx)
{
    if (why->nearest.progress > why->noted_progress) {
        why->noted_progress = why->nearest.progress;
        snprintf(why->nearest_pass, sizeof why->nearest_pass, "%s", pass);
    }
    if (!why->met_in[0] && count_of_type(ctx, why->root) > 0)
        snprintf(why->met_in, sizeof why->met_in, "%s", pass);
}

void ln_why_note_pass(ln_why_watch *why, const char *pass, const ln_context *ctx)
{
    for (; why; why = why->next)
        note_pass(why, pass, ctx);
}

// ---- Words ----

static const char *pass_of(const ln_why_watch *why)
{
    return why->stage == LN_RULE_TO_CORE        ? "core"
           : why->stage == LN_RULE_AFTER_EXPAND ? "fuse"
           : why->stage == LN_RULE_TO_ONNX      ? "convert"
                                                : "fold";
}

// Nothing of the root's type was offered to it.
static void print_untried(FILE *out, const ln_why_watch *why)
{
    if (why->stage == LN_RULE_TO_ONNX)
        fprintf(out, "it rewrites models that are written in ONNX: lightnet convert\n");
    else if (why->met_count == 0 && !why->met_in[0])
        fprintf(out,
                "the model has no operator %s, before or after any pass, which its pattern begins "
                "with\n",
                why->root);
    else if (why->met_count == 0)
        fprintf(out,
                "the model has operators %s, which its pattern begins with, after pass %s only; "
                "the rule is for pass %s\n",
                why->root, why->met_in, pass_of(why));
    else
        fprintf(
            out,
            "it was tried at no operator: other rules before it rewrote every %s, or the target "
            "computes it as it is\n",
            why->root);
}

static void print_nearest(FILE *out, const ln_why_watch *why)
{
    fprintf(out, "it was tried %zu time%s, at operators %s\n", why->nearest.tried_count,
            why->nearest.tried_count == 1 ? "" : "s", why->root);
    if (why->nearest.matched_count > 0) {
        fprintf(out, "it matches; its result %s\n",
                why->is_users ? "would run on a later arch of the target, or would not fit between "
                                "the operators around it"
                              : "would not fit between the operators around it");
        return;
    }
    if (why->nearest.progress < 0)
        return;
    fprintf(out, "nearest at '%s' (%s), pass %s: ", why->nearest.op, why->nearest.optype,
            why->nearest_pass[0] ? why->nearest_pass : pass_of(why));
    fprintf(out, "%s\n", why->nearest.reason);
}

static void print_all(FILE *out, const ln_why_watch *why)
{
    fprintf(out, "rule %s [%s] (", why->nearest.rule, why->tag);
    fprintf(out, "%s:%d) ", why->nearest.file, why->nearest.line);
    if (why->fired_count > 0)
        fprintf(out, "has fired %zu time%s\n", why->fired_count, why->fired_count == 1 ? "" : "s");
    else
        fprintf(out, "has not fired%s\n", why->skipped_count ? ", as --skip says" : "");
    fflush(why->out);
    fputs(why->lines ? why->lines : "", out);
    if (why->fired_count + why->skipped_count > MAX_LINES)
        fprintf(out, "  and %zu more\n", why->fired_count + why->skipped_count - MAX_LINES);
    if (why->refused_count > 0) {
        fprintf(out,
                "%zu time%s an operator of its result refused what it was given, first at '%s': ",
                why->refused_count, why->refused_count == 1 ? "" : "s", why->refused_at);
        fprintf(out, "%s\n", why->refused_for);
    } else if (why->fired_count + why->skipped_count > 0) {
        return;
    } else if (why->nearest.tried_count == 0) {
        print_untried(out, why);
    } else {
        print_nearest(out, why);
    }
}

ln_status ln_why_watch_text(const ln_why_watch *why, char **out_text)
{
    *out_text = NULL;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    for (; out && why; why = why->next)
        print_all(out, why);
    if (!out || fclose(out) != 0) {
        free(text);
        return LN_FAIL(LN_NO_MEMORY, "out of memory for --why");
    }
    *out_text = ln_strdup(text);
    free(text);
    return *out_text ? LN_OK : LN_NO_MEMORY;
}
