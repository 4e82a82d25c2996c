// SPDX-License-Identifier: Apache-2.0
// Two ways are list scheduling: of the steps that could come next, the one with the smallest key.
// The key changes when a step becomes the last one that reads some memory, so that it would free
// it; it then gets a second place in the heap, and the outdated one is passed over.
//
// The third goes back from the results and computes the branches of a step in the order of Sethi
// and Ullman, as if the graph were a tree: by what they need beyond the result they leave.

#include "plan/order.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/mem.h>

#include "base/checked.h"

#define NOBODY UINT32_MAX

// More than what a model can have at once: sums of sizes stay below 2^62.
#define MOST_BYTES ((size_t)1 << 40)

typedef struct place {
    int64_t keys[3]; // smaller first
    uint32_t step;
} place;

typedef struct orderer {
    const ln_plan_value *values;
    const uint32_t *owners;
    const uint32_t *makers;
    size_t value_count;
    const ln_plan_step *steps;
    size_t step_count;
    ln_order_way way;
    uint32_t *order;
    size_t ordered_count;

    uint32_t *roots;        // of each value
    int64_t *bytes;         // of each root: what it adds to the workspace
    uint32_t *readers_left; // of each root: steps
    uint32_t *seen;         // of each root: the last look that came by
    uint32_t look;
    bool *is_kept;         // of each root: to the end
    bool *is_there;        // of each root: written already
    uint32_t *next_from;   // of each step: where its followers start
    uint32_t *next;        // followers of all steps
    uint32_t *reader_from; // of each root: where its readers start
    uint32_t *readers;     //
    uint32_t *waits;       // of each step: for so many others
    int64_t *added;        // of each step: bytes that it adds
    uint32_t *ready_since; // of each step: how many were ordered when it became ready
    bool *is_done;         // of each step
    place *heap;
    size_t heap_count;

    int64_t *needs; // of each step: the most bytes at once until its results are there
    uint32_t *stack;
    uint32_t *before_from; // of each step: where what it waits for starts
    uint32_t *before;      // ... in the order in which it is to be computed
} orderer;

// ---- Facts ----

static ln_status check_step(const orderer *o, uint32_t s)
{
    const ln_plan_step *step = &o->steps[s];
    for (size_t k = 0; k < step->read_count; k++) {
        uint32_t i = step->reads[k];
        if (i >= o->value_count || o->makers[i] >= o->step_count || o->makers[i] == s)
            return LN_FAIL(LN_INVALID, "step %u reads value %u of %zu, or its own result", s, i,
                           o->value_count);
    }
    for (size_t k = 0; k < step->write_count; k++) {
        if (step->writes[k] >= o->value_count)
            return LN_FAIL(LN_INVALID, "step %u writes value %u of %zu", s, step->writes[k],
                           o->value_count);
    }
    return LN_OK;
}

static ln_status find_roots(orderer *o)
{
    for (uint32_t i = 0; i < o->value_count; i++) {
        if (o->owners[i] >= o->value_count)
            return LN_FAIL(LN_INVALID, "value %u views value %u of %zu", i, o->owners[i],
                           o->value_count);
        o->roots[i] = o->owners[i] == i ? i : NOBODY;
    }
    for (uint32_t i = 0; i < o->value_count; i++) {
        uint32_t at = i;
        for (size_t length = 0; o->roots[at] == NOBODY; length++) {
            if (length > o->value_count)
                return LN_FAIL(LN_INVALID, "value %u views itself", i);
            at = o->owners[at];
        }
        uint32_t root = o->roots[at];
        for (at = i; o->roots[at] == NOBODY; at = o->owners[at])
            o->roots[at] = root;
    }
    return LN_OK;
}

static void find_sizes(orderer *o)
{
    for (uint32_t i = 0; i < o->value_count; i++) {
        const ln_plan_value *v = &o->values[i];
        size_t size;
        o->is_kept[o->roots[i]] = o->is_kept[o->roots[i]] || v->is_output || v->is_input;
        if (o->roots[i] != i || v->is_static || v->is_input)
            continue;
        if (!ln_size_align(v->byte_count, LN_MEM_ALIGN, &size) || size > MOST_BYTES)
            size = MOST_BYTES;
        o->bytes[i] = (int64_t)size;
    }
}

