// SPDX-License-Identifier: Apache-2.0
// Numbering firings, and leaving some out.
//
// What is skipped or refused has to be remembered, since rules are tried until none fires: the key
// is the rule and the operator, by their names, since both may be asked about again in a later
// walk.

#include "pass/firing.h"

#include <stdio.h>

#include <lightnet/allocator.h>
#include <lightnet/msg.h>
#include <lightnet/util.h>

#include "base/name_hash.h"

static ln_firing name_firing(const ln_op *op, ln_firing_names *names)
{
    const ln_op_arg *arg = op ? op->op_arg : NULL; // what an arch's function returns may be NULL
    snprintf(names->op, sizeof names->op, "%s", arg && arg->name ? arg->name : "");
    snprintf(names->optype, sizeof names->optype, "%s", arg && arg->optype ? arg->optype : "");
    return (ln_firing){.rule = names->rule, .op = names->op, .optype = names->optype};
}

ln_firing ln_firing_of_rule(const ln_rule_set *set, const char *rule, ln_rule_tag tag, int line,
                            const ln_op *op, ln_firing_names *names)
{
    snprintf(names->rule, sizeof names->rule, "%s", rule);
    ln_firing firing = name_firing(op, names);
    firing.tag = ln_rule_tag_name(tag);
    firing.file = set->file;
    firing.line = line;
    return firing;
}

ln_firing ln_firing_of_function(const ln_arch *arch, const char *kind, size_t index,
                                const ln_op *op, ln_firing_names *names)
{
    snprintf(names->rule, sizeof names->rule, "%s %zu of %s", kind, index, arch->arch_name);
    return name_firing(op, names);
}

ln_firing ln_firing_of_pass(const char *rule, const char *tag, const ln_op *op,
                            ln_firing_names *names)
{
    snprintf(names->rule, sizeof names->rule, "%s", rule);
    ln_firing firing = name_firing(op, names);
    firing.tag = tag;
    return firing;
}

// "FILE:LINE RULE OP": a rule's name alone is unique in its file only. The caller frees it.
static char *key_of(const ln_firing *firing)
{
    char rule[LN_MAX_NAME_LEN + 256];
    snprintf(rule, sizeof rule, "%s:%d %s", firing->file ? firing->file : "", firing->line,
             firing->rule);
    return ln_strcat_delim_alloc(rule, firing->op, ' ');
}

static ln_status find_left_out(const ln_compilation *compilation, const ln_firing *firing,
                               bool *out_found)
{
    *out_found = false;
    if (!compilation->left_out)
        return LN_OK;
    char *key = key_of(firing);
    if (!key)
        return LN_NO_MEMORY;
    *out_found = ln_hash_find(compilation->left_out, key) != NULL;
    ln_free(key);
    return LN_OK;
}

static ln_status remember_left_out(ln_compilation *compilation, const ln_firing *firing)
{
    if (!compilation->left_out)
        compilation->left_out = ln_hash_create(ln_name_hash, ln_str_cmp, ln_free, NULL);
    char *key = compilation->left_out ? key_of(firing) : NULL;
    if (!key)
        return LN_NO_MEMORY;
    if (ln_hash_insert(compilation->left_out, key, compilation) < 0) {
        ln_free(key);
        return LN_NO_MEMORY;
    }
    return LN_OK;
}

static bool is_to_skip(const ln_optimize_options *options, const ln_firing *firing)
{
    for (size_t i = 0; i < options->skip_count; i++)
        if (options->skip[i] == firing->number)
            return true;
    return options->wants_firing && !options->wants_firing(options->user, firing);
}

// ---- At other shapes ----

void ln_skips_deinit(ln_skips *skips)
{
    ln_hash_free(skips->names);
    *skips = (ln_skips){0};
}

static ln_context *whole_of(ln_context *ctx)
{
    while (ctx->outer)
        ctx = ctx->outer;
    return ctx;
}

// The graph inside a model that is being rewritten; NULL: the model itself.
static const char *graph_name(const ln_compilation *compilation)
{
    const ln_context *whole = whole_of(compilation->ctx);
    size_t cursor = 0;
    const void *name;
    void *graph;
    while (compilation->ctx != whole && ln_hash_next(whole->graphs, &cursor, &name, &graph))
        if (graph == compilation->ctx)
            return name;
    return NULL;
}

