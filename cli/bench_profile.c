// SPDX-License-Identifier: Apache-2.0
// Watches runs operator by operator.

#include "bench_profile.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <lightnet/lightnet.h>

// ---- What an operator costs ----

static const ln_tensor_entry *find_arg(const ln_op *op, const char *arg_name)
{
    return ln_op_find_tensor_entry(op, arg_name);
}

// A parameter as it is given, or its default; NULL if the type has none of that name and kind.
static const ln_param_entry *find_param(const ln_op *op, const char *name, ln_param_type type)
{
    const ln_param_entry *param = ln_param_list_find(op->op_arg->params, name);
    const ln_op_info *info = op->op_arg->info;
    for (const ln_param_info *p = info ? info->params : NULL; !param && p && p->arg_name; p++) {
        if (strcmp(p->arg_name, name) == 0)
            param = p->default_entry;
    }
    return param && param->type == type ? param : NULL;
}

static double param_number(const ln_op *op, const char *name)
{
    const ln_param_entry *param = find_param(op, name, LN_PARAM_NUMBER);
    return param ? param->value_double : 0;
}

// The share of a tensor's channels, its last dimension, that a window of `channels` has; 0
// channels are all.
static double window_share(const ln_tensor_entry *entry, double channels)
{
    const tl_tensor *tensor = entry->tensor;
    int last = tensor->ndim > 0 ? tensor->dims[tensor->ndim - 1] : 0;
    return channels > 0 && channels < last ? channels / last : 1;
}

// How much of the input or output an operator touches: all, but for windows of channels.
static double touched_share(const ln_op *op, const char *arg_name, const ln_tensor_entry *entry)
{
    if (strcmp(arg_name, "into") == 0)
        return 0; // dst is in it
    if (strcmp(arg_name, "src") == 0)
        return window_share(entry, param_number(op, "src_channels"));
    if (strcmp(arg_name, "dst") == 0 && find_arg(op, "into"))
        return window_share(entry, param_number(op, "channels"));
    return 1;
}

// Whether the bytes of `part` are bytes of `whole`.
static int lies_in(const tl_tensor *part, const tl_tensor *whole)
{
    uintptr_t first = (uintptr_t)part->data, start = (uintptr_t)whole->data;
    return first >= start && first - start < tl_tensor_size(whole);
}

// How the operator may lay out these two tensors; 0: apart.
static int find_place(const ln_op *op, const char *out, const char *in)
{
    const ln_op_info *info = op->op_arg->info;
    for (const ln_place_info *p = info ? info->places : NULL; p && p->out; p++) {
        if (strncmp(out, p->out, strlen(p->out)) == 0 && strncmp(in, p->in, strlen(p->in)) == 0)
            return (int)p->kind;
    }
    return 0;
}

// What the plan has laid so that nothing is left to do: parts that were made in the whole of a
// concat, a slice that is a view.
static double bytes_in_place(const ln_op *op)
{
    const ln_op_arg *arg = op->op_arg;
    double bytes = 0;
    for (const ln_list *o = arg->tensors_out; o; o = o->next) {
        const ln_tensor_list_entry *out = o->data;
        const ln_tensor_entry *to = ln_tensor_table_find(arg->tensor_table, out->name);
        for (const ln_list *i = to ? arg->tensors_in : NULL; i; i = i->next) {
            const ln_tensor_list_entry *in = i->data;
            const ln_tensor_entry *from = ln_tensor_table_find(arg->tensor_table, in->name);
            int kind = from ? find_place(op, out->arg_name, in->arg_name) : 0;
            if (kind == LN_PLACE_AROUND && lies_in(from->tensor, to->tensor))
                bytes += 2 * (double)tl_tensor_size(from->tensor);
            if (kind == LN_PLACE_INSIDE && lies_in(to->tensor, from->tensor))
                bytes += (double)tl_tensor_size(to->tensor) + (double)tl_tensor_size(from->tensor);
        }
    }
    return bytes;
}

static double list_bytes(const ln_op *op, const ln_list *tensors)
{
    double bytes = 0;
    for (const ln_list *l = tensors; l; l = l->next) {
        const ln_tensor_list_entry *listed = l->data;
        const ln_tensor_entry *entry = ln_tensor_table_find(op->op_arg->tensor_table, listed->name);
        if (entry && entry->tensor && !ln_op_is_scratch(op->op_arg, listed->arg_name))
            bytes +=
                (double)tl_tensor_size(entry->tensor) * touched_share(op, listed->arg_name, entry);
    }
    return bytes;
}

