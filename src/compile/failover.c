// SPDX-License-Identifier: Apache-2.0
// Failover: compiling the model for the host as well, and keeping it the same model.

#include "compile/failover.h"

#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/arch.h>
#include <lightnet/msg.h>
#include <lightnet/util.h>

#include "arch/registry.h"
#include "ir/context.h"

// ---- Compiling ----

static bool is_device(const ln_arch *arch)
{
    return arch && (ln_arch_runs_groups(arch) ||
                    (arch->mem_type != LN_MEM_NONE && arch->mem_type != LN_MEM_CPU));
}

static ln_status find_arch(const char *name, size_t len, const ln_arch **out_arch)
{
    char word[64];
    *out_arch = NULL;
    if (len >= sizeof word)
        return LN_OK; // compiling refuses it
    memcpy(word, name, len);
    word[len] = '\0';
    LN_TRY(ln_arch_need_numbered(word));
    *out_arch = ln_arch_find(word);
    return LN_OK;
}

// *out_host is `target` without devices; NULL if it has none.
static ln_status list_host(const char *target, char **out_host)
{
    bool has_device = false;
    char *host = ln_alloc(strlen(target) + 1), *end = host;
    *out_host = NULL;
    if (!host)
        return LN_NO_MEMORY;
    for (const char *name = target; *name;) {
        size_t len = strcspn(name, ",");
        const ln_arch *arch;
        ln_status status = find_arch(name, len, &arch);
        if (status != LN_OK) {
            ln_free(host);
            return status;
        }
        if (is_device(arch)) {
            has_device = true;
        } else {
            if (end != host)
                *end++ = ',';
            memcpy(end, name, len);
            end += len;
        }
        name += len + (name[len] == ',');
    }
    *end = '\0';
    if (has_device)
        *out_host = host;
    else
        ln_free(host);
    return LN_OK;
}

// What is written in a run would be there twice.
static ln_status check_writes(const ln_context *ctx)
{
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops)
        if (ln_op_is_type(op->op_arg, "print") || ln_op_is_type(op->op_arg, "fprint"))
            return LN_FAIL(LN_UNSUPPORTED,
                           "operator '%s' (%s) writes in a run, which failover would do twice; "
                           "compile the model without failover, or without the operator",
                           op->op_arg->name, op->op_arg->optype);
    size_t cursor = 0;
    void *graph;
    while (ctx->graphs && ln_hash_next(ctx->graphs, &cursor, NULL, &graph))
        LN_TRY(check_writes(graph));
    return LN_OK;
}

static ln_status compile_clone(const ln_context *ctx, const char *target,
                               const ln_optimize_options *options, ln_context **out_failover)
{
    const ln_optimize_options defaults = ln_optimize_options_default();
    ln_optimize_options quiet = *options;
    quiet.fails_over = 0;
    quiet.skip_count = 0;
    quiet.firing_limit = defaults.firing_limit;
    quiet.wants_firing = NULL;
    quiet.on_firing = NULL;
    quiet.on_pass = NULL;
    quiet.on_offload = NULL;
    ln_context *failover;
    LN_TRY(ln_context_clone(ctx, &failover));
    ln_status status = ln_context_compile_with(failover, target, &quiet);
    if (status == LN_OK) {
        *out_failover = failover;
        return LN_OK;
    }
    ln_context_free(failover);
    return ln_fail_prefix("failover to '%s'", target);
}

ln_status ln_failover_compile(const ln_context *ctx, const char *target,
                              const ln_optimize_options *options, ln_context **out_failover)
{
    char *host;
    *out_failover = NULL;
    if (!options || !options->fails_over || ctx->outer || !target)
        return LN_OK;
    LN_TRY(list_host(target, &host));
    if (!host)
        return LN_OK;
    ln_status status = check_writes(ctx);
    if (status == LN_OK)
        status = *host ? compile_clone(ctx, host, options, out_failover)
                       : LN_FAIL(LN_INVALID,
                                 "target '%s' has no arch of the host for failover; add one, such "
                                 "as '%s,cpu'",
                                 target, target);
    ln_free(host);
    return status;
}

// Of dynamic inputs only the plan for a shape says.
static bool may_use_device(const ln_context *ctx)
{
    const ln_op *op;
    for (size_t i = 0; ln_context_input(ctx, i); i++)
        if (ln_context_input_is_open(ctx, i))
            return ctx->plans != NULL;
    LN_LIST_FOREACH (op, ctx->ops)
        if (is_device(ln_arch_find(op->op_arg->arch)))
            return true;
    return false;
}

static size_t peak_of(const ln_context *ctx)
{
    size_t range = ln_context_range_peak_bytes(ctx, LN_MEM_CPU);
    return range > 0 ? range : ctx->mem_sizes[LN_MEM_CPU];
}

ln_status ln_failover_attach(ln_context *ctx, ln_context *failover)
{
    if (!failover)
        return LN_OK;
    size_t own = peak_of(ctx), more = peak_of(failover), limit = ctx->limits.memory_byte_count;
    if (!may_use_device(ctx) || own > limit || more > limit - own) {
        bool is_needed = may_use_device(ctx);
        ln_context_free(failover);
        return is_needed ? LN_FAIL(LN_LIMIT,
                                   "the model needs %zu bytes, and %zu more for failover, the "
                                   "limit is %zu",
                                   own, more, limit)
                         : LN_OK;
    }
    ctx->failover = failover;
    ctx->has_stale_failover = false;
    return LN_OK;
}

// ---- Running ----

bool ln_failover_is_due(const ln_context *ctx)
{
    return ctx->failover && !ctx->has_stale_failover && ln_error_is_of_device();
}

void ln_failover_begin(ln_error_state *out_reason)
{
    ln_error_save(out_reason);
    ln_msg_info("a device has failed, the run is done again on the host: %s", out_reason->message);
}

ln_status ln_failover_end(const ln_error_state *reason, ln_status status)
{
    return status == LN_OK || status == LN_TIMEOUT || status == LN_CANCELLED
               ? status
               : ln_fail_prefix("failover after the failure of a device (%.1000s)",
                                reason->message);
}

void ln_failover_limit(ln_limits *limits, double work_left, size_t used_byte_count)
{
    size_t most = limits->memory_byte_count;
    limits->work = work_left > 0 ? work_left : 0;
    limits->memory_byte_count = most > used_byte_count ? most - used_byte_count : 0;
}

// ---- Changes ----

ln_status ln_failover_set_data(ln_context *ctx, const char *tname, const void *data)
{
    ln_context *failover = ctx->failover;
    if (!failover)
        return LN_OK;
    if (!ln_tensor_table_find(failover->tensor_table, tname))
        return LN_FAIL(LN_STATE,
                       "tensor '%s' is no more in the model that runs fail over to; set it before "
                       "compiling, or compile without failover",
                       tname);
    ln_status status = ln_context_set_data(failover, tname, data);
    return status == LN_OK ? LN_OK : ln_fail_prefix("failover");
}

// ---- Asking ----

const ln_context *ln_context_failover(const ln_context *ctx)
{
    return ctx ? ctx->failover : NULL;
}

size_t ln_context_failover_count(const ln_context *ctx)
{
    return ctx ? ctx->failover_count : 0;
}
