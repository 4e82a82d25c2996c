// SPDX-License-Identifier: Apache-2.0
// Exchanging the contents of two contexts, field by field.

#include "compile/exchange.h"

#include <stddef.h>
#include <string.h>

#include "ir/context.h"

static void own_ops(ln_context *ctx)
{
    ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops)
        op->op_arg->context = ctx;
    size_t cursor = 0;
    void *graph;
    while (ctx->graphs && ln_hash_next(ctx->graphs, &cursor, NULL, &graph)) {
        ((ln_context *)graph)->outer = ctx;
        ((ln_context *)graph)->pool = ctx->pool;
    }
}

// Every field of a context: OF_MODEL is exchanged with the plan, OF_CALLER stays where it is, being
// what the program set or what a call is doing.
#define FIELDS(OF_MODEL, OF_CALLER)                                                                \
    OF_MODEL(tensor_table)                                                                         \
    OF_MODEL(op_table)                                                                             \
    OF_MODEL(dfg)                                                                                  \
    OF_MODEL(ops)                                                                                  \
    OF_MODEL(mem_starts)                                                                           \
    OF_MODEL(mem_sizes)                                                                            \
    OF_MODEL(static_sizes)                                                                         \
    OF_MODEL(state)                                                                                \
    OF_CALLER(limits)                                                                              \
    OF_MODEL(source)                                                                               \
    OF_MODEL(target)                                                                               \
    OF_MODEL(runner)                                                                               \
    OF_MODEL(compiled)                                                                             \
    OF_MODEL(ops_last)                                                                             \
    OF_MODEL(memory)                                                                               \
    OF_MODEL(static_memory)                                                                        \
    OF_MODEL(retired)                                                                              \
    OF_MODEL(bound)                                                                                \
    OF_MODEL(has_input)                                                                            \
    OF_MODEL(has_output)                                                                           \
    OF_MODEL(attached)                                                                             \
    OF_MODEL(graphs)                                                                               \
    OF_MODEL(outer)                                                                                \
    OF_MODEL(meter)                                                                                \
    OF_MODEL(known_meter)                                                                          \
    OF_MODEL(is_known_short)                                                                       \
    OF_CALLER(work_left)                                                                           \
    OF_MODEL(running_graphs)                                                                       \
    OF_CALLER(plans)                                                                               \
    OF_MODEL(datafile)                                                                             \
    OF_CALLER(pool)                                                                                \
    OF_CALLER(thread_count)                                                                        \
    OF_MODEL(ends)                                                                                 \
    OF_MODEL(load_sizes)                                                                           \
    OF_MODEL(weights)                                                                              \
    OF_CALLER(observer)                                                                            \
    OF_CALLER(is_strict)                                                                           \
    OF_MODEL(scratch)                                                                              \
    OF_MODEL(scratch_byte_count)                                                                   \
    OF_CALLER(writes)                                                                              \
    OF_MODEL(is_storing)                                                                           \
    OF_CALLER(timeout)                                                                             \
    OF_CALLER(work_limit)                                                                          \
    OF_CALLER(start_ns)                                                                            \
    OF_CALLER(phase)                                                                               \
    OF_MODEL(constants_version)                                                                    \
    OF_MODEL(plan_reuse)                                                                           \
    OF_MODEL(is_random)                                                                            \
    OF_MODEL(weights_from)                                                                         \
    OF_CALLER(work_done)                                                                           \
    OF_MODEL(params_version)                                                                       \
    OF_CALLER(cancel)                                                                              \
    OF_MODEL(constants)                                                                            \
    OF_CALLER(range)                                                                               \
    OF_MODEL(envelope)                                                                             \
    OF_CALLER(info)                                                                                \
    OF_CALLER(files)                                                                               \
    OF_CALLER(folder)                                                                              \
    OF_MODEL(judged)                                                                               \
    OF_MODEL(uses)                                                                                 \
    OF_CALLER(skips)                                                                               \
    OF_CALLER(devices)                                                                             \
    OF_CALLER(failover)                                                                            \
    OF_CALLER(has_stale_failover)                                                                  \
    OF_CALLER(failover_count)                                                                      \
    OF_CALLER(progress)                                                                            \
    OF_CALLER(priority)                                                                            \
    OF_CALLER(had_missing)

// The list has all fields, in their order: else a field of this structure and its namesake are at
// different offsets, or the sizes differ.
typedef struct listed_fields {
#define LISTED(field) __typeof__(((ln_context *)0)->field) field;
    FIELDS(LISTED, LISTED)
#undef LISTED
} listed_fields;
_Static_assert(sizeof(listed_fields) == sizeof(ln_context), "FIELDS lacks a field of ln_context");
#define LISTED(field)                                                                              \
    _Static_assert(offsetof(listed_fields, field) == offsetof(ln_context, field),                  \
                   "FIELDS lacks a field of ln_context before " #field);
FIELDS(LISTED, LISTED)
#undef LISTED

void ln_context_exchange(ln_context *a, ln_context *b)
{
    const ln_context of_a = *a, of_b = *b;
    *a = of_b;
    *b = of_a;
#define EXCHANGED(field)
#define STAYS(field)                                                                               \
    memcpy(&a->field, &of_a.field, sizeof a->field);                                               \
    memcpy(&b->field, &of_b.field, sizeof b->field);
    FIELDS(EXCHANGED, STAYS)
#undef EXCHANGED
#undef STAYS
    own_ops(a);
    own_ops(b);
}
