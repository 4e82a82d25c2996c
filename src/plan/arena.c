// SPDX-License-Identifier: Apache-2.0
// Arena offsets: several greedy orders, best fit for each, the smallest arena wins.
//
// To find the best arena is NP-hard (dynamic storage allocation). Placing intervals one by one into
// the tightest gap between those already placed that are alive at the same time is near the lower
// bound when large ones come first; which "large" is best differs between models, so all orders
// are tried until one meets the bound. Each gets a few rounds of repair: the interval that sticks
// out at the top is placed first in the next round.

#include "plan/arena.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <lightnet/allocator.h>

#include "base/checked.h"

// Repair rounds, each as long as an order, end after so many steps of work, about 0.03 s. An order
// that more rounds than this do not mend is left for the next.
#define REPAIR_WORK   ((size_t)1 << 23)
#define REPAIR_ROUNDS 32

// Steps of one order; those of a quarter of a second. What is not placed by then goes to the top,
// so that many values that are alive at once cost no more than this. Nor is another order begun.
#define ORDER_WORK ((size_t)1 << 26)

typedef struct item {
    double key[2]; // larger first
    size_t index;  // into the intervals
} item;

typedef struct placed {
    size_t start;
    size_t end; // exclusive
} placed;

// Intervals have a rank: their place in the order of first steps. The tree over the ranks holds the
// latest last step below each node, so that those alive with a given one are found without looking
// at all others.
typedef struct search {
    const ln_interval *intervals;
    size_t count;
    size_t align;
    size_t first_offset;
    item *order;
    uint32_t *ranks;      // of each interval
    uint32_t *first_step; // by rank
    placed *places;       // by rank, of what is placed
    int64_t *latest;      // the tree: node 1 is the root, leaves start at leaf_count; -1: nothing
    size_t leaf_count;
    uint32_t *map; // ranks of what is placed, by ascending start
    size_t placed_count;
    placed *near;    // those alive with the one to be placed, by ascending start
    size_t *offsets; // of the current order
    size_t *best_offsets;
    size_t best_end; // SIZE_MAX as long as there is none
    size_t top;      // position in the order of the interval that ended highest
    size_t work;     // steps of the current order
    size_t repaired; // steps of all repair rounds
    size_t ordered;  // steps of all orders but those
} search;

static ln_status check_arguments(const ln_interval *intervals, size_t count, size_t align,
                                 const size_t *out_byte_count)
{
    if (!out_byte_count || (count && !intervals))
        return LN_FAIL(LN_INVALID,
                       "planning %zu intervals needs their list and a place for the size", count);
    if (count >= UINT32_MAX)
        return LN_FAIL(LN_LIMIT, "%zu intervals are too many", count);
    if (align == 0 || (align & (align - 1)) != 0)
        return LN_FAIL(LN_INVALID, "alignment %zu is not a power of two", align);
    for (size_t i = 0; i < count; i++) {
        size_t aligned;
        if (intervals[i].first_step > intervals[i].last_step)
            return LN_FAIL(LN_INVALID, "interval %zu ends at step %u before it starts at %u", i,
                           intervals[i].last_step, intervals[i].first_step);
        if (!ln_size_align(intervals[i].byte_count, align, &aligned))
            return LN_FAIL(LN_LIMIT, "interval %zu has %zu bytes, too many to align to %zu", i,
                           intervals[i].byte_count, align);
    }
    return LN_OK;
}

// ---- Those alive at the same time ----

static void tree_clear(search *s)
{
    for (size_t i = 0; i < 2 * s->leaf_count; i++)
        s->latest[i] = -1;
}

static void tree_add(search *s, uint32_t rank, uint32_t last_step)
{
    for (size_t node = s->leaf_count + rank; node > 0; node /= 2) {
        if (s->latest[node] < last_step)
            s->latest[node] = last_step;
    }
}

