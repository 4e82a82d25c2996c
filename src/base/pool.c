// SPDX-License-Identifier: Apache-2.0
// A pool of one thread.

#include "base/pool.h"

size_t ln_pool_default_thread_count(void)
{
    return 1;
}

ln_status ln_pool_create(size_t thread_count, ln_pool **out_pool)
{
    (void)thread_count;
    *out_pool = NULL;
    return LN_OK;
}

ln_pool *ln_pool_retain(ln_pool *pool)
{
    return pool;
}

void ln_pool_release(ln_pool *pool)
{
    (void)pool;
}

size_t ln_pool_thread_count(const ln_pool *pool)
{
    (void)pool;
    return 1;
}

void ln_pool_begin(ln_pool *pool)
{
    (void)pool;
}

void ln_pool_end(ln_pool *pool)
{
    (void)pool;
}

void ln_pool_run(ln_pool *pool, size_t count, ln_pool_task *task, void *job)
{
    (void)pool;
    for (size_t i = 0; i < count; i++)
        task(job, i);
}