// A step that only reads does so to be seen elsewhere.
static bool is_effect(const ln_plan_step *step)
{
    return step->write_count == 0 && step->read_count > 0;
}

// Who waits for whom, both ways, as two passes over the same edges: the first counts.
static void add_edge(orderer *o, uint32_t from, uint32_t to, bool is_counting)
{
    if (is_counting) {
        o->next_from[from]++;
        o->before_from[to]++;
        o->waits[to]++;
    } else {
        o->next[--o->next_from[from]] = to;
        o->before[--o->before_from[to]] = from;
    }
}

// A new look at roots: `sees` is true once for each of them.
static void start_look(orderer *o)
{
    o->look++;
}

static bool sees(orderer *o, uint32_t root)
{
    bool is_new = o->seen[root] != o->look;
    o->seen[root] = o->look;
    return is_new;
}

static void walk_edges(orderer *o, bool is_counting)
{
    uint32_t last_effect = NOBODY;
    for (uint32_t s = 0; s < o->step_count; s++) {
        const ln_plan_step *step = &o->steps[s];
        start_look(o);
        for (size_t k = 0; k < step->read_count; k++) {
            uint32_t root = o->roots[step->reads[k]];
            add_edge(o, o->makers[step->reads[k]], s, is_counting);
            if (!sees(o, root))
                continue;
            if (is_counting)
                o->reader_from[root]++;
            else
                o->readers[--o->reader_from[root]] = s;
        }
        if (!is_effect(step))
            continue;
        if (last_effect != NOBODY)
            add_edge(o, last_effect, s, is_counting);
        last_effect = s;
    }
}

// Turns counts into the ends of the lists, which filling in moves to their starts.
static void sum_up(uint32_t *counts, size_t count)
{
    uint32_t sum = 0;
    for (size_t i = 0; i <= count; i++)
        counts[i] = sum += i < count ? counts[i] : 0;
}

static void find_edges(orderer *o)
{
    walk_edges(o, true);
    for (uint32_t i = 0; i < o->value_count; i++)
        o->readers_left[i] = o->reader_from[i];
    sum_up(o->next_from, o->step_count);
    sum_up(o->before_from, o->step_count);
    sum_up(o->reader_from, o->value_count);
    walk_edges(o, false);
}

// ---- The heap ----

static bool is_before(const place *a, const place *b)
{
    for (int k = 0; k < 3; k++) {
        if (a->keys[k] != b->keys[k])
            return a->keys[k] < b->keys[k];
    }
    return a->step < b->step;
}

static void heap_push(orderer *o, place p)
{
    size_t at = o->heap_count++;
    for (; at > 0 && is_before(&p, &o->heap[(at - 1) / 2]); at = (at - 1) / 2)
        o->heap[at] = o->heap[(at - 1) / 2];
    o->heap[at] = p;
}

static place heap_pop(orderer *o)
{
    place top = o->heap[0], last = o->heap[--o->heap_count];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < o->heap_count; at = child) {
        if (child + 1 < o->heap_count && is_before(&o->heap[child + 1], &o->heap[child]))
            child++;
        if (!is_before(&o->heap[child], &last))
            break;
        o->heap[at] = o->heap[child];
    }
    o->heap[at] = last;
    return top;
}

// ---- List scheduling ----

// What step `s` would add to the workspace if it came next.
static int64_t added_by(orderer *o, uint32_t s)
{
    const ln_plan_step *step = &o->steps[s];
    int64_t added = 0;
    start_look(o);
    for (size_t k = 0; k < step->write_count; k++) {
        uint32_t root = o->roots[step->writes[k]];
        // What nobody reads and nobody keeps is gone with the step.
        if (!o->is_there[root] && (o->readers_left[root] > 0 || o->is_kept[root]) && sees(o, root))
            added += o->bytes[root];
    }
    start_look(o);
    for (size_t k = 0; k < step->read_count; k++) {
        uint32_t root = o->roots[step->reads[k]];
        if (o->readers_left[root] == 1 && !o->is_kept[root] && sees(o, root))
            added -= o->bytes[root];
    }
    return added;
}

static void offer(orderer *o, uint32_t s)
{
    int64_t added = added_by(o, s);
    o->added[s] = added;
    place p = {.step = s, .keys = {added}};
    if (o->way == LN_ORDER_NEWEST && added > 0) {
        p.keys[0] = 1; // after all that add nothing
        p.keys[1] = -(int64_t)o->ready_since[s];
        p.keys[2] = added;
    }
    heap_push(o, p);
}

