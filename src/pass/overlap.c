// SPDX-License-Identifier: Apache-2.0
// Overlap: while a device computes a group that it runs asynchronously, the host goes on with what
// does not depend on it.
//
// The list is made anew: a group that is ready is started at once; before that comes what groups
// that have not been started need; then what needs no group that has not been waited for; and only
// when nothing else is left, a `wait` for the group that was started first. Of several groups, or
// operators that groups need, the one with the longest way to the end of the model comes first, by
// cost; of all else, what comes first in the list. A wait names every tensor
// of its group, so that lifetimes, the plan and its checker follow from the list. Where that brings
// nothing between a group and its wait, there is no wait, and the group is one step.

#include "pass/overlap.h"

#include <stdio.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/list.h>
#include <lightnet/util.h>

#include "arch/registry.h"
#include "base/name_hash.h"
#include "ir/context.h"
#include "ir/op_life.h"
#include "pass/firing.h"

// An operator in call form takes no more in one argument.
#define MAX_TENSORS 4096

// What the list is made of: an operator of the host, or a group.
typedef struct unit {
    const ln_arch *arch;  // of a group; NULL: the host's
    size_t first, count;  // of the operators
    double rest;          // cost of the longest way from here to the end, in work units
    uint32_t left;        // edges from units that are not done
    uint32_t root;        // the group that it was started with: its neighbours in the new list
    uint32_t next_joined; // of those of one root; NO_UNIT: none
    bool is_async;
    bool leads;    // to a group that is asynchronous
    bool is_idle;  // does nothing in a run
    bool is_done;  // of a root: it has been waited for
    bool has_wait; // of a root
} unit;

#define NO_UNIT UINT32_MAX

typedef struct overlapping {
    ln_compilation *compilation;
    ln_context *ctx;
    size_t op_count, unit_count, edge_count;
    ln_op **ops;
    uint32_t *unit_of; // of each operator
    unit *units;
    uint32_t *starts, *edges; // of each unit, those that read what it makes
    ln_hash *makers;          // tensor -> number of its operator plus 1
    uint32_t *order;          // units; WAIT set for the wait of one
    size_t order_count;
} overlapping;

#define WAIT UINT32_C(0x80000000)

// ---- The units ----

static const ln_arch *group_arch(const ln_op *op)
{
    const ln_arch *arch = ln_arch_find(op->op_arg->arch);
    return ln_arch_runs_groups(arch) ? arch : NULL;
}

static bool makes_static(const overlapping *o, const ln_op *op)
{
    const ln_tensor_list_entry *out;
    LN_LIST_FOREACH (out, op->op_arg->tensors_out) {
        const ln_tensor_entry *entry = ln_tensor_table_find(o->ctx->tensor_table, out->name);
        if (!entry || !entry->isstatic)
            return false;
    }
    return op->op_arg->tensors_out != NULL;
}

static size_t count_tensors(const overlapping *o, const unit *u)
{
    size_t count = 0;
    for (size_t i = u->first; i < u->first + u->count; i++)
        count += (size_t)ln_list_length(o->ops[i]->op_arg->tensors_in) +
                 (size_t)ln_list_length(o->ops[i]->op_arg->tensors_out);
    return count;
}

static ln_status note_made(overlapping *o, size_t i)
{
    const ln_tensor_list_entry *out;
    LN_LIST_FOREACH (out, o->ops[i]->op_arg->tensors_out)
        if (ln_hash_insert(o->makers, out->name, (void *)(uintptr_t)(i + 1)) < 0)
            return ln_error_status();
    return LN_OK;
}

// A wait names no tensor that is static.
static bool makes_static_only(const overlapping *o, const unit *u)
{
    bool is_static = true;
    for (size_t i = u->first; i < u->first + u->count; i++)
        is_static = is_static && makes_static(o, o->ops[i]);
    return is_static;
}