// "3x3/2 ": the window of what has one, and its steps unless they are 1.
static void put_window(const ln_op *op, char *text, size_t byte_count)
{
    const ln_param_entry *size = find_param(op, "size", LN_PARAM_ARRAY_NUMBER);
    const ln_param_entry *stride = find_param(op, "stride", LN_PARAM_ARRAY_NUMBER);
    text[0] = '\0';
    if (!size || size->array_len != 2)
        return;
    int length =
        snprintf(text, byte_count, "%dx%d", size->value_array_int[0], size->value_array_int[1]);
    if (stride && stride->array_len == 2 && stride->value_array_int[0] != 1)
        length +=
            snprintf(text + length, byte_count - (size_t)length, "/%d", stride->value_array_int[0]);
    snprintf(text + length, byte_count - (size_t)length, " ");
}

// The group that `op` waits for; NULL: it does something else.
static const bench_op *find_waited(const bench_profile *profile, const ln_op *op)
{
    const ln_param_entry *group = strcmp(op->op_arg->optype, "wait_ref") == 0
                                      ? find_param(op, "group", LN_PARAM_STRING)
                                      : NULL;
    for (size_t i = 0; group && group->value_string && i < profile->count; i++)
        if (strcmp(group->value_string, profile->ops[i].op->op_arg->name) == 0)
            return &profile->ops[i];
    return NULL;
}

void bench_op_kernel(const bench_profile *profile, const bench_op *measured, char *text,
                     size_t byte_count)
{
    const ln_op *op = measured->op;
    const ln_param_entry *algorithm = find_param(op, "algorithm", LN_PARAM_STRING);
    const char *name = algorithm && algorithm->value_string ? algorithm->value_string : "";
    int is_on_isa = profile->isa && strcmp(op->op_arg->arch, profile->arch_name) == 0;
    char window[48];
    if (measured->is_group) {
        snprintf(text, byte_count, "%s, group of %zu%s", op->op_arg->arch, measured->op_count,
                 measured->is_started ? ", start" : "");
        return;
    }
    if (find_waited(profile, op)) {
        snprintf(text, byte_count, "waits for %s", find_waited(profile, op)->op->op_arg->arch);
        return;
    }
    put_window(op, window, sizeof window);
    snprintf(text, byte_count, "%s%s%s%s", name, *name ? " " : "", window,
             is_on_isa ? profile->isa : op->op_arg->arch);
}

size_t bench_op_end(const bench_profile *profile, size_t at)
{
    for (size_t i = at + 1; profile->ops[at].is_group && i < profile->count; i++)
        if (find_waited(profile, profile->ops[i].op) == &profile->ops[at])
            return i;
    return at;
}

void bench_op_shape(const ln_op *op, char *text, size_t byte_count)
{
    const ln_list *out = op->op_arg->tensors_out;
    const ln_tensor_list_entry *listed = out ? out->data : NULL;
    const ln_tensor_entry *entry =
        listed ? ln_tensor_table_find(op->op_arg->tensor_table, listed->name) : NULL;
    text[0] = '\0';
    if (entry)
        ln_sprint_shape(text, byte_count, entry->tensor->ndim, entry->tensor->dims);
}

double bench_giga(double amount, double seconds)
{
    return seconds > 0 ? amount / seconds * 1e-9 : 0;
}

// ---- Devices ----

static ln_mem_type memory_of(const ln_op *op, const char *arg_name)
{
    const ln_tensor_entry *entry = find_arg(op, arg_name);
    return entry && entry->mtype != LN_MEM_NONE ? entry->mtype : LN_MEM_CPU;
}

static void add_cost(bench_op *found, const ln_op *op)
{
    found->flops += 2 * ln_op_macs(op);
    found->bytes += list_bytes(op, op->op_arg->tensors_in);
    found->bytes += list_bytes(op, op->op_arg->tensors_out);
    found->bytes -= bytes_in_place(op);
}

// The others of the group that `op` begins are its neighbours in the list.
static void add_group(bench_op *found, const ln_op *op)
{
    const ln_list *l = op->op_arg->context ? op->op_arg->context->ops : NULL;
    while (l && l->data != op)
        l = l->next;
    for (l = l ? l->next : NULL; l; l = l->next) {
        const ln_op *other = l->data;
        if (strcmp(other->op_arg->arch, op->op_arg->arch) != 0)
            return;
        add_cost(found, other);
        found->op_count++;
    }
}

static void note_costs(bench_op *found, const ln_op *op)
{
    const ln_arch *arch = ln_arch_find(op->op_arg->arch);
    found->op_count = 1;
    add_cost(found, op);
    found->is_group = arch && arch->prepare && (arch->run || arch->run_async);
    if (found->is_group)
        add_group(found, op);
    if (strcmp(op->op_arg->optype, "copy_ref") != 0 || memory_of(op, "src") == memory_of(op, "dst"))
        return;
    found->from = memory_of(op, "src");
    found->to = memory_of(op, "dst");
}

// ---- Watching ----

