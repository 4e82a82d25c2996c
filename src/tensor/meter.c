// SPDX-License-Identifier: Apache-2.0
// Meters: what the values of a model take, against a limit; and blocks that are kept for the next
// values.
//
// Values may lose their last holder on any thread, so the list of kept blocks has a lock. Nothing
// waits for it but the way out of a full meter: whoever finds it taken goes to the allocator.

#include "tensor/meter.h"

#include <sched.h>
#include <stdatomic.h>

#include <lightnet/allocator.h>

#include "base/checked.h"

// A kept block has nothing in it but this, at its start.
typedef struct kept_block {
    struct kept_block *next;
    size_t byte_count;
    size_t run; // the last one that had it
} kept_block;

_Static_assert(sizeof(kept_block) <= LN_METER_MIN_KEPT,
               "each kept block has capacity for its link");

// Kept blocks are in lists by length, four for each power of two.
enum { BINS_PER_OCTAVE = 4, BIN_COUNT = 64 * BINS_PER_OCTAVE };

// How many blocks of a list are looked at: values of one run after another have the same lengths,
// so one that fits is nearly always the first.
enum { MAX_LOOKS = 16 };

// A block that so many runs have not needed is let go: sizes that do not come again would fill the
// bound otherwise.
enum { RUNS_KEPT = 8 };

struct ln_meter {
    atomic_size_t holders;
    atomic_size_t bytes; // of values
    atomic_size_t peak;
    size_t limit;
    atomic_size_t kept_bytes; // written under the lock, read without it too
    atomic_flag is_locked;    // what follows
    size_t max_kept_bytes;    // 0: nothing is kept
    size_t run;               // how many have begun
    kept_block *kept[BIN_COUNT];
};

// ---- Kept blocks ----

static bool try_lock(ln_meter *meter)
{
    return !atomic_flag_test_and_set_explicit(&meter->is_locked, memory_order_acquire);
}

static void unlock(ln_meter *meter)
{
    atomic_flag_clear_explicit(&meter->is_locked, memory_order_release);
}

static int bin_of(size_t byte_count)
{
    if (byte_count < BINS_PER_OCTAVE)
        return 0;
    int octave = 63 - __builtin_clzll(byte_count);
    return octave * BINS_PER_OCTAVE + (int)(byte_count >> (octave - 2)) % BINS_PER_OCTAVE;
}

// Takes all kept blocks out, in one list. The lock is held.
static kept_block *take_all(ln_meter *meter)
{
    kept_block *all = NULL;
    for (int bin = 0; bin < BIN_COUNT && atomic_load(&meter->kept_bytes) > 0; bin++) {
        kept_block *next;
        for (kept_block *block = meter->kept[bin]; block; block = next) {
            next = block->next;
            block->next = all;
            all = block;
        }
        meter->kept[bin] = NULL;
    }
    atomic_store(&meter->kept_bytes, 0);
    return all;
}

// The same of those that no run of late has needed. The lock is held.
static kept_block *take_old(ln_meter *meter)
{
    kept_block *old = NULL;
    for (int bin = 0; bin < BIN_COUNT; bin++) {
        kept_block **at = &meter->kept[bin], *block;
        while ((block = *at)) {
            if (meter->run - block->run <= RUNS_KEPT) {
                at = &block->next;
                continue;
            }
            *at = block->next;
            block->next = old;
            old = block;
            atomic_fetch_sub(&meter->kept_bytes, ln_meter_block(block->byte_count));
        }
    }
    return old;
}

static void free_blocks(kept_block *block)
{
    while (block) {
        kept_block *next = block->next;
        ln_free(block);
        block = next;
    }
}

// Frees what is kept; `max_kept_bytes`, if not NULL, is kept at most from now on.
static void free_kept(ln_meter *meter, const size_t *max_kept_bytes)
{
    while (!try_lock(meter))
        sched_yield(); // a few dozen instructions of another thread
    kept_block *blocks = take_all(meter);
    if (max_kept_bytes)
        meter->max_kept_bytes = *max_kept_bytes;
    unlock(meter);
    free_blocks(blocks);
}

void ln_meter_keep_at_most(ln_meter *meter, size_t byte_count)
{
    if (meter)
        free_kept(meter, &byte_count);
}

void ln_meter_begin_run(ln_meter *meter)
{
    if (ln_meter_kept_bytes(meter) == 0 || !try_lock(meter))
        return;
    kept_block *old = ++meter->run % RUNS_KEPT == 0 ? take_old(meter) : NULL;
    unlock(meter);
    free_blocks(old);
}

size_t ln_meter_kept_bytes(const ln_meter *meter)
{
    return meter ? atomic_load(&meter->kept_bytes) : 0;
}