static ln_status find_units(overlapping *o)
{
    const ln_arch *last = NULL;
    size_t i = 0;
    for (const ln_list *l = o->ctx->ops; l; l = l->next, i++) {
        o->ops[i] = l->data;
        const ln_arch *arch = group_arch(l->data);
        if (!arch || arch != last)
            o->units[o->unit_count++] =
                (unit){.arch = arch, .first = i, .is_async = ln_arch_runs_async(arch)};
        last = arch;
        unit *u = &o->units[o->unit_count - 1];
        u->count++;
        bool is_idle = !o->ops[i]->run || makes_static(o, l->data);
        u->is_idle = is_idle && (u->count == 1 || u->is_idle);
        o->unit_of[i] = (uint32_t)(o->unit_count - 1);
        LN_TRY(note_made(o, i));
    }
    for (size_t k = 0; k < o->unit_count; k++)
        o->units[k].is_async = o->units[k].is_async && !makes_static_only(o, &o->units[k]) &&
                               count_tensors(o, &o->units[k]) <= MAX_TENSORS;
    return LN_OK;
}

// The unit that makes what `in` names, if that is another one than `reader`.
static bool find_edge(const overlapping *o, const ln_tensor_list_entry *in, uint32_t reader,
                      uint32_t *out_from)
{
    uintptr_t number = (uintptr_t)ln_hash_find(o->makers, in->name);
    *out_from = number ? o->unit_of[number - 1] : reader;
    return *out_from != reader;
}

// Twice: to count edges, and to note them.
static void walk_edges(overlapping *o, bool is_counting)
{
    for (size_t i = 0; i < o->op_count; i++) {
        const ln_tensor_list_entry *in;
        uint32_t reader = o->unit_of[i], from;
        LN_LIST_FOREACH (in, o->ops[i]->op_arg->tensors_in) {
            if (!find_edge(o, in, reader, &from))
                continue;
            if (is_counting)
                o->starts[from + 1]++;
            else
                o->edges[o->starts[from]++] = reader;
        }
    }
}

static ln_status find_edges(overlapping *o)
{
    size_t count = 0;
    for (size_t i = 0; i < o->op_count; i++)
        count += (size_t)ln_list_length(o->ops[i]->op_arg->tensors_in);
    o->edges = ln_alloc_array(count + 1, sizeof *o->edges);
    o->starts = ln_alloc_array(o->unit_count + 2, sizeof *o->starts);
    if (!o->edges || !o->starts)
        return LN_NO_MEMORY;
    walk_edges(o, true);
    for (size_t k = 0; k < o->unit_count; k++)
        o->starts[k + 1] += o->starts[k];
    walk_edges(o, false);
    // Each start has moved to the next one's.
    memmove(o->starts + 1, o->starts, o->unit_count * sizeof *o->starts);
    o->starts[0] = 0;
    return LN_OK;
}

static double cost_of(const overlapping *o, const unit *u)
{
    double cost = 0;
    for (size_t i = u->first; i < u->first + u->count && !u->is_idle; i++)
        cost += ln_op_cost(o->ops[i]);
    return cost;
}

static void find_rests(overlapping *o)
{
    for (size_t k = o->unit_count; k-- > 0;) {
        unit *u = &o->units[k];
        u->rest = 0;
        for (uint32_t e = o->starts[k]; e < o->starts[k + 1]; e++)
            if (o->units[o->edges[e]].rest > u->rest)
                u->rest = o->units[o->edges[e]].rest;
        u->rest += cost_of(o, u);
    }
}

static void find_leading(overlapping *o)
{
    for (size_t k = o->unit_count; k-- > 0;) {
        unit *u = &o->units[k];
        u->leads = false;
        for (uint32_t e = o->starts[k]; e < o->starts[k + 1]; e++)
            u->leads = u->leads || o->units[o->edges[e]].is_async || o->units[o->edges[e]].leads;
    }
}

// ---- The order ----

// Ready units of one kind: a binary heap of their numbers.
typedef struct heap {
    uint32_t *units;
    size_t count;
    const unit *by_rest; // all units: the longest rest comes first; NULL: the earliest
} heap;

