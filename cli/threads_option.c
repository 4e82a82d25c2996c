// SPDX-License-Identifier: Apache-2.0
// --threads.

#include "threads_option.h"

#include "cli.h"
#include "option_values.h"

static int thread_count; // 0: not given

int take_threads(void *unused, const char *verb, const char *text)
{
    (void)unused;
    return take_count(verb, "--threads", text, LN_MAX_THREADS, &thread_count);
}

ln_status threads_option_apply(ln_context *ctx)
{
    return thread_count > 0 ? ln_context_set_threads(ctx, (size_t)thread_count) : LN_OK;
}
