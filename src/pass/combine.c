// SPDX-License-Identifier: Apache-2.0
// The archs' combiner functions: a window of neighbours slides over the operator list, again and
// again until nothing matches.
//
// A combiner that keeps matching for ever is stopped: each match should leave less to combine, so
// more matches than operators (with room for those it makes) is a defect of the function.

#include "pass/pass.h"

#define WINDOW 2

static ln_status combine_at(ln_compilation *compilation, ln_combiner_func combiner,
                            ln_list **position, int *out_matched)
{
    ln_context *ctx = compilation->ctx;
    *out_matched = 0;
    ln_error_clear();
    ln_list *new_ops = combiner(ctx, *position, WINDOW, out_matched);
    if (!*out_matched)
        return LN_OK;
    if (!new_ops && ln_error_status() == LN_NO_MEMORY)
        return LN_NO_MEMORY;
    ln_status status = ln_context_replace_ops(ctx, position, WINDOW, new_ops);
    if (status != LN_OK)
        ln_pass_free_refused(ctx, new_ops);
    return status;
}

static ln_status sweep(ln_compilation *compilation, ln_combiner_func combiner, size_t limit,
                       size_t *match_count)
{
    ln_list *position = compilation->ctx->ops;
    while (position && position->next) {
        int matched;
        LN_TRY(combine_at(compilation, combiner, &position, &matched));
        if (matched) {
            compilation->firing_count++;
            if (++*match_count > limit)
                return LN_FAIL(LN_LIMIT,
                               "a combiner function matched %zu times and does not come to an end",
                               *match_count);
        }
        if (position)
            position = position->next;
    }
    return LN_OK;
}

static ln_status combine_with(ln_compilation *compilation, ln_combiner_func combiner)
{
    size_t limit = 100 + 10 * (size_t)ln_list_length(compilation->ctx->ops);
    size_t match_count = 0, before;
    do {
        before = match_count;
        LN_TRY(sweep(compilation, combiner, limit, &match_count));
    } while (match_count > before);
    return LN_OK;
}

ln_status ln_pass_combine(ln_compilation *compilation)
{
    for (size_t i = 0; i < compilation->arch_count; i++) {
        ln_combiner_func *combiner = compilation->archs[i]->cb_funcs;
        for (; combiner && *combiner; combiner++)
            LN_TRY(combine_with(compilation, *combiner));
    }
    return LN_OK;
}