static bool comes_before(const heap *h, uint32_t a, uint32_t b)
{
    double of_a = h->by_rest ? h->by_rest[a].rest : 0, of_b = h->by_rest ? h->by_rest[b].rest : 0;
    return of_a > of_b || (!(of_a < of_b) && a < b);
}

static void heap_push(heap *h, uint32_t unit_number)
{
    size_t at = h->count++;
    for (; at > 0 && comes_before(h, unit_number, h->units[(at - 1) / 2]); at = (at - 1) / 2)
        h->units[at] = h->units[(at - 1) / 2];
    h->units[at] = unit_number;
}

static uint32_t heap_pop(heap *h)
{
    uint32_t top = h->units[0], last = h->units[--h->count];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < h->count; at = child) {
        if (child + 1 < h->count && comes_before(h, h->units[child + 1], h->units[child]))
            child++;
        if (!comes_before(h, h->units[child], last))
            break;
        h->units[at] = h->units[child];
    }
    h->units[at] = last;
    return top;
}

// What does nothing in a run comes first: it must not stand between two groups of one arch, which
// are neighbours once it has gone elsewhere.
enum { IDLE, GROUPS, LEADING, OTHERS, KIND_COUNT };

typedef struct ready {
    heap heaps[KIND_COUNT];
    uint32_t *started; // groups that are not waited for, in the order of their starts
    size_t first_started, started_count;
} ready;

static void push_ready(const overlapping *o, ready *r, uint32_t k)
{
    const unit *u = &o->units[k];
    bool is_idle = u->is_idle && !u->arch;
    heap_push(&r->heaps[is_idle ? IDLE : u->is_async ? GROUPS : u->leads ? LEADING : OTHERS], k);
}

static void finish(overlapping *o, ready *r, uint32_t k)
{
    for (uint32_t e = o->starts[k]; e < o->starts[k + 1]; e++)
        if (--o->units[o->edges[e]].left == 0)
            push_ready(o, r, o->edges[e]);
}

static size_t tensors_of_joined(const overlapping *o, uint32_t root)
{
    size_t count = 0;
    for (uint32_t k = root; k != NO_UNIT; k = o->units[k].next_joined)
        count += count_tensors(o, &o->units[k]);
    return count;
}

static void join(overlapping *o, uint32_t root, uint32_t k)
{
    uint32_t last = root;
    while (o->units[last].next_joined != NO_UNIT)
        last = o->units[last].next_joined;
    o->units[last].next_joined = k;
    o->units[k].root = root;
}

static void finish_joined(overlapping *o, ready *r, uint32_t root)
{
    o->units[root].is_done = true;
    for (uint32_t k = root; k != NO_UNIT; k = o->units[k].next_joined)
        finish(o, r, k);
}

static void push_wait(overlapping *o, uint32_t root)
{
    o->units[root].has_wait = true;
    o->order[o->order_count++] = root | WAIT;
}

// Neighbours of one arch are one group. True if `k` has become part of the one before it, which is
// in flight; a wait goes between them where it cannot.
static bool joins_last(overlapping *o, ready *r, uint32_t k)
{
    size_t at = o->order_count;
    while (at > 0 && !(o->order[at - 1] & WAIT) && !o->units[o->order[at - 1]].arch &&
           o->units[o->order[at - 1]].is_idle)
        at--;
    uint32_t last = at > 0 ? o->order[at - 1] : WAIT;
    if ((last & WAIT) || !o->units[k].arch || o->units[last].arch != o->units[k].arch)
        return false;
    if (!o->units[last].is_async) {
        o->units[k].is_async = false; // as the one that it is part of
        return false;
    }
    uint32_t root = o->units[last].root;
    bool is_over = o->units[root].is_done;
    if (!is_over && o->units[k].is_async &&
        tensors_of_joined(o, root) + count_tensors(o, &o->units[k]) <= MAX_TENSORS) {
        join(o, root, k);
        return true;
    }
    // Before what does nothing in a run: views of what the group makes.
    push_wait(o, root);
    for (size_t i = o->order_count - 1; i > at; i--) {
        uint32_t wait = o->order[i];
        o->order[i] = o->order[i - 1];
        o->order[i - 1] = wait;
    }
    if (!is_over)
        finish_joined(o, r, root);
    return false;
}

