// SPDX-License-Identifier: Apache-2.0
// The pipeline as a table: what happens to a model between reading and memory planning.

#include "pass/pass.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/spelling.h>
#include <lightnet/util.h>

#include "arch/device.h"
#include "arch/registry.h"
#include "base/sized.h"
#include "desc/rule.h"
#include "ir/phase.h"
#include "ir/use.h"
#include "pass/ends.h"
#include "pass/firing.h"
#include "pass/rule_file.h"

extern const ln_rule_set ln_rules_core;    // src/op: from_*.rules
extern const ln_rule_set ln_rules_general; // rules/*.rules

static const ln_pass passes[] = {
    // First, so that nothing is done for what is not needed.
    {"dead", "known values become constants, and what nobody needs goes", ln_pass_dead, false},
    // What rules, layout and archs see from here on: one way to say each thing.
    {"core", "operators of LightNet's and ONNX's lists become those of the core", ln_pass_core,
     true},
    // Before the rules, which join operators on floats.
    {"widen", "halves are computed as floats, for archs that are faster so", ln_pass_widen, false},
    // Before lowering, so that one rule serves every arch.
    {"fold", "the general rules: remove, merge and fold operators (rules/*.rules)", ln_pass_fold,
     false},
    // Before layout and lowering, which are for the host.
    {"place", "groups of operators for devices, and copies between memories", ln_pass_place, false},
    {"layout", "convolution stacks on channels-last images, for archs that are fastest so",
     ln_pass_layout, false},
    // The same rules again: transposes that meet, and what follows a channels-last operator.
    {"settle", "the general rules on what the layout made", ln_pass_fold, false},
    {"join", "parts of a concat of channels are written in place", ln_pass_join, false},
    {"tune", "algorithms by measuring, where that was asked for", ln_pass_tune, false},
    // Everything after this sees operators of the target's archs only.
    {"expand", "lower each operator to the first arch that takes it", ln_pass_expand, true},
    {"fuse", "the rules for lowered operators (after expand)", ln_pass_fuse, false},
    {"combine", "the archs' combiner functions, over neighbours in the list", ln_pass_combine,
     false},
    {"subgraph", "the archs' subgraph functions, over the data flow graph", ln_pass_subgraph,
     false},
    {"scratch", "operators list the memory that they work in", ln_pass_scratch, true},
    // Last, because they only order what the others made.
    {"schedule", "the archs' schedule functions, and work of the host while devices compute",
     ln_pass_schedule, false},
    {"order", "the order of execution that needs the least memory", ln_pass_order, false},
    {NULL, NULL, NULL, false},
};

static const ln_optimize_options default_options = {.firing_limit = SIZE_MAX};

void ln_optimize_options_init(ln_optimize_options *out_options, size_t byte_count)
{
    ln_sized_write(out_options, byte_count, &default_options, sizeof default_options);
}

// For programs that were linked before the structure's size came along.
ln_optimize_options(ln_optimize_options_default)(void)
{
    return default_options;
}

ln_status ln_optimize_options_read(const ln_optimize_options *options, size_t byte_count,
                                   ln_optimize_options *out_options)
{
    *out_options = default_options;
    size_t least = LN_SIZE_UP_TO(ln_optimize_options, passes);
    if (!options)
        return LN_OK;
    return ln_sized_read(out_options, sizeof *out_options, options, byte_count, least,
                         "ln_optimize_options");
}

// ---- The archs of a target ----

static ln_status fail_unknown_arch(const char *name, size_t len)
{
    char word[64], known[256] = "";
    size_t used = 0;
    snprintf(word, sizeof word, "%.*s", (int)(len < sizeof word ? len : sizeof word - 1), name);
    ln_nearest nearest = ln_nearest_to(word);
    const ln_arch *arch;
    for (size_t i = 0; (arch = ln_arch_find_at(i)) && used < sizeof known; i++) {
        if (!arch->rules && !arch->ep_funcs && !arch->core_ops)
            continue; // computes nothing
        ln_nearest_try(&nearest, arch->arch_name);
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "",
                                 arch->arch_name);
    }
    return LN_FAIL(
        LN_NOT_FOUND, "target '%s' is not an arch of this library; there are: %s%s%s%s%s", word,
        known, nearest.name ? "; did you mean '" : "", nearest.name ? nearest.name : "",
        nearest.name ? "'?" : "", strpbrk(word, " ;+|") ? "; several are joined by commas" : "");
}

