// SPDX-License-Identifier: Apache-2.0
// A pool of threads that share the work of one operator at a time.
//
// A job is `count` tasks, each of which a thread does whole. Tasks are dealt as contiguous
// ranges, thread t of n gets those from t * count / n on, the same ones for the same count, so that
// a core finds in its cache what it wrote in the step before; a thread that is done takes tasks
// from the end of another's range. Which thread does a task never changes what it computes.
//
// The thread that runs a job works too: a pool of n threads has n - 1 workers. Between
// `ln_pool_begin` and `ln_pool_end` workers wait awake for the next job, unless none comes for
// long; otherwise they sleep.
//
// Several threads may share a pool, as clones of a context do: a pool serves one of them at a time,
// and a job that finds it taken runs whole in the calling thread. The others count as threads of
// the pool: with n threads between begin and end, a job uses n - 1 less. So n clones do not keep
// n * m threads busy.
//
// After a fork the child has none of the workers: its jobs run whole in the calling thread, and
// release frees memory alone.

#ifndef LN_BASE_POOL_H
#define LN_BASE_POOL_H

#include <stddef.h>

#include <lightnet/pool.h>
#include <lightnet/status.h>

LN_CPPSTART

typedef struct ln_pool ln_pool;

// `thread_count` 0: the default. *out_pool is NULL for one thread, and has fewer threads if the
// system gives no more; released with `ln_pool_release`.
ln_status ln_pool_create(size_t thread_count, ln_pool **out_pool);

// The pool of the default count that all who ask share; made by the first, gone with the last.
ln_status ln_pool_create_shared(ln_pool **out_pool);

// A pool whose jobs `functions` do.
ln_status ln_pool_create_foreign(const ln_thread_pool *functions, ln_pool **out_pool);

ln_pool *ln_pool_retain(ln_pool *pool); // NULL is fine, here and below: it is a pool of one thread
void ln_pool_release(ln_pool *pool);

size_t ln_pool_thread_count(const ln_pool *pool);

// Claims the pool for a row of jobs, and wakes the workers if the row before had jobs for them;
// without it each job claims it for itself. Nests: the last `end` counts.
void ln_pool_begin(ln_pool *pool);
void ln_pool_end(ln_pool *pool);

// Does all tasks and returns when they are done. Allocates nothing. Jobs of a task on the same
// pool run whole in its thread.
void ln_pool_run(ln_pool *pool, size_t count, ln_pool_task *task, void *job);

LN_CPPEND

#endif