static void run_unit(overlapping *o, ready *r, uint32_t k)
{
    unit *u = &o->units[k];
    bool is_joined = joins_last(o, r, k);
    o->order[o->order_count++] = k;
    if (!u->is_async)
        finish(o, r, k);
    else if (!is_joined)
        r->started[r->started_count++] = k;
}

// A wait right after its group, but for what does nothing in a run, is none.
static bool is_between(const overlapping *o, uint32_t root)
{
    for (size_t at = o->order_count; at > 0; at--) {
        uint32_t other = o->order[at - 1];
        bool is_wait = (other & WAIT) != 0;
        if (!is_wait && o->units[other].is_async && o->units[other].root == root)
            return false;
        if (!is_wait && !o->units[other].is_idle)
            return true;
    }
    return false;
}

static void wait_for_first(overlapping *o, ready *r)
{
    uint32_t root = r->started[r->first_started++];
    if (o->units[root].is_done)
        return;
    if (is_between(o, root))
        push_wait(o, root);
    finish_joined(o, r, root);
}

static void simulate(overlapping *o, ready *r)
{
    for (int kind = 0; kind < KIND_COUNT; kind++)
        r->heaps[kind].count = 0;
    r->first_started = r->started_count = o->order_count = 0;
    for (uint32_t k = 0; k < o->unit_count; k++) {
        unit *u = &o->units[k];
        u->root = k;
        u->next_joined = NO_UNIT;
        u->left = 0;
        u->is_done = u->has_wait = false;
    }
    for (size_t k = 0; k < o->unit_count; k++)
        for (uint32_t e = o->starts[k]; e < o->starts[k + 1]; e++)
            o->units[o->edges[e]].left++;
    find_leading(o);
    for (uint32_t k = 0; k < o->unit_count; k++)
        if (o->units[k].left == 0)
            push_ready(o, r, k);
    for (;;) {
        int kind = 0;
        while (kind < KIND_COUNT && r->heaps[kind].count == 0)
            kind++;
        if (kind < KIND_COUNT)
            run_unit(o, r, heap_pop(&r->heaps[kind]));
        else if (r->first_started < r->started_count)
            wait_for_first(o, r);
        else
            return;
    }
}

static ln_status ready_init(ready *r, size_t unit_count)
{
    bool is_whole = true;
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        r->heaps[kind].units = ln_alloc_array(unit_count + 1, sizeof *r->heaps[kind].units);
        is_whole = is_whole && r->heaps[kind].units;
    }
    r->started = ln_alloc_array(unit_count + 1, sizeof *r->started);
    return is_whole && r->started ? LN_OK : LN_NO_MEMORY;
}

static void ready_deinit(ready *r)
{
    for (int kind = 0; kind < KIND_COUNT; kind++)
        ln_free(r->heaps[kind].units);
    ln_free(r->started);
}

// ---- Waits ----

static ln_status add_tensors(const overlapping *o, const unit *u, ln_hash *seen, ln_list **ins)
{
    for (size_t i = u->first; i < u->first + u->count; i++) {
        const ln_op_arg *arg = o->ops[i]->op_arg;
        const ln_list *const lists[] = {arg->tensors_in, arg->tensors_out};
        for (int side = 0; side < 2; side++) {
            const ln_tensor_list_entry *listed;
            LN_LIST_FOREACH (listed, lists[side]) {
                const ln_tensor_entry *entry =
                    ln_tensor_table_find(o->ctx->tensor_table, listed->name);
                if (!entry || entry->isstatic || ln_hash_find(seen, entry->name))
                    continue;
                if (ln_hash_insert(seen, entry->name, seen) < 0)
                    return ln_error_status();
                char arg_name[32];
                snprintf(arg_name, sizeof arg_name, "src%d", ln_hash_size(seen));
                ln_tensor_list_entry *in = ln_tensor_list_entry_create(arg_name, entry->name);
                if (!in)
                    return LN_NO_MEMORY;
                ln_status status = ln_list_push_front(ins, in);
                if (status != LN_OK) {
                    ln_tensor_list_entry_free(in);
                    return status;
                }
            }
        }
    }
    return LN_OK;
}

