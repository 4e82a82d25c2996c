// SPDX-License-Identifier: Apache-2.0
// The parts of a split model, and their table:
//
//     step     host                      echo
//     5                                  <- 4,096 bytes of 'x'
//     6 - 9                              4 operators, 'linear0' to 'softmax0'; waited for at 12
//     10 - 11  2 operators, 'a' to 'b'

#include "split.h"

#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "compile_flags.h"
#include "fallback.h"

// ---- What was decided ----

void note_offload(void *user, const ln_offload *offload)
{
    offload_notes *notes = user;
    if (notes->is_verbose)
        say_offload(NULL, offload);
    if (notes->has_no_memory)
        return;
    if ((notes->count & (notes->count + 1)) == 0) { // it doubles
        void *grown = realloc(notes->items, (2 * notes->count + 1) * sizeof *notes->items);
        notes->has_no_memory = !grown;
        if (!grown)
            return;
        notes->items = grown;
    }
    ln_offload *copy = &notes->items[notes->count];
    *copy = *offload;
    copy->arch = strdup(offload->arch);
    copy->op = strdup(offload->op);
    copy->reason = offload->reason ? strdup(offload->reason) : NULL;
    notes->count++;
    notes->has_no_memory = !copy->arch || !copy->op || (offload->reason && !copy->reason);
}

void offload_notes_free(offload_notes *notes)
{
    for (size_t i = 0; i < notes->count; i++) {
        free((void *)(uintptr_t)notes->items[i].arch);
        free((void *)(uintptr_t)notes->items[i].op);
        free((void *)(uintptr_t)notes->items[i].reason);
    }
    free(notes->items);
    *notes = (offload_notes){0};
}

// ---- The devices ----

static int is_device(const ln_arch *arch)
{
    return arch && arch->prepare && (arch->run || arch->run_async);
}

static int device_index(const model_split *s, const char *arch_name)
{
    for (size_t i = 0; i < s->device_count; i++)
        if (strcmp(s->devices[i]->arch_name, arch_name) == 0)
            return (int)i;
    return -1;
}

static ln_status find_devices(model_split *s, const ln_context *ctx)
{
    s->devices = calloc(ln_arch_count() + 1, sizeof *s->devices);
    if (!s->devices)
        return LN_FAIL(LN_NO_MEMORY, "out of memory for devices");
    const ln_op *op;
    const char *last = "";
    LN_LIST_FOREACH (op, ctx->ops) {
        const char *name = op->op_arg->arch;
        if (strcmp(name, last) == 0 || device_index(s, name) >= 0)
            continue;
        last = name;
        ln_arch *arch = ln_arch_find(name);
        if (is_device(arch))
            s->devices[s->device_count++] = arch;
    }
    return LN_OK;
}

// What has a dynamic shape is on the host until a run says which.
static void find_waiting(model_split *s, const ln_context *ctx)
{
    int has_open = 0;
    for (size_t i = 0; ln_context_input(ctx, i) && !has_open; i++)
        has_open = ln_context_input_is_open(ctx, i);
    for (const char *at = has_open ? ctx->target : NULL; at && *at; at += *at == ',') {
        size_t length = strcspn(at, ",");
        for (size_t i = 0; i < ln_arch_count() && !s->waiting; i++) {
            const ln_arch *arch = ln_arch_find_at(i);
            if (arch->core_ops && is_device(arch) && strlen(arch->arch_name) == length &&
                strncmp(arch->arch_name, at, length) == 0)
                s->waiting = arch;
        }
        at += length;
    }
}

ln_mem_type split_memory(const model_split *s, int device)
{
    ln_mem_type mtype = device < 0 ? LN_MEM_CPU : s->devices[device]->mem_type;
    return mtype == LN_MEM_NONE ? LN_MEM_CPU : mtype;
}

const char *split_name(const model_split *s, int device)
{
    return device < 0 ? "host" : s->devices[device]->arch_name;
}

// The first device whose memory it is.
static int device_in(const model_split *s, ln_mem_type mtype)
{
    for (size_t i = 0; i < s->device_count && mtype > LN_MEM_CPU; i++)
        if (split_memory(s, (int)i) == mtype)
            return (int)i;
    return -1;
}