static int by_start(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

// Collects those alive with `v` through the tree; false when they are more than `limit`.
static bool collect_by_tree(search *s, const ln_interval *v, size_t limit, size_t *out_count)
{
    size_t stack[2 * 64], depth = 0; // the path and its siblings
    *out_count = 0;
    stack[depth++] = 1;
    while (depth > 0) {
        size_t node = stack[--depth], first_leaf = node;
        if (s->latest[node] < (int64_t)v->first_step)
            continue;
        while (first_leaf < s->leaf_count)
            first_leaf *= 2;
        size_t rank = first_leaf - s->leaf_count;
        if (rank >= s->count || s->first_step[rank] > v->last_step)
            continue;
        if (node < s->leaf_count) {
            stack[depth++] = 2 * node;
            stack[depth++] = 2 * node + 1;
            continue;
        }
        if (*out_count == limit)
            return false;
        s->near[(*out_count)++] = s->places[rank];
    }
    qsort(s->near, *out_count, sizeof *s->near, by_start);
    return true;
}

// Few are collected and sorted, many are picked from the map, which is sorted already.
static size_t collect_near(search *s, const ln_interval *v)
{
    size_t count;
    if (collect_by_tree(s, v, s->placed_count / 16 + 16, &count)) {
        s->work += count;
        return count;
    }
    count = 0;
    s->work += s->placed_count;
    for (size_t i = 0; i < s->placed_count; i++) {
        uint32_t rank = s->map[i];
        if (s->latest[s->leaf_count + rank] >= (int64_t)v->first_step &&
            s->first_step[rank] <= v->last_step)
            s->near[count++] = s->places[rank];
    }
    return count;
}

// ---- One order ----

// The start of the tightest gap for `size` bytes between those near; else the end of the last.
// False on overflow.
static bool find_gap(const search *s, size_t near_count, size_t size, size_t *out_start)
{
    size_t free_from = s->first_offset, best = 0, best_size = SIZE_MAX, end;
    for (size_t i = 0; i < near_count; i++) {
        const placed *p = &s->near[i];
        size_t gap = p->start > free_from ? p->start - free_from : 0;
        if (gap >= size && gap < best_size) {
            best = free_from;
            best_size = gap;
        }
        if (p->end > free_from)
            free_from = p->end;
    }
    *out_start = best_size != SIZE_MAX ? best : free_from;
    return ln_size_add(*out_start, size, &end);
}

static void add_placed(search *s, size_t index, size_t start, size_t size)
{
    uint32_t rank = s->ranks[index];
    s->places[rank] = (placed){start, start + size};
    s->offsets[index] = start;
    tree_add(s, rank, s->intervals[index].last_step);

    size_t low = 0, high = s->placed_count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (s->places[s->map[mid]].start <= start)
            low = mid + 1;
        else
            high = mid;
    }
    s->work += (s->placed_count - low) / 16;
    memmove(s->map + low + 1, s->map + low, (s->placed_count - low) * sizeof *s->map);
    s->map[low] = rank;
    s->placed_count++;
}

// Places all intervals in the current order and keeps the result when it is the best so far.
static void try_order(search *s)
{
    size_t end = s->first_offset;
    s->top = 0;
    s->placed_count = 0;
    s->work = 0;
    tree_clear(s);
    for (size_t k = 0; k < s->count; k++) {
        size_t index = s->order[k].index, size, start;
        ln_size_align(s->intervals[index].byte_count, s->align, &size); // checked before
        s->offsets[index] = s->first_offset;
        if (size == 0)
            continue;
        if (s->work < ORDER_WORK) {
            size_t near_count = collect_near(s, &s->intervals[index]);
            if (!find_gap(s, near_count, size, &start))
                return;
            add_placed(s, index, start, size);
        } else {
            size_t top;
            start = end;
            if (!ln_size_add(start, size, &top))
                return;
            s->offsets[index] = start;
        }
        if (start + size > end) {
            end = start + size;
            s->top = k;
        }
    }
    if (end < s->best_end) {
        s->best_end = end;
        size_t *swapped = s->best_offsets;
        s->best_offsets = s->offsets;
        s->offsets = swapped;
    }
}

// ---- The orders ----

static int by_key(const void *a, const void *b)
{
    const item *x = a, *y = b;
    for (int k = 0; k < 2; k++) {
        if (x->key[k] != y->key[k])
            return x->key[k] > y->key[k] ? -1 : 1;
    }
    return x->index < y->index ? -1 : x->index > y->index;
}

typedef void key_func(const ln_interval *v, double key[2]);

static double duration(const ln_interval *v)
{
    return (double)v->last_step - (double)v->first_step + 1;
}

static void size_first(const ln_interval *v, double key[2])
{
    key[0] = (double)v->byte_count;
    key[1] = duration(v);
}

static void area_first(const ln_interval *v, double key[2])
{
    key[0] = (double)v->byte_count * duration(v);
    key[1] = (double)v->byte_count;
}

static void duration_first(const ln_interval *v, double key[2])
{
    key[0] = duration(v);
    key[1] = (double)v->byte_count;
}

static void early_first(const ln_interval *v, double key[2])
{
    key[0] = -(double)v->first_step;
    key[1] = (double)v->byte_count;
}

static void late_first(const ln_interval *v, double key[2])
{
    key[0] = (double)v->last_step;
    key[1] = (double)v->byte_count;
}

static key_func *const orders[] = {size_first, area_first, early_first, late_first, duration_first};

static void sort_order(search *s, key_func *key)
{
    for (size_t i = 0; i < s->count; i++) {
        s->order[i].index = i;
        key(&s->intervals[i], s->order[i].key);
    }
    qsort(s->order, s->count, sizeof *s->order, by_key);
}

// Puts the interval at the top of the last arena to the front of the order, again and again.
static void repair(search *s, size_t bound_end)
{
    for (size_t round = 0; round < REPAIR_ROUNDS && s->best_end > bound_end; round++) {
        s->repaired += s->work + 16 * s->count; // 16: the tree
        if (s->repaired > REPAIR_WORK || s->top == 0)
            return;
        item top = s->order[s->top];
        memmove(s->order + 1, s->order, s->top * sizeof *s->order);
        s->order[0] = top;
        try_order(s);
    }
}