static ln_status list_tensors(const overlapping *o, uint32_t root, ln_list **out_ins)
{
    *out_ins = NULL;
    ln_hash *seen = ln_hash_create(ln_name_hash, ln_str_cmp, NULL, NULL);
    ln_status status = seen ? LN_OK : LN_NO_MEMORY;
    for (uint32_t k = root; k != NO_UNIT && status == LN_OK; k = o->units[k].next_joined)
        status = add_tensors(o, &o->units[k], seen, out_ins);
    ln_hash_free(seen);
    *out_ins = ln_list_reverse(*out_ins);
    return status;
}

static void name_wait(const overlapping *o, size_t *number, char name[LN_MAX_NAME_LEN])
{
    do
        snprintf(name, LN_MAX_NAME_LEN, "wait%zu", (*number)++);
    while (ln_op_table_find(o->ctx->op_table, name));
}

static ln_status make_wait(const overlapping *o, uint32_t root, size_t *number, ln_op **out_op)
{
    char name[LN_MAX_NAME_LEN];
    name_wait(o, number, name);
    const ln_op *proto = ln_op_find_reference("wait");
    const char *group = o->ops[o->units[root].first]->op_arg->name;
    ln_list *ins, *params = ln_param_list_append_string(NULL, "group", group);
    ln_status status = list_tensors(o, root, &ins);
    *out_op = status == LN_OK && params && proto
                  ? ln_op_create_from_proto(proto, name, ins, NULL, params, o->ctx->tensor_table)
                  : NULL;
    if (*out_op)
        return LN_OK;
    ln_tensor_list_free(ins);
    ln_param_list_free(params);
    if (!proto)
        return LN_FAIL(LN_NOT_FOUND, "no reference arch has an operator 'wait'");
    return status == LN_OK ? ln_error_status() : status;
}

// ---- The new list ----

static ln_status list_ops(const overlapping *o, ln_list **out_list)
{
    ln_list_builder builder = {0};
    ln_status status = LN_OK;
    for (size_t k = 0; k < o->order_count && status == LN_OK; k++) {
        const unit *u = &o->units[o->order[k] & ~WAIT];
        for (size_t i = 0; !(o->order[k] & WAIT) && i < u->count && status == LN_OK; i++)
            status = ln_list_builder_push(&builder, o->ops[u->first + i]);
    }
    if (status != LN_OK) {
        ln_list_free(builder.list);
        return status;
    }
    *out_list = builder.list;
    return LN_OK;
}

// Before the operator that comes next in the order; the last ones first, so that the nodes of
// others stay.
static ln_status insert_waits(const overlapping *o)
{
    ln_list **nodes = ln_alloc_array(o->op_count + 1, sizeof *nodes);
    if (!nodes)
        return LN_NO_MEMORY;
    size_t left = 0, number = 0;
    for (ln_list *l = o->ctx->ops; l; l = l->next)
        nodes[left++] = l;
    ln_status status = LN_OK;
    for (size_t k = o->order_count; k-- > 0 && status == LN_OK;) {
        if (!(o->order[k] & WAIT)) {
            left -= o->units[o->order[k]].count;
            continue;
        }
        ln_op *op;
        ln_list *position = left < o->op_count ? nodes[left] : NULL;
        status = make_wait(o, o->order[k] & ~WAIT, &number, &op);
        if (status != LN_OK)
            break;
        status = ln_context_add_op(o->ctx, &position, op);
        if (status != LN_OK)
            ln_op_free_lists_too(op);
    }
    ln_free(nodes);
    return status;
}