// ---- The parts ----

static const char *text_param(const ln_op *op, const char *name)
{
    const ln_param_entry *param = ln_param_list_find(op->op_arg->params, name);
    return param && param->value_string ? param->value_string : "";
}

static int is_wait(const ln_op *op)
{
    return strcmp(op->op_arg->optype, "wait_ref") == 0;
}

int split_device_of(const model_split *s, const ln_context *ctx, const ln_op *op)
{
    return op_is_copy(ctx, op) ? -2 : device_index(s, op->op_arg->arch);
}

static const ln_tensor_entry *first_of(const ln_context *ctx, const ln_list *tensors)
{
    const ln_tensor_list_entry *listed = tensors ? tensors->data : NULL;
    return listed ? ln_tensor_table_find(ctx->tensor_table, listed->name) : NULL;
}

static void note_copy(const model_split *s, const ln_context *ctx, const ln_op *op,
                      split_part *part)
{
    const ln_tensor_entry *from = first_of(ctx, op->op_arg->tensors_in);
    const ln_tensor_entry *to = first_of(ctx, op->op_arg->tensors_out);
    part->from = from ? device_in(s, from->mtype) : -1;
    part->to = to ? device_in(s, to->mtype) : -1;
    part->byte_count = from ? tl_tensor_size(from->tensor) : 0;
    part->is_at_load = to && to->isstatic;
}

// The part of the group that a wait is for, as its step.
static int note_wait(model_split *s, const ln_op *op, size_t step)
{
    const char *group = text_param(op, "group");
    for (size_t i = s->part_count; i-- > 0;) {
        split_part *p = &s->parts[i];
        if (p->kind != SPLIT_GROUP ||
            strcmp(((const ln_op *)p->ops->data)->op_arg->name, group) != 0)
            continue;
        p->wait_step = step;
        return p->device;
    }
    return -1;
}

// Whether the operator goes on with the part before it.
static int continues(const model_split *s, split_kind kind, int device)
{
    const split_part *last = s->part_count ? &s->parts[s->part_count - 1] : NULL;
    return last && last->kind == kind && last->device == device &&
           (kind == SPLIT_HOST || kind == SPLIT_GROUP);
}

static void add_op(model_split *s, const ln_context *ctx, const ln_list *node, size_t step)
{
    const ln_op *op = node->data;
    int device = device_index(s, op->op_arg->arch);
    split_kind kind = device >= 0           ? SPLIT_GROUP
                      : op_is_copy(ctx, op) ? SPLIT_COPY
                      : is_wait(op)         ? SPLIT_WAIT
                                            : SPLIT_HOST;
    if (kind == SPLIT_WAIT)
        device = note_wait(s, op, step);
    if (!continues(s, kind, device))
        s->parts[s->part_count++] =
            (split_part){.kind = kind, .device = device, .ops = node, .first_step = step};
    split_part *part = &s->parts[s->part_count - 1];
    part->op_count++;
    int is_run = op_is_run(ctx, op);
    part->run_count += (size_t)is_run;
    if (is_run || kind == SPLIT_GROUP) {
        if (!part->first_run) {
            part->first_run = op;
            part->first_run_step = step;
        }
        part->last_run = op;
        part->last_run_step = step;
    }
    part->wait_step = step;
    if (kind == SPLIT_COPY)
        note_copy(s, ctx, op, part);
}

ln_status split_init(model_split *s, const ln_context *ctx)
{
    *s = (model_split){.step_count = (size_t)ln_list_length(ctx->ops)};
    s->parts = calloc(s->step_count + 1, sizeof *s->parts);
    ln_status status = s->parts ? LN_OK : LN_FAIL(LN_NO_MEMORY, "out of memory for parts");
    if (status == LN_OK)
        status = find_devices(s, ctx);
    find_waiting(s, ctx);
    size_t step = 0;
    for (const ln_list *l = ctx->ops; l && status == LN_OK; l = l->next)
        add_op(s, ctx, l, step++);
    if (status != LN_OK)
        split_deinit(s);
    return status;
}