// In the first run, each operator is new.
static ln_status meet(bench_profile *p, const ln_op *op)
{
    if (p->at < p->count)
        return p->ops[p->at].op == op
                   ? LN_OK
                   : LN_FAIL(LN_INVALID, "runs of the model have different operators");
    if (p->run_count > 0)
        return LN_FAIL(LN_INVALID, "runs of the model have different lengths");
    if (p->count == p->capacity) {
        size_t capacity = p->capacity ? p->capacity * 2 : 64;
        bench_op *ops =
            capacity < SIZE_MAX / sizeof *ops ? realloc(p->ops, capacity * sizeof *ops) : NULL;
        if (!ops)
            return LN_FAIL(LN_NO_MEMORY, "out of memory for %zu operators", capacity);
        p->ops = ops;
        p->capacity = capacity;
    }
    p->ops[p->count] = (bench_op){.op = op, .position = p->count};
    p->count++;
    return LN_OK;
}

// The clock is read last here and first in `after`, so that the bookkeeping is not measured.
static void before(void *user, const ln_op *op)
{
    bench_profile *p = user;
    if (p->has_failed_over)
        return;
    if (p->status == LN_OK)
        p->status = meet(p, op);
    if (p->status == LN_OK)
        p->status = bench_times_add(&p->starts, 0);
    if (p->status == LN_OK)
        p->starts.items[p->starts.count - 1] = bench_clock();
}

// Prices and bytes are asked for while open tensors still have their shapes.
static void after(void *user, const ln_op *op)
{
    double end = bench_clock();
    bench_profile *p = user;
    if (p->has_failed_over)
        return;
    if (p->status == LN_OK)
        p->status = bench_times_add(&p->ends, end);
    if (p->status != LN_OK)
        return;
    if (p->run_count == 0)
        note_costs(&p->ops[p->at], op);
    p->at++;
}

// What follows are operators of the host, and times of no use.
static void note_failover(void *user, const char *message)
{
    bench_profile *p = user;
    p->has_failed_over = 1;
    snprintf(p->reason, sizeof p->reason, "%s", message);
    if (p->status == LN_OK)
        p->status = bench_times_add(&p->failovers, bench_clock());
}

static void drop_run(bench_profile *p)
{
    if (p->run_count == 0)
        p->count = 0;
    p->starts.count = p->ends.count = p->run_count * p->count;
}

static ln_status watch(bench_profile *p, ln_context *ctx, int runs)
{
    for (int r = 0; r < runs; r++) {
        p->at = 0;
        p->has_failed_over = 0;
        LN_TRY(ln_context_run(ctx));
        if (p->status != LN_OK)
            return p->status;
        if (p->has_failed_over)
            drop_run(p);
        else
            p->run_count++;
    }
    if (p->run_count == 0 && runs > 0)
        return LN_FAIL(LN_IO, "a device fails in each run, so there is nothing to profile: %s",
                       p->reason);
    return LN_OK;
}

// Median seconds from the start of operator `from` until the end of `to`, and *out_best of them.
static double median_of(const bench_profile *p, size_t from, size_t to, double *seconds,
                        double *out_best)
{
    for (size_t r = 0; r < p->run_count; r++)
        seconds[r] = p->ends.items[r * p->count + to] - p->starts.items[r * p->count + from];
    double median = bench_median(seconds, p->run_count);
    *out_best = seconds[0]; // sorted by now
    return median;
}

static ln_status find_medians(bench_profile *p)
{
    double *seconds = calloc(p->run_count ? p->run_count : 1, sizeof *seconds);
    if (!seconds)
        return LN_FAIL(LN_NO_MEMORY, "out of memory for %zu times", p->run_count);
    for (size_t i = 0; i < p->count; i++) {
        bench_op *op = &p->ops[i];
        size_t end = bench_op_end(p, i);
        double best;
        op->seconds = median_of(p, i, i, seconds, &op->best);
        op->span = op->is_group ? median_of(p, i, end, seconds, &best) : 0;
        op->is_started = end != i;
        p->seconds += op->seconds;
    }
    free(seconds);
    return LN_OK;
}

ln_status bench_profile_run(bench_profile *profile, ln_context *ctx, int runs)
{
    ln_observer observer = {
        .before = before, .after = after, .user = profile, .fails_over = note_failover};
    LN_TRY(ln_context_set_observer(ctx, &observer));
    ln_status status = watch(profile, ctx, runs);
    (void)ln_context_set_observer(ctx, NULL);
    return status == LN_OK ? find_medians(profile) : status;
}

void bench_profile_free(bench_profile *profile)
{
    free(profile->ops);
    bench_times_free(&profile->starts);
    bench_times_free(&profile->ends);
    bench_times_free(&profile->failovers);
    *profile = (bench_profile){0};
}