static ln_status apply(const overlapping *o)
{
    ln_list *list;
    LN_TRY(list_ops(o, &list));
    ln_list_free(o->ctx->ops);
    o->ctx->ops = list;
    o->ctx->ops_last = NULL;
    ln_context_forget_ends(o->ctx);
    if (!ln_context_check(o->ctx))
        return ln_fail_prefix("the order in which devices overlap breaks the data flow");
    return insert_waits(o);
}

// ---- Rewrites ----

static ln_firing firing_of(const overlapping *o, const unit *u, ln_firing_names *names)
{
    return ln_firing_of_pass("overlap", "exact", o->ops[u->first], names);
}

// Each wait is a rewrite. *out_is_any: one happens; the groups of others are no longer
// asynchronous.
static ln_status decide(overlapping *o, bool *out_is_any, bool *out_is_changed)
{
    *out_is_any = *out_is_changed = false;
    for (size_t k = 0; k < o->unit_count; k++) {
        unit *u = &o->units[k];
        bool fires = false;
        ln_firing_names names;
        ln_firing firing = firing_of(o, u, &names);
        if (u->has_wait)
            LN_TRY(ln_firing_decide(o->compilation, &firing, &fires));
        if (fires)
            LN_TRY(ln_firing_done(o->compilation, &firing, LN_OK));
        *out_is_any = *out_is_any || fires;
        *out_is_changed = *out_is_changed || (u->has_wait && !fires);
        u->is_async = u->is_async && (fires || u->root != k);
    }
    return LN_OK;
}

// ---- The whole ----

// An operator whose description lays its output over what it reads has an order with the other
// readers that the data flow does not show.
static bool overwrites(const overlapping *o)
{
    for (size_t i = 0; i < o->op_count; i++) {
        const ln_tensor_list_entry *out;
        LN_LIST_FOREACH (out, o->ops[i]->op_arg->tensors_out) {
            const ln_tensor_entry *entry = ln_tensor_table_find(o->ctx->tensor_table, out->name);
            if (entry && entry->owner && (o->ops[i]->run || o->ops[i]->static_run))
                return true;
        }
    }
    return false;
}

static bool has_async(const ln_compilation *compilation)
{
    for (size_t i = 0; i < compilation->arch_count; i++)
        if (ln_arch_runs_async(compilation->archs[i]))
            return true;
    return false;
}

static ln_status overlap(overlapping *o, ready *r)
{
    bool is_any, is_changed;
    o->op_count = (size_t)ln_list_length(o->ctx->ops);
    o->ops = ln_alloc_array(o->op_count + 1, sizeof(ln_op *));
    o->unit_of = ln_alloc_array(o->op_count + 1, sizeof *o->unit_of);
    o->units = ln_alloc_array(o->op_count + 1, sizeof *o->units);
    o->order = ln_alloc_array(2 * o->op_count + 1, sizeof *o->order);
    o->makers = ln_hash_create(ln_name_hash, ln_str_cmp, NULL, NULL);
    if (!o->ops || !o->unit_of || !o->units || !o->order || !o->makers)
        return LN_NO_MEMORY;
    LN_TRY(find_units(o));
    if (overwrites(o))
        return LN_OK;
    LN_TRY(find_edges(o));
    find_rests(o);
    LN_TRY(ready_init(r, o->unit_count));
    r->heaps[GROUPS].by_rest = r->heaps[LEADING].by_rest = o->units;
    simulate(o, r);
    LN_TRY(decide(o, &is_any, &is_changed));
    if (!is_any)
        return LN_OK;
    simulate(o, r);
    return apply(o);
}

ln_status ln_overlap(ln_compilation *compilation)
{
    if (compilation->ctx->outer || !has_async(compilation))
        return LN_OK;
    overlapping o = {.compilation = compilation, .ctx = compilation->ctx};
    ready r = {0};
    ln_status status = overlap(&o, &r);
    ready_deinit(&r);
    ln_free(o.ops);
    ln_free(o.unit_of);
    ln_free(o.units);
    ln_free(o.order);
    ln_free(o.starts);
    ln_free(o.edges);
    ln_hash_free(o.makers);
    return status;
}