void split_deinit(model_split *s)
{
    free(s->devices);
    free(s->parts);
    *s = (model_split){0};
}

// ---- Sums ----

typedef struct sums {
    size_t groups, ops;
} sums;

static sums sums_of(const model_split *s, int device)
{
    sums sum = {0};
    for (size_t i = 0; i < s->part_count; i++) {
        const split_part *p = &s->parts[i];
        if (p->device != device || (p->kind != SPLIT_GROUP && p->kind != SPLIT_HOST))
            continue;
        sum.groups++;
        sum.ops += p->kind == SPLIT_GROUP ? p->op_count : p->run_count;
    }
    return sum;
}

static void sum_copies(const model_split *s, int is_at_load, size_t *out_count, size_t *out_bytes)
{
    *out_count = *out_bytes = 0;
    for (size_t i = 0; i < s->part_count; i++)
        if (s->parts[i].kind == SPLIT_COPY && s->parts[i].is_at_load == is_at_load) {
            ++*out_count;
            *out_bytes += s->parts[i].byte_count;
        }
}

static int is_told(const model_split *s, const offload_notes *notes)
{
    return s->device_count > 0 || s->waiting || (notes && notes->count > 0);
}

// ---- Text ----

enum { COLUMN = 36, STEP_COLUMN = 10, MAX_REFUSALS = 8 };

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

static void print_sums(FILE *out, const model_split *s)
{
    for (size_t i = 0; i < s->device_count; i++) {
        sums sum = sums_of(s, (int)i);
        fprintf(out, "%-10s %s computes %zu operator%s in %zu group%s, in %s\n",
                i == 0 ? "devices" : "", split_name(s, (int)i), sum.ops, plural(sum.ops),
                sum.groups, plural(sum.groups), ln_mem_type_title(split_memory(s, (int)i)));
    }
    sums host = sums_of(s, -1);
    fprintf(out, "%-10s host computes %zu operator%s\n", s->device_count ? "" : "devices", host.ops,
            plural(host.ops));
    for (int is_at_load = 1; is_at_load >= 0; is_at_load--) {
        size_t count, bytes;
        sum_copies(s, is_at_load, &count, &bytes);
        if (count > 0)
            fprintf(out, "%-10s %zu of %s bytes %s\n", "copies", count, grouped(bytes),
                    is_at_load ? "when the model is loaded" : "in each run");
    }
}

static void print_note(FILE *out, const ln_offload *o)
{
    if (!(o->device_seconds > 0)) { // nothing but views is given back then
        fprintf(out, "%-10s %zu operator%s from '%s' on: views alone, which compute nothing\n",
                "given back", o->op_count, plural(o->op_count), printable(o->op));
        return;
    }
    fprintf(out,
            "%-10s %zu operator%s from '%s' on: %.1f us on %s + %.1f us for %s bytes of copies, "
            "%.1f us on the host\n",
            "given back", o->op_count, plural(o->op_count), printable(o->op),
            1e6 * o->device_seconds, o->arch, 1e6 * o->copy_seconds,
            grouped((size_t)o->copied_bytes), 1e6 * o->host_seconds);
}

static int is_same_refusal(const ln_offload *a, const ln_offload *b)
{
    return a->reason && b->reason && strcmp(a->arch, b->arch) == 0 &&
           strcmp(a->reason, b->reason) == 0;
}

// Each reason once, at its first operator. How many operators it is told of: 0 at the others.
static size_t count_refused(const offload_notes *notes, size_t at)
{
    size_t count = 0;
    for (size_t i = 0; i < notes->count; i++) {
        if (!is_same_refusal(&notes->items[at], &notes->items[i]))
            continue;
        if (i < at)
            return 0;
        count++;
    }
    return count;
}

static void print_refusals(FILE *out, const offload_notes *notes)
{
    size_t more = 0, shown = 0;
    for (size_t i = 0; i < notes->count; i++) {
        const ln_offload *o = &notes->items[i];
        size_t count = o->reason ? count_refused(notes, i) : 0;
        if (count > 0 && ++shown > MAX_REFUSALS)
            more += count;
        if (count == 0 || shown > MAX_REFUSALS)
            continue;
        fprintf(out, "%-10s %s does not take '%s'", "refused", o->arch, printable(o->op));
        if (count > 1)
            fprintf(out, " and %zu more", count - 1);
        fprintf(out, ": %s\n", printable(o->reason));
    }
    if (more > 0)
        fprintf(out, "%-10s %zu more operators for other reasons; --verbose lists them\n", "",
                more);
}