static int has_arch(const ln_compilation *compilation, const ln_arch *arch)
{
    for (size_t i = 0; i < compilation->arch_count; i++) {
        if (compilation->archs[i] == arch)
            return 1;
    }
    return 0;
}

// Takes *use, which keeps the arch registered.
static ln_status add_arch(ln_compilation *compilation, ln_arch *arch, ln_use **use)
{
    if (compilation->arch_count == LN_MAX_ARCHS)
        return LN_FAIL(LN_LIMIT, "a target has at most %d archs", LN_MAX_ARCHS);
    compilation->arch_uses[compilation->arch_count] = *use;
    compilation->archs[compilation->arch_count++] = arch;
    *use = NULL;
    return LN_OK;
}

// Adds the archs of a comma-separated list that are not there yet.
static ln_status add_archs(ln_compilation *compilation, const char *names, int must_exist)
{
    for (const char *name = names; name && *name;) {
        size_t len = strcspn(name, ",");
        char buffer[64];
        ln_arch *arch = NULL;
        ln_use *use = NULL;
        if (len < sizeof buffer) {
            memcpy(buffer, name, len);
            buffer[len] = '\0';
            LN_TRY(ln_arch_need_numbered(buffer));
            use = ln_use_hold(LN_USE_ARCH, buffer);
            arch = use ? ln_arch_find(buffer) : NULL;
        }
        ln_status status = LN_OK;
        if (!arch && must_exist)
            status = fail_unknown_arch(name, len);
        else if (arch && !has_arch(compilation, arch))
            status = add_arch(compilation, arch, &use);
        ln_use_drop(use);
        LN_TRY(status);
        name += len;
        if (*name != ',')
            continue;
        name++;
        if (!*name && must_exist)
            return LN_FAIL(LN_INVALID, "target '%.200s' ends with a comma; write '%.*s'", names,
                           (int)(name - 1 - names), names);
    }
    return LN_OK;
}

static ln_status open_own_rules(ln_compilation *compilation)
{
    LN_TRY(ln_rule_set_open(&ln_rules_core, &compilation->core_rules));
    LN_TRY(ln_rule_set_open(&ln_rules_general, &compilation->general_rules));
    for (size_t i = 0; i < compilation->arch_count; i++) {
        const ln_rule_set *rules = compilation->archs[i]->rules;
        if (rules && rules->texts)
            LN_TRY(ln_rule_set_open(rules, &compilation->own_arch_rules[i]));
        compilation->arch_rules[i] = rules && rules->texts ? compilation->own_arch_rules[i] : rules;
    }
    return LN_OK;
}

static ln_status check_as_read(const ln_compilation *compilation, const char *target)
{
    if (compilation->arch_count != 1 || !compilation->archs[0]->is_reference)
        return LN_FAIL(LN_INVALID, "the model as it was read runs on \"ref\", not on \"%s\"",
                       target);
    if (compilation->options->rule_file_count > 0)
        return LN_FAIL(LN_INVALID, "the model as it was read takes no rules, and %s has some",
                       compilation->options->rule_files[0]);
    return LN_OK;
}

ln_status ln_compilation_init(ln_compilation *compilation, ln_context *ctx, const char *target,
                              const ln_optimize_options *options)
{
    *compilation = (ln_compilation){
        .ctx = ctx, .options = options, .is_as_read = options && options->stays_as_read};
    if (!target || !target[0])
        return LN_FAIL(LN_INVALID, "the target is empty; name an arch, such as \"cpu\"");
    LN_TRY(add_archs(compilation, target, 1));
    // The list grows while it is read: fallbacks may have fallbacks.
    for (size_t i = 0; i < compilation->arch_count; i++)
        LN_TRY(add_archs(compilation, compilation->archs[i]->fallbacks, 0));
    for (size_t i = 0; i < compilation->arch_count; i++)
        LN_TRY(ln_arch_need_device(ctx, compilation->archs[i]));
    if (compilation->is_as_read)
        LN_TRY(check_as_read(compilation, target));
    LN_TRY(open_own_rules(compilation));
    if (!options || options->rule_file_count == 0)
        return LN_OK;
    return ln_rule_files_read(options->rule_files, options->rule_file_count,
                              &compilation->rule_sets);
}