// What would go beyond the bound is kept in place of all the others: they were not needed for long.
bool ln_meter_keep(ln_meter *meter, void *block, size_t byte_count)
{
    size_t bytes = ln_meter_block(byte_count);
    if (!meter || byte_count < LN_METER_MIN_KEPT || !try_lock(meter))
        return false;
    bool is_kept = bytes <= meter->max_kept_bytes;
    kept_block *dropped = NULL;
    if (is_kept && atomic_load(&meter->kept_bytes) > meter->max_kept_bytes - bytes)
        dropped = take_all(meter);
    if (is_kept) {
        kept_block **bin = &meter->kept[bin_of(byte_count)];
        *(kept_block *)block =
            (kept_block){.next = *bin, .byte_count = byte_count, .run = meter->run};
        *bin = block;
        atomic_fetch_add(&meter->kept_bytes, bytes);
    }
    unlock(meter);
    free_blocks(dropped);
    return is_kept;
}

// The link to the first block of a list with a length from `least` to `most`; NULL if none is near.
static kept_block **find_block(kept_block **at, size_t least, size_t most)
{
    for (int i = 0; i < MAX_LOOKS && *at; i++, at = &(*at)->next)
        if ((*at)->byte_count >= least && (*at)->byte_count <= most)
            return at;
    return NULL;
}

void *ln_meter_reuse(ln_meter *meter, size_t least, size_t most, size_t *out_byte_count)
{
    *out_byte_count = least;
    if (ln_meter_kept_bytes(meter) == 0 || !try_lock(meter))
        return NULL;
    // One of that very length first: what is longer may be needed for what is.
    kept_block **found = find_block(&meter->kept[bin_of(least)], least, least), *block = NULL;
    for (int bin = bin_of(least); !found && bin <= bin_of(most); bin++)
        found = find_block(&meter->kept[bin], least, most);
    if (found) {
        block = *found;
        *found = block->next;
        *out_byte_count = block->byte_count;
        atomic_fetch_sub(&meter->kept_bytes, ln_meter_block(block->byte_count));
    }
    unlock(meter);
    return block;
}

// ---- Meters ----

ln_meter *ln_meter_create(size_t limit)
{
    ln_meter *meter = ln_alloc(sizeof *meter);
    if (!meter)
        return NULL;
    atomic_init(&meter->holders, 1);
    atomic_init(&meter->bytes, 0);
    atomic_init(&meter->peak, 0);
    atomic_init(&meter->kept_bytes, 0);
    atomic_flag_clear(&meter->is_locked);
    meter->limit = limit;
    return meter;
}

ln_meter *ln_meter_retain(ln_meter *meter)
{
    if (meter)
        atomic_fetch_add_explicit(&meter->holders, 1, memory_order_relaxed);
    return meter;
}

void ln_meter_release(ln_meter *meter)
{
    if (!meter || atomic_fetch_sub_explicit(&meter->holders, 1, memory_order_acq_rel) != 1)
        return;
    free_kept(meter, NULL);
    ln_free(meter);
}

size_t ln_meter_bytes(const ln_meter *meter)
{
    return meter ? atomic_load(&meter->bytes) : 0;
}

size_t ln_meter_peak(const ln_meter *meter)
{
    return meter ? atomic_load(&meter->peak) : 0;
}

void ln_meter_reset_peak(ln_meter *meter)
{
    if (meter)
        atomic_store(&meter->peak, atomic_load(&meter->bytes));
}

bool ln_meter_take(ln_meter *meter, size_t byte_count)
{
    size_t before = atomic_load(&meter->bytes), after;
    do {
        if (!ln_size_add(before, byte_count, &after) || after > meter->limit)
            return false;
    } while (!atomic_compare_exchange_weak(&meter->bytes, &before, after));
    if (ln_meter_kept_bytes(meter) > meter->limit - after)
        free_kept(meter, NULL);

    size_t peak = atomic_load(&meter->peak);
    while (after > peak && !atomic_compare_exchange_weak(&meter->peak, &peak, after))
        continue;
    return true;
}

size_t ln_meter_block(size_t byte_count)
{
    // A word for the size, then the next multiple of 16, and 32 at least: glibc's, and no other
    // takes much more.
    size_t rounded;
    if (!ln_size_add(byte_count, sizeof(size_t) + 15, &rounded))
        return SIZE_MAX;
    rounded &= ~(size_t)15;
    return rounded < 32 ? 32 : rounded;
}

size_t ln_meter_left(const ln_meter *meter)
{
    return meter ? meter->limit - ln_meter_bytes(meter) : SIZE_MAX;
}

void ln_meter_give_back(ln_meter *meter, size_t byte_count)
{
    atomic_fetch_sub(&meter->bytes, byte_count);
}