void split_print_notes(FILE *out, const offload_notes *notes)
{
    if (!notes)
        return;
    print_refusals(out, notes);
    for (size_t i = 0; i < notes->count; i++)
        if (!notes->items[i].reason && !notes->items[i].is_taken)
            print_note(out, &notes->items[i]);
    if (notes->has_no_memory)
        fprintf(out, "%-10s out of memory for more decisions\n", "");
}

static const char *first_name(const ln_list *tensors)
{
    const ln_tensor_list_entry *listed = tensors ? tensors->data : NULL;
    return listed ? printable(listed->name) : "";
}

static void print_computed(FILE *out, const split_part *p)
{
    size_t count = p->kind == SPLIT_GROUP ? p->op_count : p->run_count;
    fprintf(out, "%zu operator%s: '%s'", count, plural(count),
            printable(p->first_run->op_arg->name));
    if (p->last_run != p->first_run)
        fprintf(out, " to '%s'", printable(p->last_run->op_arg->name));
    if (p->kind == SPLIT_GROUP && p->wait_step >= p->first_step + p->op_count)
        fprintf(out, "; waited for at %zu", p->wait_step);
}

static void print_part(FILE *out, const model_split *s, const split_part *p)
{
    char steps[48];
    int is_host = p->kind == SPLIT_HOST;
    size_t first = is_host ? p->first_run_step : p->first_step;
    size_t last = is_host ? p->last_run_step : p->first_step + p->op_count - 1;
    int length = snprintf(steps, sizeof steps, last > first ? "%zu - %zu" : "%zu", first, last);
    int column = p->kind == SPLIT_COPY ? 1 + p->to : p->kind == SPLIT_WAIT ? 0 : 1 + p->device;
    fprintf(out, "%-10s %s%*s", "", steps, STEP_COLUMN - length + column * COLUMN, "");
    const ln_op *op = p->ops->data;
    switch (p->kind) {
    case SPLIT_HOST:
    case SPLIT_GROUP: print_computed(out, p); break;
    case SPLIT_COPY:
        fprintf(out, "<- %s bytes of '%s' from %s", grouped(p->byte_count),
                first_name(op->op_arg->tensors_in), split_name(s, p->from));
        break;
    case SPLIT_WAIT:
        fprintf(out, "waits for '%s' of %s", printable(text_param(op, "group")),
                split_name(s, p->device));
        break;
    }
    fputc('\n', out);
}

static void print_parts(FILE *out, const model_split *s)
{
    fprintf(out, "%-10s %-*s%-*s", "a run", STEP_COLUMN, "step", COLUMN, "host");
    for (size_t i = 0; i + 1 < s->device_count; i++)
        fprintf(out, "%-*s", COLUMN, split_name(s, (int)i));
    fprintf(out, "%s\n", split_name(s, (int)s->device_count - 1));
    for (size_t i = 0; i < s->part_count; i++)
        if (s->parts[i].kind == SPLIT_COPY ? !s->parts[i].is_at_load : s->parts[i].run_count > 0)
            print_part(out, s, &s->parts[i]);
}

void split_print(FILE *out, const model_split *s, const offload_notes *notes)
{
    if (!is_told(s, notes))
        return;
    if (s->waiting && s->device_count == 0)
        fprintf(out,
                "%-10s %s computes once the shapes are known, in groups for each set of shapes; "
                "`-s INPUT=DIMS` shows them\n",
                "devices", s->waiting->arch_name);
    else
        print_sums(out, s);
    split_print_notes(out, notes);
    if (s->device_count > 0)
        print_parts(out, s);
}

// ---- JSON ----

