// SPDX-License-Identifier: Apache-2.0
// The result's operators are made and asked about in a table of tensors of their own, so that
// nothing has to be taken back in the model. Most results are one operator that the first arch
// takes: then its inputs are in the model's table, and no output has to be defined.

#include "pass/taken.h"

#include <lightnet/util.h>

#include "desc/rule_weight.h"
#include "ir/op_life.h"
#include "pass/layout_build.h"
#include "pass/op_args.h"
#include "pass/place.h"
#include "pass/rewrite.h"

static bool is_abstract(const ln_op *op)
{
    return ln_streq(op->op_arg->arch, "none");
}

// What the core has for an operator that no arch of the target computes as it is; NULL: nothing.
static ln_status find_core_rule(const ln_compilation *compilation, const char *optype,
                                const ln_rule **out_rule)
{
    *out_rule = NULL;
    for (size_t i = 0; i < compilation->arch_count; i++)
        if (ln_pass_has_variant(compilation->archs[i], optype))
            return LN_OK;
    const ln_rule *rules;
    size_t count = 0;
    if (compilation->core_rules)
        LN_TRY(ln_rule_set_read_root(compilation->core_rules, optype, &rules, &count));
    for (size_t i = 0; i < count && !*out_rule; i++)
        if (ln_streq(rules[i].pattern[0].optype, optype))
            *out_rule = &rules[i];
    return LN_OK;
}

// The position in the target of the arch that takes the operator; 0 also where it takes another
// form of it, which the pass `layout` makes.
static ln_status find_taker(const ln_compilation *compilation, const ln_op *op, size_t *out_index)
{
    const char *optype = op->op_arg->optype;
    *out_index = 0;
    if (!is_abstract(op) || ln_rule_steps(optype) == 0 ||
        ln_layout_op_find(ln_compilation_host(compilation), optype))
        return LN_OK;
    const ln_rule *rule;
    LN_TRY(find_core_rule(compilation, optype, &rule));
    if (!rule)
        return ln_rewrite_find_taker(compilation, op, out_index);
    while (*out_index < compilation->arch_count &&
           !ln_rewrite_has_result(compilation->archs[*out_index], rule))
        ++*out_index;
    return LN_OK;
}

// ---- What is replaced ----

static ln_status find_last_taker(const ln_compilation *compilation, const ln_match *match,
                                 size_t *out_index)
{
    *out_index = 0;
    for (size_t i = 0; i < match->rule->pattern_count; i++) {
        size_t index;
        if (match->stays[i] || !ln_op_runs(match->ops[i]))
            continue;
        LN_TRY(find_taker(compilation, match->ops[i], &index));
        *out_index = index > *out_index ? index : *out_index;
    }
    return LN_OK;
}

// ---- The result ----

typedef struct result {
    const ln_compilation *compilation;
    const ln_list *ops;
    ln_hash *table; // of the tensors that they read, which are the model's, and make
    size_t last_taker;
    bool is_refused; // an operator refuses its inputs, which the rewrite itself will report
} result;

static ln_status borrow(result *r, const char *tensor)
{
    ln_tensor_entry *entry = ln_tensor_table_find(r->compilation->ctx->tensor_table, tensor);
    while (entry && !ln_tensor_table_find(r->table, entry->name)) {
        if (ln_hash_insert(r->table, entry->name, entry) < 0)
            return ln_error_status();
        entry = ln_tensor_table_find(r->compilation->ctx->tensor_table, entry->owner);
    }
    return LN_OK;
}

static bool is_made(const result *r, const char *tensor)
{
    for (const ln_list *l = r->ops; l; l = l->next)
        if (ln_tensor_list_find_by_name(((const ln_op *)l->data)->op_arg->tensors_out, tensor))
            return true;
    return false;
}

static ln_status borrow_inputs(result *r)
{
    for (const ln_list *l = r->ops; l; l = l->next) {
        ln_op_arg *arg = ((const ln_op *)l->data)->op_arg;
        arg->tensor_table = r->table;
        arg->context = r->compilation->ctx;
        for (const ln_list *in = arg->tensors_in; in; in = in->next) {
            const char *name = ((const ln_tensor_list_entry *)in->data)->name;
            if (!is_made(r, name))
                LN_TRY(borrow(r, name));
        }
    }
    return LN_OK;
}

static ln_status ask_about_all(result *r)
{
    for (const ln_list *l = r->ops; l && !r->is_refused; l = l->next) {
        ln_op *op = l->data;
        size_t index;
        ln_status status = ln_op_pre_run(op);
        r->is_refused = status != LN_OK;
        if (status == LN_NO_MEMORY)
            return status;
        if (r->is_refused || !ln_op_runs(op))
            continue;
        LN_TRY(find_taker(r->compilation, op, &index));
        r->last_taker = index > r->last_taker ? index : r->last_taker;
    }
    return LN_OK;
}

static void end_outputs(const result *r)
{
    for (const ln_list *l = r->ops; l; l = l->next) {
        ln_op *op = l->data;
        if (op->op_arg->is_checked)
            (void)ln_op_post_run(op);
    }
}

static ln_status ask_about_result(result *r)
{
    r->table = ln_tensor_table_create();
    ln_status status = r->table ? borrow_inputs(r) : LN_NO_MEMORY;
    if (status == LN_OK)
        status = ask_about_all(r);
    end_outputs(r);
    ln_hash_free(r->table);
    for (const ln_list *l = r->ops; l; l = l->next)
        ((const ln_op *)l->data)->op_arg->tensor_table = NULL;
    return status;
}

// One operator that the first arch takes; its inputs are tensors of the model.
static ln_status is_taken_first(const result *r, bool *out_is)
{
    const ln_op *op = r->ops->data;
    size_t index;
    *out_is = false;
    if (r->ops->next)
        return LN_OK;
    op->op_arg->context = r->compilation->ctx;
    LN_TRY(find_taker(r->compilation, op, &index));
    *out_is = index == 0;
    return LN_OK;
}

static ln_status compare_takers(result *r, const ln_match *match, bool *out_taken)
{
    LN_TRY(is_taken_first(r, out_taken));
    if (*out_taken)
        return LN_OK;
    LN_TRY(ask_about_result(r));
    *out_taken = r->is_refused || r->last_taker == 0;
    if (*out_taken)
        return LN_OK;
    size_t last_taker;
    LN_TRY(find_last_taker(r->compilation, match, &last_taker));
    *out_taken = r->last_taker <= last_taker;
    return LN_OK;
}

ln_status ln_match_is_taken(const ln_compilation *compilation, const ln_match *match,
                            const ln_list *new_ops, bool *out_taken)
{
    *out_taken = true;
    if (compilation->arch_count == 0 || !new_ops)
        return LN_OK;
    result r = {.compilation = compilation, .ops = new_ops};
    return compare_takers(&r, match, out_taken);
}
