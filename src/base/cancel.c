// SPDX-License-Identifier: Apache-2.0
// Requests to end.

#include <lightnet/cancel.h>

#include <stdatomic.h>

#include <lightnet/allocator.h>

struct ln_cancel {
    atomic_int is_requested;
    atomic_size_t holder_count;
};

ln_cancel *ln_cancel_create(void)
{
    ln_cancel *cancel = ln_alloc(sizeof *cancel);
    if (!cancel)
        return NULL;
    atomic_init(&cancel->is_requested, 0);
    atomic_init(&cancel->holder_count, 1);
    return cancel;
}

ln_cancel *ln_cancel_retain(ln_cancel *cancel)
{
    if (cancel)
        atomic_fetch_add_explicit(&cancel->holder_count, 1, memory_order_relaxed);
    return cancel;
}

void ln_cancel_release(ln_cancel *cancel)
{
    if (cancel && atomic_fetch_sub_explicit(&cancel->holder_count, 1, memory_order_acq_rel) == 1)
        ln_free(cancel);
}

void ln_cancel_request(ln_cancel *cancel)
{
    if (cancel)
        atomic_store_explicit(&cancel->is_requested, 1, memory_order_release);
}

int ln_cancel_is_requested(const ln_cancel *cancel)
{
    return cancel && atomic_load_explicit(&cancel->is_requested, memory_order_acquire);
}
