// SPDX-License-Identifier: Apache-2.0
// Loading a plan beside others: constants that an earlier one has are where they are, and the
// workspace is there only as long as addresses in it are looked for.

#include "compile/instance.h"

#include <lightnet/allocator.h>

#include "compile/threads.h"
#include "ir/context.h"
#include "ir/writes.h"

struct ln_instance_constants {
    atomic_size_t holder_count;
    _Atomic(ln_shared_constants *) latest; // NULL: none yet
};

static void shared_destroy(ln_shared_constants *s)
{
    ln_constants_destroy(s->constants);
    ln_memory_leave(s->statics);
    ln_memory_release(s->statics);
    ln_free(s);
}

ln_status ln_instance_constants_create(ln_instance_constants **out_shared)
{
    ln_instance_constants *shared = *out_shared = ln_alloc(sizeof *shared);
    if (!shared)
        return LN_NO_MEMORY;
    atomic_init(&shared->holder_count, 1);
    atomic_init(&shared->latest, NULL);
    return LN_OK;
}

ln_instance_constants *ln_instance_constants_retain(ln_instance_constants *shared)
{
    if (shared)
        atomic_fetch_add_explicit(&shared->holder_count, 1, memory_order_relaxed);
    return shared;
}

void ln_instance_constants_release(ln_instance_constants *shared)
{
    if (!shared || atomic_fetch_sub_explicit(&shared->holder_count, 1, memory_order_acq_rel) != 1)
        return;
    ln_shared_constants *s = atomic_load(&shared->latest), *earlier;
    for (; s; s = earlier) {
        earlier = s->earlier;
        shared_destroy(s);
    }
    ln_free(shared);
}

ln_constants *ln_instance_constants_latest(ln_instance_constants *shared)
{
    const ln_shared_constants *s = shared ? atomic_load(&shared->latest) : NULL;
    return s ? s->constants : NULL;
}

// Where these, of any moment, are.
static ln_memory *find_statics(ln_instance_constants *shared, const ln_constants *constants)
{
    const ln_shared_constants *s = shared ? atomic_load(&shared->latest) : NULL;
    while (s && s->constants != constants)
        s = s->earlier;
    return s ? s->statics : NULL;
}

// Takes `constants`, of `ctx`, over. *out_has_joined: `earlier` was the latest until now.
static ln_status put(ln_instance_constants *shared, ln_shared_constants *earlier,
                     ln_constants *constants, const ln_context *ctx, bool *out_has_joined)
{
    ln_shared_constants *s = ln_alloc(sizeof *s), *expected = earlier;
    if (!s) {
        ln_constants_destroy(constants);
        return LN_NO_MEMORY;
    }
    *s = (ln_shared_constants){constants, ln_memory_retain(ctx->static_memory), earlier};
    ln_memory_join(s->statics);
    *out_has_joined = atomic_compare_exchange_strong(&shared->latest, &expected, s);
    if (!*out_has_joined)
        shared_destroy(s);
    return LN_OK;
}

// Says where the memory of the plan is while it is loaded.
typedef struct loading {
    struct ln_plans base;
    ln_memory *statics;   // that the plan shares
    ln_memory *workspace; // that it is to have; NULL: its own
} loading;

// What is not written before it is read is written when inputs are set. Addresses in it are all
// that loading needs, so main memory need not be touched.
static ln_status make_workspace(const ln_context *ctx, ln_memory **out_workspace)
{
    for (int m = LN_MEM_NONE + 1; m < LN_MEM_TYPE_SIZE; m++)
        if (m != LN_MEM_CPU && ctx->mem_sizes[m] > ctx->static_sizes[m])
            return ln_memory_create(ctx->devices, ctx->static_sizes, ctx->mem_sizes, out_workspace);
    return ln_memory_create_raw(ctx->devices, ctx->static_sizes, ctx->mem_sizes, out_workspace);
}

static ln_status allocate(struct ln_plans *base, const ln_context *ctx, ln_memory **out_statics,
                          ln_memory **out_workspace)
{
    const loading *l = (const loading *)base;
    const size_t *begins = ctx->constants ? ln_constants_ends(ctx->constants) : NULL;
    *out_workspace = NULL;
    LN_TRY(ln_memory_create_after(ctx->devices, begins ? l->statics : NULL, begins,
                                  ctx->static_sizes, out_statics));
    ln_status status = l->workspace ? ln_memory_create_window(l->workspace, ctx->static_sizes,
                                                              ctx->mem_sizes, out_workspace)
                                    : make_workspace(ctx, out_workspace);
    if (status != LN_OK) {
        ln_memory_release(*out_statics);
        *out_statics = NULL;
    }
    return status;
}

ln_status ln_instance_constants_share(ln_instance_constants *shared, const ln_context *first)
{
    ln_constants *constants;
    bool has_joined;
    if (ln_instance_constants_latest(shared))
        return LN_OK;
    LN_TRY(ln_constants_create(first, &constants));
    return constants ? put(shared, NULL, constants, first, &has_joined) : LN_OK;
}

// What is shared stays in memory; half of what may be taken is left for what comes and goes.
static bool is_small(const ln_context *instance)
{
    for (int m = 0; m < LN_MEM_TYPE_SIZE; m++)
        if (instance->static_sizes[m] > instance->limits.memory_byte_count / 2)
            return false;
    return true;
}

ln_status ln_instance_constants_extend(ln_instance_constants *shared, const ln_context *instance,
                                       bool *out_has_joined)
{
    ln_shared_constants *latest = atomic_load(&shared->latest);
    ln_constants *constants;
    *out_has_joined = false;
    if (!latest || latest->constants != instance->constants || !is_small(instance))
        return LN_OK;
    LN_TRY(ln_constants_extend(latest->constants, instance, &constants));
    return constants ? put(shared, latest, constants, instance, out_has_joined) : LN_OK;
}

ln_status ln_instance_load(ln_instance_constants *shared, const ln_context *ctx,
                           ln_context *instance, ln_memory *workspace)
{
    loading l = {.base = {.allocate = allocate},
                 .statics = find_statics(shared, instance->constants),
                 .workspace = workspace};
    struct ln_plans *own = instance->plans;
    if (instance != ctx)
        ln_context_share_threads(instance, ctx);
    if (!instance->writes)
        instance->writes = ln_writes_retain(ctx->writes);
    instance->plans = &l.base;
    ln_status status = ln_context_load(instance, ctx->datafile);
    instance->plans = own;
    return status;
}