// Offers the last reader of `root` again, which now frees it.
static void offer_last_reader(orderer *o, uint32_t root)
{
    uint32_t k = o->reader_from[root];
    while (o->is_done[o->readers[k]])
        k++;
    uint32_t s = o->readers[k];
    if (o->waits[s] == 0 && added_by(o, s) != o->added[s])
        offer(o, s);
}

static void take(orderer *o, uint32_t s)
{
    const ln_plan_step *step = &o->steps[s];
    o->order[o->ordered_count++] = s;
    o->is_done[s] = true;
    for (size_t k = 0; k < step->write_count; k++)
        o->is_there[o->roots[step->writes[k]]] = true;
    start_look(o);
    for (size_t k = 0; k < step->read_count; k++) {
        uint32_t root = o->roots[step->reads[k]];
        if (sees(o, root))
            o->readers_left[root]--;
    }
    for (size_t k = 0; k < step->read_count; k++) {
        uint32_t root = o->roots[step->reads[k]];
        if (o->readers_left[root] == 1)
            offer_last_reader(o, root);
    }
    for (uint32_t k = o->next_from[s]; k < o->next_from[s + 1]; k++) {
        uint32_t n = o->next[k];
        if (--o->waits[n] > 0)
            continue;
        o->ready_since[n] = (uint32_t)o->ordered_count;
        offer(o, n);
    }
}

static void schedule(orderer *o)
{
    for (uint32_t s = 0; s < o->step_count; s++) {
        if (o->waits[s] == 0)
            offer(o, s);
    }
    while (o->heap_count > 0) {
        place p = heap_pop(o);
        if (!o->is_done[p.step])
            take(o, p.step);
    }
}

// ---- Branch by branch ----

// Bytes that the results of `s` hold, and those that it needs beside them while it runs.
static void find_results(const orderer *o, uint32_t s, int64_t *out_result, int64_t *out_spare)
{
    const ln_plan_step *step = &o->steps[s];
    *out_result = *out_spare = 0;
    for (size_t k = 0; k < step->write_count; k++) {
        uint32_t i = step->writes[k];
        bool is_used = o->readers_left[o->roots[i]] > 0 || o->is_kept[o->roots[i]];
        *(is_used ? out_result : out_spare) += o->roots[i] == i ? o->bytes[i] : 0;
    }
}

// Sorts what step `s` waits for: first what leaves the least of what it needs.
static void sort_branches(orderer *o, uint32_t s)
{
    size_t count = o->before_from[s + 1] - o->before_from[s];
    o->heap_count = 0;
    for (size_t k = 0; k < count; k++) {
        uint32_t b = o->before[o->before_from[s] + k];
        int64_t result, spare;
        find_results(o, b, &result, &spare);
        heap_push(o, (place){.keys = {result - o->needs[b]}, .step = b});
    }
    for (size_t k = 0; k < count; k++)
        o->before[o->before_from[s] + k] = heap_pop(o).step;
}

// The steps come in an order in which none waits for a later one.
static void find_needs(orderer *o, const uint32_t *sorted)
{
    for (size_t n = 0; n < o->step_count; n++) {
        uint32_t s = sorted[n], last = NOBODY;
        int64_t held = 0, need = 0, result, spare;
        sort_branches(o, s);
        for (uint32_t k = o->before_from[s]; k < o->before_from[s + 1]; k++) {
            uint32_t b = o->before[k];
            if (b == last)
                continue;
            last = b;
            if (held + o->needs[b] > need)
                need = held + o->needs[b];
            find_results(o, b, &result, &spare);
            held += result;
        }
        find_results(o, s, &result, &spare);
        held += result + spare;
        o->needs[s] = held > need ? held : need;
        if (o->needs[s] > INT64_MAX / 4)
            o->needs[s] = INT64_MAX / 4;
    }
}