// Ranks are the places in the order "early first".
static void rank_intervals(search *s)
{
    sort_order(s, early_first);
    for (size_t rank = 0; rank < s->count; rank++) {
        s->ranks[s->order[rank].index] = (uint32_t)rank;
        s->first_step[rank] = s->intervals[s->order[rank].index].first_step;
    }
}

static ln_status run_search(search *s, size_t bound)
{
    size_t bound_end;
    rank_intervals(s);
    if (!ln_size_add(s->first_offset, bound, &bound_end))
        return LN_FAIL(LN_LIMIT, "an arena of %zu bytes at offset %zu overflows", bound,
                       s->first_offset);
    for (size_t i = 0; i < sizeof orders / sizeof orders[0] && s->best_end > bound_end; i++) {
        if (s->ordered > ORDER_WORK)
            break;
        sort_order(s, orders[i]);
        try_order(s);
        s->ordered += s->work;
        repair(s, bound_end);
    }
    if (s->best_end == SIZE_MAX)
        return LN_FAIL(LN_LIMIT, "an arena of at least %zu bytes at offset %zu overflows", bound,
                       s->first_offset);
    return LN_OK;
}

static ln_status search_init(search *s)
{
    s->leaf_count = 1;
    while (s->leaf_count < s->count)
        s->leaf_count *= 2;
    s->order = ln_alloc_array(s->count, sizeof *s->order);
    s->ranks = ln_alloc_array(s->count, sizeof *s->ranks);
    s->first_step = ln_alloc_array(s->count, sizeof *s->first_step);
    s->places = ln_alloc_array(s->count, sizeof *s->places);
    s->latest = ln_alloc_array(s->leaf_count, 2 * sizeof *s->latest);
    s->map = ln_alloc_array(s->count, sizeof *s->map);
    s->near = ln_alloc_array(s->count, sizeof *s->near);
    s->offsets = ln_alloc_array(s->count, sizeof *s->offsets);
    s->best_offsets = ln_alloc_array(s->count, sizeof *s->best_offsets);
    bool is_complete = s->order && s->ranks && s->first_step && s->places && s->latest && s->map &&
                       s->near && s->offsets && s->best_offsets;
    return is_complete ? LN_OK : LN_NO_MEMORY;
}

static void search_deinit(search *s)
{
    ln_free(s->best_offsets);
    ln_free(s->offsets);
    ln_free(s->near);
    ln_free(s->map);
    ln_free(s->latest);
    ln_free(s->places);
    ln_free(s->first_step);
    ln_free(s->ranks);
    ln_free(s->order);
}

// ---- The lower bound ----

typedef struct event {
    uint64_t step; // from here on ...
    size_t size;   // ... this many bytes more or less are alive
    bool is_end;
} event;

static int by_step(const void *a, const void *b)
{
    const event *x = a, *y = b;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    return (int)y->is_end - (int)x->is_end; // ends first
}

ln_status ln_plan_lower_bound(const ln_interval *intervals, size_t count, size_t align,
                              size_t *out_byte_count)
{
    if (out_byte_count)
        *out_byte_count = 0;
    LN_TRY(check_arguments(intervals, count, align, out_byte_count));

    event *events = ln_alloc_array(count, 2 * sizeof *events);
    if (!events)
        return LN_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        size_t size;
        ln_size_align(intervals[i].byte_count, align, &size);
        events[2 * i] = (event){.step = intervals[i].first_step, .size = size};
        events[2 * i + 1] =
            (event){.step = (uint64_t)intervals[i].last_step + 1, .size = size, .is_end = true};
    }
    qsort(events, 2 * count, sizeof *events, by_step);

    size_t alive = 0, peak = 0;
    bool fits = true;
    for (size_t i = 0; i < 2 * count && fits; i++) {
        if (events[i].is_end)
            alive -= events[i].size;
        else
            fits = ln_size_add(alive, events[i].size, &alive);
        if (alive > peak)
            peak = alive;
    }
    ln_free(events);
    if (!fits)
        return LN_FAIL(LN_LIMIT, "the intervals alive at one step overflow");
    *out_byte_count = peak;
    return LN_OK;
}

ln_status ln_plan_arena(ln_interval *intervals, size_t count, size_t align, size_t first_offset,
                        size_t *out_byte_count)
{
    size_t bound;
    if (out_byte_count)
        *out_byte_count = 0;
    LN_TRY(check_arguments(intervals, count, align, out_byte_count));
    if (first_offset == 0 || (first_offset & (align - 1)) != 0)
        return LN_FAIL(LN_INVALID, "an arena cannot start at offset %zu with alignment %zu",
                       first_offset, align);
    LN_TRY(ln_plan_lower_bound(intervals, count, align, &bound));

    search s = {.intervals = intervals,
                .count = count,
                .align = align,
                .first_offset = first_offset,
                .best_end = SIZE_MAX};
    ln_status status = search_init(&s);
    if (status == LN_OK)
        status = run_search(&s, bound);
    if (status == LN_OK) {
        for (size_t i = 0; i < count; i++)
            intervals[i].offset = s.best_offsets[i];
        *out_byte_count = s.best_end - first_offset;
    }
    search_deinit(&s);
    return status;
}
