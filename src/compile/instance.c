// SPDX-License-Identifier: Apache-2.0
// Loading a plan beside others: constants that an earlier one has are where they are, and the
// workspace is there only as long as addresses in it are looked for.

#include "compile/instance.h"

#include <lightnet/allocator.h>

#include "compile/threads.h"
#include "ir/context.h"
#include "ir/writes.h"

static void shared_destroy(ln_shared_constants *s)
{
    ln_constants_destroy(s->constants);
    ln_memory_leave(s->statics);
    ln_memory_release(s->statics);
    ln_free(s);
}

void ln_instance_constants_deinit(ln_instance_constants *shared)
{
    ln_shared_constants *s = atomic_load(&shared->latest), *earlier;
    for (; s; s = earlier) {
        earlier = s->earlier;
        shared_destroy(s);
    }
    atomic_store(&shared->latest, NULL);
}

ln_constants *ln_instance_constants_latest(ln_instance_constants *shared)
{
    const ln_shared_constants *s = atomic_load(&shared->latest);
    return s ? s->constants : NULL;
}

// Where these, of any moment, are.
static ln_memory *find_statics(ln_instance_constants *shared, const ln_constants *constants)
{
    const ln_shared_constants *s = atomic_load(&shared->latest);
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
    ln_memory *statics; // that the plan shares
} loading;

static ln_status allocate(struct ln_plans *base, const ln_context *ctx, ln_memory **out_statics,
                          ln_memory **out_workspace)
{
    ln_memory *shared = ((const loading *)base)->statics;
    const size_t *begins = ctx->constants ? ln_constants_ends(ctx->constants) : NULL;
    *out_workspace = NULL;
    LN_TRY(ln_memory_create_after(begins ? shared : NULL, begins, ctx->static_sizes, out_statics));
    ln_status status = ln_memory_create(ctx->static_sizes, ctx->mem_sizes, out_workspace);
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
                           ln_context *instance)
{
    loading l = {.base = {.allocate = allocate},
                 .statics = find_statics(shared, instance->constants)};
    ln_context_share_threads(instance, ctx);
    if (!instance->writes)
        instance->writes = ln_writes_retain(ctx->writes);
    instance->plans = &l.base;
    ln_status status = ln_context_load(instance, ctx->datafile);
    instance->plans = NULL;
    return status;
}