static void put_group(json_out *j, const split_part *p)
{
    json_open(j, NULL, '{');
    json_size(j, "first_step", p->first_step);
    json_size(j, "last_step", p->first_step + p->op_count - 1);
    if (p->wait_step >= p->first_step + p->op_count)
        json_size(j, "wait_step", p->wait_step);
    else
        json_null(j, "wait_step");
    json_open(j, "operators", '[');
    const ln_list *l = p->ops;
    for (size_t i = 0; i < p->op_count; i++, l = l->next)
        json_text(j, NULL, ((const ln_op *)l->data)->op_arg->name);
    json_close(j, ']');
    json_close(j, '}');
}

static void put_device(json_out *j, const model_split *s, int device)
{
    json_open(j, NULL, '{');
    json_text(j, "device", split_name(s, device));
    json_text(j, "memory", ln_mem_type_name(split_memory(s, device)));
    json_bool(j, "asynchronous", !s->devices[device]->run);
    json_open(j, "groups", '[');
    for (size_t i = 0; i < s->part_count; i++)
        if (s->parts[i].kind == SPLIT_GROUP && s->parts[i].device == device)
            put_group(j, &s->parts[i]);
    json_close(j, ']');
    json_close(j, '}');
}

static void put_end(json_out *j, const char *key, const char *memory_key, const ln_context *ctx,
                    const ln_list *tensors)
{
    const ln_tensor_entry *entry = first_of(ctx, tensors);
    json_text(j, key, entry ? entry->name : NULL);
    json_text(j, memory_key, entry ? ln_mem_type_name(entry->mtype) : NULL);
}

static void put_copy(json_out *j, const ln_context *ctx, const split_part *p)
{
    const ln_op *op = p->ops->data;
    json_open(j, NULL, '{');
    json_text(j, "op", op->op_arg->name);
    json_size(j, "step", p->first_step);
    put_end(j, "from", "from_memory", ctx, op->op_arg->tensors_in);
    put_end(j, "to", "to_memory", ctx, op->op_arg->tensors_out);
    json_size(j, "bytes", p->byte_count);
    json_bool(j, "at_load", p->is_at_load);
    json_close(j, '}');
}

static void put_note(json_out *j, const ln_offload *o)
{
    json_open(j, NULL, '{');
    json_text(j, "device", o->arch);
    json_text(j, "op", o->op);
    json_size(j, "operators", o->op_count);
    json_bool(j, "taken", o->is_taken);
    json_number(j, "device_seconds", o->device_seconds);
    json_number(j, "copied_bytes", o->copied_bytes);
    json_number(j, "copy_seconds", o->copy_seconds);
    if (o->host_seconds >= 0)
        json_number(j, "host_seconds", o->host_seconds);
    else
        json_null(j, "host_seconds");
    json_text(j, "reason", o->reason);
    json_close(j, '}');
}

static void put_failover(json_out *j, const ln_context *failover)
{
    if (!failover) {
        json_null(j, "failover");
        return;
    }
    json_open(j, "failover", '{');
    json_text(j, "target", ln_context_target(failover));
    json_size(j, "static", ln_context_static_bytes(failover, LN_MEM_CPU));
    json_size(j, "workspace", ln_context_workspace_bytes(failover, LN_MEM_CPU));
    json_size(j, "peak", ln_context_peak_bytes(failover, LN_MEM_CPU));
    json_close(j, '}');
}

void split_put_json(json_out *j, const model_split *s, const ln_context *ctx,
                    const offload_notes *notes)
{
    if (!is_told(s, notes))
        return;
    json_open(j, "split", '{');
    put_failover(j, ln_context_failover(ctx));
    json_open(j, "devices", '[');
    for (size_t i = 0; i < s->device_count; i++)
        put_device(j, s, (int)i);
    json_close(j, ']');
    json_open(j, "copies", '[');
    for (size_t i = 0; i < s->part_count; i++)
        if (s->parts[i].kind == SPLIT_COPY)
            put_copy(j, ctx, &s->parts[i]);
    json_close(j, ']');
    json_open(j, "decisions", '[');
    for (size_t i = 0; notes && i < notes->count; i++)
        put_note(j, &notes->items[i]);
    json_close(j, ']');
    json_close(j, '}');
}
