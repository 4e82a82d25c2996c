// SPDX-License-Identifier: Apache-2.0
// Which threads run a context: the process's own, some for it alone, or the caller's.
//
// A context has its threads from the first load on, over unloading, so that loading again does not
// start them anew.

#include "compile/threads.h"

#include "base/pool.h"
#include "base/sized.h"
#include "ir/context.h"

static ln_status point_to_pool(ln_context *graph, void *user)
{
    graph->pool = user;
    return LN_OK;
}

// The context takes `pool` over, and its graphs borrow it.
static void set_pool(ln_context *ctx, ln_pool *pool)
{
    ln_pool_release(ctx->pool);
    ctx->pool = pool;
    (void)ln_context_each_graph(ctx, point_to_pool, pool);
}

static ln_status create_pool(size_t thread_count, ln_pool **out_pool)
{
    return thread_count == 0 ? ln_pool_create_shared(out_pool)
                             : ln_pool_create(thread_count, out_pool);
}

ln_status ln_context_need_threads(ln_context *ctx)
{
    if (ctx->outer)
        return LN_OK;
    ln_pool *pool = ln_pool_retain(ctx->pool);
    if (!pool)
        LN_TRY(create_pool(ctx->thread_count, &pool));
    set_pool(ctx, pool);
    return LN_OK;
}

void ln_context_share_threads(ln_context *ctx, const ln_context *from)
{
    if (ctx->outer)
        return;
    ctx->thread_count = from->thread_count;
    set_pool(ctx, ln_pool_retain(from->pool));
}

static ln_status check_settable(const ln_context *ctx)
{
    if (!ctx)
        return LN_FAIL(LN_INVALID, "the context is NULL");
    if (ctx->outer)
        return LN_FAIL(LN_INVALID, "a graph runs on the threads of its context");
    return LN_OK;
}

ln_status ln_context_set_threads(ln_context *ctx, size_t count)
{
    LN_TRY(check_settable(ctx));
    if (count > LN_MAX_THREADS)
        return LN_FAIL(LN_INVALID, "%zu threads, where %d is the most", count, LN_MAX_THREADS);
    ln_pool *pool = NULL;
    if (ctx->state == LN_CONTEXT_LOADED)
        LN_TRY(create_pool(count, &pool));
    set_pool(ctx, pool);
    ctx->thread_count = count;
    return LN_OK;
}

ln_status ln_context_set_threads_of(ln_context *ctx, ln_context *from)
{
    LN_TRY(check_settable(ctx));
    if (!from)
        return LN_FAIL(LN_INVALID, "the context whose threads it is to use is NULL");
    ln_context *root = ln_context_root(from);
    if (root->state != LN_CONTEXT_LOADED)
        LN_TRY(ln_context_need_threads(root));
    ln_context_share_threads(ctx, root);
    return LN_OK;
}

ln_status ln_context_set_pool_sized(ln_context *ctx, const ln_thread_pool *functions,
                                    size_t byte_count)
{
    LN_TRY(check_settable(ctx));
    if (!functions)
        return ln_context_set_threads(ctx, 0);
    ln_thread_pool whole = {0};
    size_t least = LN_SIZE_UP_TO(ln_thread_pool, run);
    LN_TRY(ln_sized_read(&whole, sizeof whole, functions, byte_count, least, "ln_thread_pool"));
    ln_pool *pool;
    LN_TRY(ln_pool_create_foreign(&whole, &pool));
    set_pool(ctx, pool);
    ctx->thread_count = whole.thread_count;
    return LN_OK;
}

// For programs that were linked before the structure's size came along.
ln_status(ln_context_set_pool)(ln_context *ctx, const ln_thread_pool *functions)
{
    return ln_context_set_pool_sized(ctx, functions, LN_SIZE_UP_TO(ln_thread_pool, user));
}

size_t ln_context_thread_count(const ln_context *ctx)
{
    return ln_pool_thread_count(ctx ? ctx->pool : NULL);
}