// Takes `s` after all that it waits for. `waits` is now where the search goes on.
static void take_with_branches(orderer *o, uint32_t s)
{
    size_t depth = 0;
    if (o->is_done[s])
        return;
    o->stack[depth++] = s;
    while (depth > 0) {
        uint32_t top = o->stack[depth - 1];
        uint32_t at = o->before_from[top] + o->waits[top];
        if (at == o->before_from[top + 1]) {
            o->order[o->ordered_count++] = top;
            o->is_done[top] = true;
            depth--;
            continue;
        }
        o->waits[top]++;
        if (!o->is_done[o->before[at]])
            o->stack[depth++] = o->before[at];
    }
}

// Starts from an order that is right, which shows that no step waits for itself.
static void go_deep(orderer *o)
{
    memcpy(o->stack, o->order, o->step_count * sizeof *o->stack);
    find_needs(o, o->stack);
    o->ordered_count = 0;
    memset(o->is_done, 0, o->step_count * sizeof *o->is_done);
    memset(o->waits, 0, o->step_count * sizeof *o->waits);
    for (uint32_t s = 0; s < o->step_count; s++) {
        if (o->next_from[s] == o->next_from[s + 1])
            take_with_branches(o, s);
    }
}

// ---- All of it ----

static size_t count_edges(const orderer *o)
{
    size_t count = 0;
    for (size_t s = 0; s < o->step_count; s++)
        count += o->steps[s].read_count + 1;
    return count;
}

static ln_status alloc_all(orderer *o)
{
    size_t v = o->value_count, s = o->step_count, edges = count_edges(o);
    bool is_whole = true;
#define ALLOC(member, length)                                                                      \
    is_whole = is_whole && (o->member = ln_alloc_array(length, sizeof *o->member)) != NULL
    ALLOC(roots, v);
    ALLOC(bytes, v);
    ALLOC(readers_left, v);
    ALLOC(seen, v);
    ALLOC(is_kept, v);
    ALLOC(is_there, v);
    ALLOC(next_from, s + 1);
    ALLOC(next, edges);
    ALLOC(reader_from, v + 1);
    ALLOC(readers, edges);
    ALLOC(waits, s);
    ALLOC(added, s);
    ALLOC(ready_since, s);
    ALLOC(is_done, s);
    ALLOC(heap, s + v + edges);
    ALLOC(needs, s);
    ALLOC(stack, s);
    ALLOC(before_from, s + 1);
    ALLOC(before, edges);
#undef ALLOC
    return is_whole ? LN_OK : LN_NO_MEMORY;
}

static void free_all(orderer *o)
{
    void *all[] = {o->roots,    o->bytes,     o->readers_left, o->seen,        o->is_kept,
                   o->is_there, o->next_from, o->next,         o->reader_from, o->readers,
                   o->waits,    o->added,     o->ready_since,  o->is_done,     o->heap,
                   o->needs,    o->stack,     o->before_from,  o->before};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        ln_free(all[i]);
}

static ln_status run_way(orderer *o)
{
    for (uint32_t s = 0; s < o->step_count; s++)
        LN_TRY(check_step(o, s));
    LN_TRY(find_roots(o));
    find_sizes(o);
    find_edges(o);
    schedule(o);
    if (o->ordered_count < o->step_count)
        return LN_FAIL(LN_INVALID, "%zu of %zu steps wait for each other",
                       o->step_count - o->ordered_count, o->step_count);
    if (o->way != LN_ORDER_DEEPEST)
        return LN_OK;
    for (uint32_t i = 0; i < o->value_count; i++)
        o->readers_left[i] = o->reader_from[i + 1] - o->reader_from[i];
    go_deep(o);
    return LN_OK;
}

ln_status ln_plan_order(const ln_plan_value *values, const uint32_t *owners, const uint32_t *makers,
                        size_t value_count, const ln_plan_step *steps, size_t step_count,
                        ln_order_way way, uint32_t *order)
{
    if (value_count >= NOBODY || step_count >= NOBODY)
        return LN_FAIL(LN_LIMIT, "%zu values and %zu steps are too many", value_count, step_count);
    orderer o = {.values = values,
                 .owners = owners,
                 .makers = makers,
                 .value_count = value_count,
                 .steps = steps,
                 .step_count = step_count,
                 .way = way,
                 .order = order};
    if (count_edges(&o) >= NOBODY)
        return LN_FAIL(LN_LIMIT, "%zu edges are too many", count_edges(&o));
    ln_status status = alloc_all(&o);
    if (status == LN_OK)
        status = run_way(&o);
    free_all(&o);
    return status;
}