void ln_compilation_deinit(ln_compilation *compilation)
{
    ln_rule_files_destroy(compilation->rule_sets);
    ln_rule_set_destroy(compilation->core_rules);
    ln_rule_set_destroy(compilation->general_rules);
    for (size_t i = 0; i < compilation->arch_count; i++)
        ln_rule_set_destroy(compilation->own_arch_rules[i]);
    for (size_t i = 0; i < compilation->arch_count; i++)
        ln_use_drop(compilation->arch_uses[i]);
    ln_hash_free(compilation->left_out);
}

// ---- Running ----

// 1 if the comma-separated `names` contain `name`.
static int is_named(const char *names, const char *name)
{
    size_t name_len = strlen(name);
    while (names && *names) {
        size_t len = strcspn(names, ",");
        if (len == name_len && strncmp(names, name, len) == 0)
            return 1;
        names += len;
        if (*names == ',')
            names++;
    }
    return 0;
}

static ln_status fail_unknown_pass(const char *name, size_t len)
{
    char word[64], known[256] = "";
    size_t used = 0;
    snprintf(word, sizeof word, "%.*s", (int)(len < sizeof word ? len : sizeof word - 1), name);
    ln_nearest nearest = ln_nearest_to(word);
    for (const ln_pass *pass = passes; pass->name && used < sizeof known; pass++) {
        ln_nearest_try(&nearest, pass->name);
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "",
                                 pass->name);
    }
    return LN_FAIL(LN_NOT_FOUND, "there is no pass '%s'; there are: %s%s%s%s", word, known,
                   nearest.name ? "; did you mean '" : "", nearest.name ? nearest.name : "",
                   nearest.name ? "'?" : "");
}

static ln_status check_names(const char *names)
{
    while (names && *names) {
        size_t len = strcspn(names, ",");
        const ln_pass *pass = passes;
        while (pass->name && !(strlen(pass->name) == len && strncmp(pass->name, names, len) == 0))
            pass++;
        if (!pass->name)
            return fail_unknown_pass(names, len);
        names += len;
        if (*names == ',')
            names++;
    }
    return LN_OK;
}

static ln_status run_pass(ln_compilation *compilation, const ln_pass *pass)
{
    const ln_optimize_options *options = compilation->options;
    compilation->pass = pass;
    compilation->is_rechecked = false; // what an earlier pass has checked, this one may change
    double start = ln_clock();
    ln_status status = pass->run(compilation);
    if (status != LN_OK) {
        (void)ln_fail_prefix("pass '%s'", pass->name);
        return status;
    }
    LN_TRY(ln_phase_check(compilation->ctx, NULL));
    if (!options || !options->on_pass)
        return LN_OK;
    return options->on_pass(options->user, pass->name, ln_clock() - start, compilation->ctx);
}

// Archs compute the core, so `expand` brings `core` with it.
static bool is_wanted(const ln_compilation *compilation, const char *names, const ln_pass *pass)
{
    if (compilation->is_as_read && !pass->is_needed)
        return false;
    return !names || is_named(names, pass->name) ||
           (pass->run == ln_pass_core && is_named(names, "expand"));
}

ln_status ln_passes_run(ln_compilation *compilation)
{
    const char *names = compilation->options ? compilation->options->passes : NULL;
    const char *last = compilation->options ? compilation->options->stop_after : NULL;
    LN_TRY(check_names(names));
    LN_TRY(check_names(last));
    ln_ends_order order;
    ln_status status = ln_ends_order_init(&order, compilation);
    for (const ln_pass *pass = passes; pass->name && status == LN_OK; pass++) {
        if (is_wanted(compilation, names, pass))
            status = run_pass(compilation, pass);
        if (last && is_named(last, pass->name))
            break;
    }
    if (status == LN_OK)
        status = ln_ends_order_restore(&order, compilation->ctx);
    ln_ends_order_deinit(&order);
    return status == LN_OK ? ln_firing_check_skipped(compilation) : status;
}

void ln_pass_free_refused(const ln_context *ctx, ln_list *new_ops)
{
    for (ln_list *l = new_ops; l; l = l->next) {
        ln_op *op = l->data;
        if (op && !ln_list_find(ctx->ops, op))
            ln_op_free_lists_too(op);
    }
    ln_list_free(new_ops);
}