// "GRAPH FILE:LINE RULE OP": operators of two graphs may have the same name. The caller frees it.
static char *key_in_model(const ln_compilation *compilation, const ln_firing *firing)
{
    const char *name = graph_name(compilation);
    char *rest = key_of(firing);
    char *key = rest ? ln_strcat_delim_alloc(name ? name : "", rest, ' ') : NULL;
    ln_free(rest);
    return key;
}

// Whether what other shapes leave out names the firing, or notes it if it `is_skipped`.
static ln_status ask_skips(const ln_compilation *compilation, const ln_firing *firing,
                           bool *is_skipped)
{
    ln_skips *skips = whole_of(compilation->ctx)->skips;
    if (!skips || skips->is_noting != *is_skipped || (!skips->is_noting && !skips->names))
        return LN_OK;
    if (!skips->names)
        skips->names = ln_hash_create(ln_name_hash, ln_str_cmp, ln_free, NULL);
    char *key = skips->names ? key_in_model(compilation, firing) : NULL;
    if (!key)
        return LN_NO_MEMORY;
    *is_skipped = *is_skipped || ln_hash_find(skips->names, key) != NULL;
    if (skips->is_noting && ln_hash_insert(skips->names, key, skips) >= 0)
        return LN_OK;
    ln_free(key);
    return skips->is_noting ? LN_NO_MEMORY : LN_OK;
}

// ---- Deciding ----

static void tell(const ln_compilation *compilation, const ln_firing *firing)
{
    ln_msg_debug("firing %zu: %s at '%s'%s%s", firing->number, firing->rule, firing->op,
                 firing->is_skipped   ? " is skipped"
                 : firing->is_failed  ? " fails"
                 : firing->is_refused ? " is refused: "
                                      : "",
                 firing->reason ? firing->reason : "");
    if (compilation->options && compilation->options->on_firing)
        compilation->options->on_firing(compilation->options->user, firing);
}

ln_status ln_firing_decide(ln_compilation *compilation, ln_firing *firing, bool *out_fires)
{
    const ln_optimize_options *options = compilation->options;
    bool was_skipped;
    *out_fires = false;
    if (!compilation->is_forced) {
        LN_TRY(find_left_out(compilation, firing, &was_skipped));
        if (was_skipped)
            return LN_OK;
    }
    firing->pass = compilation->pass ? compilation->pass->name : "";
    firing->number = ++compilation->firing_count;
    firing->graph = graph_name(compilation);
    *out_fires = true;
    if (!options || compilation->is_forced)
        return LN_OK;

    bool is_over_limit = firing->number > options->firing_limit;
    bool is_skipped = !is_over_limit && is_to_skip(options, firing);
    if (!is_over_limit)
        LN_TRY(ask_skips(compilation, firing, &is_skipped));
    if (!is_over_limit && !is_skipped)
        return LN_OK;
    *out_fires = false;
    firing->is_skipped = 1;
    if (is_over_limit)
        compilation->has_reached_limit = true;
    else
        compilation->last_skipped = firing->number;
    LN_TRY(remember_left_out(compilation, firing));
    tell(compilation, firing);
    return LN_OK;
}

ln_status ln_firing_done(ln_compilation *compilation, ln_firing *firing, ln_status status)
{
    if (status != LN_OK) {
        firing->is_failed = 1;
        compilation->firing_count--;
    }
    tell(compilation, firing);
    return status;
}

ln_status ln_firing_refuse(ln_compilation *compilation, ln_firing *firing)
{
    firing->is_refused = 1;
    firing->reason = ln_error_message();
    tell(compilation, firing);
    firing->reason = NULL;
    return compilation->is_forced ? LN_OK : remember_left_out(compilation, firing);
}

ln_status ln_firing_check_skipped(const ln_compilation *compilation)
{
    const ln_optimize_options *options = compilation->options;
    ln_skips *skips = whole_of(compilation->ctx)->skips;
    size_t count = compilation->firing_count;
    if (skips && skips->graph_firing_count > count)
        count = skips->graph_firing_count;
    if (compilation->ctx->outer) {
        if (skips)
            skips->graph_firing_count = count;
        return LN_OK;
    }
    for (size_t i = 0; options && i < options->skip_count; i++) {
        size_t number = options->skip[i];
        if (number == 0 || number > count)
            return LN_FAIL(LN_NOT_FOUND,
                           "there is no firing %zu to skip: there were %zu, numbered from 1",
                           number, count);
    }
    return LN_OK;
}
