// SPDX-License-Identifier: Apache-2.0
// Placing operators on the devices of a target.
//
//     choose    each operator gets the first arch of the target that takes it
//     give back groups that cost more than they save go to the host
//     rewrite   operators of groups become those of the device, and `copy` is put where the memory
//               of a tensor and of its reader differ: one for each tensor and memory
//
// Later passes see operators of types of their own, so that rules, layout and fusion of the host do
// not reach over the border. How the graph is cut is in partition.h.
//
// Names in main memory stay the model's. A tensor that is also needed in main memory has another
// name where a device makes it.

#include "pass/place.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/list.h>
#include <lightnet/mem.h>
#include <lightnet/op_info.h>
#include <lightnet/util.h>

#include "arch/device.h"
#include "arch/registry.h"
#include "base/error_state.h"
#include "base/name_hash.h"
#include "ir/context.h"
#include "ir/op_life.h"
#include "ir/phase.h"
#include "pass/firing.h"
#include "pass/partition.h"
#include "plan/mem_copy.h"

// Giving groups back makes others, so that it is done again; a few times are enough.
#define MAX_ROUNDS 8

// A rewrite that is done once the new list is the model's; the names are copies.
typedef struct pending {
    struct pending *next;
    ln_firing firing;
    ln_firing_names names;
} pending;

// The name of a tensor in a memory.
typedef struct placed_name {
    struct placed_name *next;
    ln_mem_type mtype;
    char *name;
} placed_name;

typedef struct tensor {
    const ln_tensor_entry *entry;
    uint32_t maker;
    uint32_t needs;       // a bit for each memory that it is read in
    uint32_t counted_for; // the island whose copies it is among, plus 1
    ln_mem_type home;
    placed_name *names;
} tensor;

typedef struct placing {
    ln_compilation *compilation;
    ln_context *ctx;
    size_t op_count, read_count, tensor_count;
    ln_op **ops;      // in the order of the list
    uint8_t *devices; // of each, its arch's number in the target plus 1, or LN_HOST
    bool *is_pinned;  // the model names the device's type itself
    bool *is_skipped; // the island that begins with it is not to be placed
    uint32_t *starts, *reads, *stages, *islands, *order;
    uint32_t *read_tensors; // beside `reads`
    tensor *tensors;
    ln_hash *indexes;     // name of a tensor -> its number plus 1
    ln_hash *fresh;       // names that were given
    ln_list_builder list; // the new operators and those that stay
    ln_list *made;        // of these, the new ones
    ln_list *replaced;    // old operators that are not in `list`
    size_t copy_count;
    pending *firings;     // in order
    ln_offload *offloads; // of each island, by its number; NULL: not reported
} placing;

// ---- Devices ----

bool ln_arch_is_device(const ln_arch *arch)
{
    return arch->core_ops && ln_arch_runs_groups(arch);
}

const ln_arch *ln_compilation_host(const ln_compilation *compilation)
{
    for (size_t i = 0; i < compilation->arch_count; i++)
        if (!ln_arch_runs_groups(compilation->archs[i]))
            return compilation->archs[i];
    return compilation->archs[0];
}

static const ln_arch *arch_of(const placing *p, uint8_t device)
{
    return p->compilation->archs[device - 1];
}

static ln_mem_type memory_of(const placing *p, uint8_t device)
{
    ln_mem_type mtype = device == LN_HOST ? LN_MEM_CPU : arch_of(p, device)->mem_type;
    return mtype == LN_MEM_NONE ? LN_MEM_CPU : mtype;
}

static bool has_devices(const ln_compilation *compilation)
{
    for (size_t i = 0; i < compilation->arch_count; i++)
        if (ln_arch_is_device(compilation->archs[i]))
            return true;
    return false;
}

// Whether the target has an arch that is none; else the reference does what is no computation.
static bool has_host(const ln_compilation *compilation)
{
    return !ln_arch_runs_groups(ln_compilation_host(compilation));
}

// ---- Which operators may be on a device ----

static bool is_abstract(const ln_op *op)
{
    return ln_streq(op->op_arg->arch, "none");
}

static bool is_plain(const ln_tensor_entry *entry)
{
    return entry && !entry->is_open && entry->tensor->dtype != TL_STRING &&
           entry->tensor->dtype != TL_OBJECT;
}

static bool is_attribute(const ln_arg_info *infos, const char *arg_name)
{
    for (; infos && infos->arg_name; infos++)
        if ((infos->flags & LN_ARG_ATTRIBUTE) && ln_streq(infos->arg_name, arg_name))
            return true;
    return strncmp(arg_name, "capture", strlen("capture")) == 0;
}

// Computes in each run, from tensors whose shapes are known, the same for the same inputs.
static bool can_be_on_device(const placing *p, const ln_op *op)
{
    const ln_op_arg *arg = op->op_arg;
    if (!is_abstract(op) || !arg->is_checked || arg->is_waiting || !arg->tensors_in ||
        !arg->tensors_out || ln_op_is_type(arg, "copy") || ln_op_is_random(arg))
        return false;
    const ln_tensor_list_entry *listed;
    LN_LIST_FOREACH (listed, arg->tensors_in)
        if (!is_plain(ln_tensor_table_find(p->ctx->tensor_table, listed->name)) ||
            is_attribute(arg->info->ins, listed->arg_name))
            return false;
    LN_LIST_FOREACH (listed, arg->tensors_out) {
        const ln_tensor_entry *entry = ln_tensor_table_find(p->ctx->tensor_table, listed->name);
        if (!is_plain(entry) || entry->isstatic)
            return false;
    }
    return true;
}

// What no arch of the target that is no device takes has no seconds there.
#define NOT_ON_HOST (-1.0)

static bool is_watched(const placing *p)
{
    return p->compilation->options && p->compilation->options->on_offload;
}

static void tell_offload(const placing *p, const ln_offload *offload)
{
    if (is_watched(p))
        p->compilation->options->on_offload(p->compilation->options->user, offload);
}

static ln_status ask_device(const placing *p, const ln_arch *arch, const ln_op *op, bool *out_takes)
{
    *out_takes = false;
    if (!ln_pass_has_variant(arch, op->op_arg->optype))
        return LN_OK;
    ln_status status = ln_arch_describe(p->ctx, arch, op);
    *out_takes = status == LN_OK;
    if (status == LN_UNSUPPORTED)
        tell_offload(p, &(ln_offload){.arch = arch->arch_name,
                                      .op = op->op_arg->name,
                                      .op_count = 1,
                                      .host_seconds = NOT_ON_HOST,
                                      .reason = ln_error_message()});
    if (status != LN_OK && status != LN_UNSUPPORTED)
        return status;
    ln_error_clear();
    return LN_OK;
}

static ln_status choose_device(const placing *p, const ln_op *op, uint8_t *out_device)
{
    const ln_compilation *compilation = p->compilation;
    bool can_be = can_be_on_device(p, op);
    *out_device = LN_HOST;
    for (size_t i = 0; can_be && i < compilation->arch_count; i++) {
        const ln_arch *arch = compilation->archs[i];
        bool takes = false;
        if (ln_arch_is_device(arch))
            LN_TRY(ask_device(p, arch, op, &takes));
        else if (ln_pass_has_variant(arch, op->op_arg->optype))
            return LN_OK;
        if (takes) {
            *out_device = (uint8_t)(i + 1);
            return LN_OK;
        }
    }
    return LN_OK;
}

static uint8_t pinned_device(const placing *p, const ln_op *op)
{
    for (size_t i = 0; i < p->compilation->arch_count; i++)
        if (ln_arch_is_device(p->compilation->archs[i]) &&
            ln_streq(op->op_arg->arch, p->compilation->archs[i]->arch_name))
            return (uint8_t)(i + 1);
    return LN_HOST;
}

static const ln_op *find_variant(const ln_arch *arch, const ln_op *op)
{
    char variant[LN_MAX_NAME_LEN];
    int len = snprintf(variant, sizeof variant, "%s_%s", op->op_arg->optype, arch->arch_name);
    return len < (int)sizeof variant ? ln_op_find(variant) : NULL;
}

// The operator of the first arch of the target that is no device and has it; NULL: none has.
static const ln_op *host_variant(const placing *p, const ln_op *op)
{
    const ln_op *variant = NULL;
    for (size_t i = 0; i < p->compilation->arch_count && !variant; i++)
        if (!ln_arch_runs_groups(p->compilation->archs[i]))
            variant = find_variant(p->compilation->archs[i], op);
    return variant;
}

// ---- The graph ----

static void deinit(placing *p)
{
    for (size_t i = 0; i < p->tensor_count; i++)
        while (p->tensors[i].names) {
            placed_name *next = p->tensors[i].names->next;
            ln_free(p->tensors[i].names->name);
            ln_free(p->tensors[i].names);
            p->tensors[i].names = next;
        }
    while (p->firings) {
        pending *next = p->firings->next;
        ln_free(p->firings);
        p->firings = next;
    }
    ln_free(p->ops);
    ln_free(p->devices);
    ln_free(p->is_pinned);
    ln_free(p->is_skipped);
    ln_free(p->starts);
    ln_free(p->reads);
    ln_free(p->read_tensors);
    ln_free(p->stages);
    ln_free(p->islands);
    ln_free(p->order);
    ln_free(p->offloads);
    ln_free(p->tensors);
    ln_hash_free(p->indexes);
    ln_hash_free(p->fresh);
    ln_list_free(p->list.list);
    ln_list_free(p->made);
    ln_list_free(p->replaced);
}

static ln_status alloc_all(placing *p)
{
    size_t out_count = 0;
    for (const ln_list *l = p->ctx->ops; l; l = l->next) {
        const ln_op_arg *arg = ((const ln_op *)l->data)->op_arg;
        p->op_count++;
        p->read_count += (size_t)ln_list_length(arg->tensors_in);
        out_count += (size_t)ln_list_length(arg->tensors_out);
    }
    size_t n = p->op_count + 1;
    p->ops = ln_alloc_array(n, sizeof *p->ops);
    p->devices = ln_alloc_array(n, sizeof *p->devices);
    p->is_pinned = ln_alloc_array(n, sizeof *p->is_pinned);
    p->is_skipped = ln_alloc_array(n, sizeof *p->is_skipped);
    p->starts = ln_alloc_array(n, sizeof *p->starts);
    p->stages = ln_alloc_array(n, sizeof *p->stages);
    p->islands = ln_alloc_array(n, sizeof *p->islands);
    p->order = ln_alloc_array(n, sizeof *p->order);
    p->reads = ln_alloc_array(p->read_count + 1, sizeof *p->reads);
    p->read_tensors = ln_alloc_array(p->read_count + 1, sizeof *p->read_tensors);
    p->tensors = ln_alloc_array(out_count + 1, sizeof *p->tensors);
    p->indexes = ln_hash_create(ln_name_hash, ln_str_cmp, NULL, NULL);
    p->fresh = ln_hash_create(ln_name_hash, ln_str_cmp, NULL, NULL);
    bool is_whole = p->ops && p->devices && p->is_pinned && p->is_skipped && p->starts &&
                    p->stages && p->islands && p->order && p->reads && p->read_tensors &&
                    p->tensors && p->indexes && p->fresh;
    return is_whole ? LN_OK : LN_NO_MEMORY;
}

static ln_status add_outputs(placing *p, uint32_t i)
{
    const ln_tensor_list_entry *out;
    LN_LIST_FOREACH (out, p->ops[i]->op_arg->tensors_out) {
        p->tensors[p->tensor_count] =
            (tensor){.entry = ln_tensor_table_find(p->ctx->tensor_table, out->name), .maker = i};
        void *number = (void *)(uintptr_t)++p->tensor_count;
        if (ln_hash_insert(p->indexes, out->name, number) < 0)
            return ln_error_status();
    }
    return LN_OK;
}

static tensor *find_tensor(const placing *p, const char *name)
{
    uintptr_t number = (uintptr_t)ln_hash_find(p->indexes, name);
    return number ? &p->tensors[number - 1] : NULL;
}

static ln_status read_graph(placing *p)
{
    uint32_t i = 0, edge = 0;
    for (const ln_list *l = p->ctx->ops; l; l = l->next, i++) {
        p->ops[i] = l->data;
        p->starts[i] = edge;
        const ln_tensor_list_entry *in;
        LN_LIST_FOREACH (in, p->ops[i]->op_arg->tensors_in) {
            const tensor *t = find_tensor(p, in->name);
            if (!t)
                return LN_FAIL(LN_INTERNAL, "no operator before '%s' makes '%s'",
                               p->ops[i]->op_arg->name, in->name);
            p->read_tensors[edge] = (uint32_t)(t - p->tensors);
            p->reads[edge++] = t->maker;
        }
        LN_TRY(add_outputs(p, i));
    }
    p->starts[i] = edge;
    return LN_OK;
}

// *out_is_any: a device takes one.
static ln_status choose_devices(placing *p, bool *out_is_any)
{
    *out_is_any = false;
    for (uint32_t i = 0; i < p->op_count; i++) {
        p->devices[i] = pinned_device(p, p->ops[i]);
        p->is_pinned[i] = p->devices[i] != LN_HOST;
        if (!p->is_pinned[i])
            LN_TRY(choose_device(p, p->ops[i], &p->devices[i]));
        *out_is_any = *out_is_any || p->devices[i] != LN_HOST;
        if (i % 256 == 0)
            LN_TRY(ln_phase_check(p->ctx, p->ops[i]));
    }
    return LN_OK;
}

static ln_op_graph graph_of(const placing *p)
{
    return (ln_op_graph){.op_count = p->op_count, .starts = p->starts, .reads = p->reads};
}

static void cut(placing *p)
{
    ln_op_graph graph = graph_of(p);
    ln_partition_stages(&graph, p->devices, p->stages);
    ln_partition_islands(&graph, p->devices, p->stages, p->islands);
}

// ---- Memories ----

static ln_mem_type home_of(const placing *p, const tensor *t)
{
    uint8_t device = p->devices[t->maker];
    if (device != LN_HOST)
        return memory_of(p, device);
    return t->entry->mtype == LN_MEM_NONE ? LN_MEM_CPU : t->entry->mtype; // of a `copy`
}

// A copy reads any memory.
static bool is_copy(const ln_op *op)
{
    return ln_op_is_type(op->op_arg, "copy");
}

// There is a way without main memory in between, or that is one end of it.
static bool is_direct(ln_mem_type to, ln_mem_type from)
{
    return to == LN_MEM_CPU || from == LN_MEM_CPU || ln_mem_can_copy(to, from);
}

static void find_needs(placing *p)
{
    for (size_t k = 0; k < p->tensor_count; k++) {
        p->tensors[k].home = home_of(p, &p->tensors[k]);
        p->tensors[k].needs = p->tensors[k].counted_for = 0;
    }
    for (uint32_t i = 0; i < p->op_count; i++)
        for (uint32_t e = p->starts[i]; e < p->starts[i + 1] && !is_copy(p->ops[i]); e++) {
            tensor *t = &p->tensors[p->read_tensors[e]];
            ln_mem_type mtype = memory_of(p, p->devices[i]);
            t->needs |= UINT32_C(1) << mtype;
            if (!is_direct(mtype, t->home))
                t->needs |= UINT32_C(1) << LN_MEM_CPU;
        }
}

// ---- New operators ----

static ln_status push(placing *p, ln_op *op)
{
    return ln_list_builder_push(&p->list, op);
}

// Takes the operator, also where that fails.
static ln_status push_made(placing *p, ln_op *op)
{
    if (!op)
        return ln_error_status();
    ln_status status = ln_list_push_front(&p->made, op);
    if (status != LN_OK) {
        ln_op_free_lists_too(op);
        return status;
    }
    return push(p, op);
}

static bool is_taken(const placing *p, const char *name)
{
    return ln_tensor_table_find(p->ctx->tensor_table, name) || ln_hash_find(p->fresh, name);
}

// "x_dpu" for x in LN_MEM_DPU, with a number if there is one already. NULL: out of memory.
static char *make_name(const placing *p, const char *name, ln_mem_type mtype)
{
    char memory[LN_MAX_NAME_LEN];
    const char *from = ln_mem_type_name(mtype);
    if (strncmp(from, "LN_MEM_", strlen("LN_MEM_")) == 0)
        from += strlen("LN_MEM_");
    size_t len = 0;
    for (; from[len] && len + 1 < sizeof memory; len++)
        memory[len] = (char)tolower((unsigned char)from[len]);
    memory[len] = '\0';
    char *made = ln_strdup_printf("%s_%s", name, memory);
    for (int i = 1; made && is_taken(p, made); i++) {
        ln_free(made);
        made = ln_strdup_printf("%s_%s%d", name, memory, i);
    }
    return made;
}

static const char *name_in(const tensor *t, ln_mem_type mtype)
{
    for (const placed_name *n = t->names; n; n = n->next)
        if (n->mtype == mtype)
            return n->name;
    return NULL;
}

// The tensor is in this memory from now on. NULL: out of memory.
static const char *name_tensor(placing *p, tensor *t, ln_mem_type mtype)
{
    bool is_models = mtype == LN_MEM_CPU || (mtype == t->home && !(t->needs >> LN_MEM_CPU & 1));
    placed_name *placed = ln_alloc(sizeof *placed);
    char *name = is_models ? ln_strdup(t->entry->name) : make_name(p, t->entry->name, mtype);
    if (placed && name && (is_models || ln_hash_insert(p->fresh, name, p) >= 0)) {
        *placed = (placed_name){.next = t->names, .mtype = mtype, .name = name};
        t->names = placed;
        return name;
    }
    ln_free(placed);
    ln_free(name);
    return NULL;
}

static ln_status rename_listed(ln_list *tensors, const placing *p, ln_mem_type mtype)
{
    ln_tensor_list_entry *listed;
    LN_LIST_FOREACH (listed, tensors) {
        const char *name = name_in(find_tensor(p, listed->name), mtype);
        if (ln_streq(name, listed->name))
            continue;
        char *copy = ln_strdup(name);
        if (!copy)
            return LN_NO_MEMORY;
        ln_tensor_list_entry_take_name(listed, copy);
    }
    return LN_OK;
}

// ---- Copies ----

static const ln_op *find_copy(const placing *p)
{
    const ln_op *reference = ln_op_find_reference("copy");
    return has_host(p->compilation) || !reference ? ln_op_find("copy") : reference;
}

static ln_status push_copy(placing *p, const char *from, const char *to, ln_mem_type mtype)
{
    char name[LN_MAX_NAME_LEN];
    do
        snprintf(name, sizeof name, "place%zu", p->copy_count++);
    while (ln_op_table_find(p->ctx->op_table, name));
    ln_list *ins = ln_tensor_list_append(NULL, "src", from);
    ln_list *outs = ln_tensor_list_append(NULL, "dst", to);
    ln_list *params = ln_param_list_append_string(NULL, "mtype", ln_mem_type_name(mtype));
    const ln_op *proto = find_copy(p);
    ln_op *op = NULL;
    if (proto && ins && outs && params)
        op = ln_op_create_from_proto(proto, name, ins, outs, params, p->ctx->tensor_table);
    if (op)
        return push_made(p, op);
    ln_tensor_list_free(ins);
    ln_tensor_list_free(outs);
    ln_param_list_free(params);
    return ln_error_status();
}

// The tensor, which has been made, is in this memory afterwards.
static ln_status need_in(placing *p, tensor *t, ln_mem_type mtype)
{
    if (name_in(t, mtype))
        return LN_OK;
    ln_mem_type from = t->home;
    if (!is_direct(mtype, from)) {
        LN_TRY(need_in(p, t, LN_MEM_CPU));
        from = LN_MEM_CPU;
    }
    const char *source = name_in(t, from), *name = name_tensor(p, t, mtype);
    return name ? push_copy(p, source, name, mtype) : LN_NO_MEMORY;
}

static ln_status need_inputs(placing *p, uint32_t i)
{
    ln_mem_type mtype = memory_of(p, p->devices[i]);
    for (uint32_t e = p->starts[i]; e < p->starts[i + 1]; e++) {
        tensor *t = &p->tensors[p->read_tensors[e]];
        bool is_in_main = t->needs >> LN_MEM_CPU & 1; // by the name that the model gives it
        if (!is_copy(p->ops[i]))
            LN_TRY(need_in(p, t, mtype));
        else if (is_in_main)
            LN_TRY(need_in(p, t, LN_MEM_CPU));
    }
    return LN_OK;
}

// ---- The new list ----

static ln_status name_outputs(placing *p, uint32_t i)
{
    const ln_tensor_list_entry *out;
    LN_LIST_FOREACH (out, p->ops[i]->op_arg->tensors_out) {
        tensor *t = find_tensor(p, out->name);
        if (!name_tensor(p, t, t->home))
            return LN_NO_MEMORY;
    }
    return LN_OK;
}

// Takes the place of operator i in the list.
static ln_status push_instead(placing *p, uint32_t i, ln_op *op)
{
    LN_TRY(push_made(p, op));
    return ln_list_push_front(&p->replaced, p->ops[i]);
}

static ln_op *make_as(const ln_op *op, const char *optype)
{
    return ln_op_copy_to_optype(LN_ARCH.op_proto_table, op, optype);
}

// Without a host in the target, the reference has what computes nothing in a run.
static const char *reference_type(const placing *p, const ln_op *op)
{
    const ln_op *reference = has_host(p->compilation) || !is_abstract(op)
                                 ? NULL
                                 : ln_op_find_reference(op->op_arg->optype);
    const char *const ends[] = {"input", "output", "create", "copy"};
    bool is_idle = ln_op_is_constant(op);
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++)
        is_idle = is_idle || ln_op_is_type(op->op_arg, ends[k]);
    return reference && is_idle ? reference->op_arg->optype : NULL;
}

static ln_status push_host(placing *p, uint32_t i)
{
    LN_TRY(need_inputs(p, i));
    LN_TRY(name_outputs(p, i));
    const char *optype = reference_type(p, p->ops[i]);
    if (optype)
        return push_instead(p, i, make_as(p->ops[i], optype));
    return push(p, p->ops[i]);
}

static ln_status push_device(placing *p, uint32_t i)
{
    const ln_op_arg *arg = p->ops[i]->op_arg;
    const ln_arch *arch = arch_of(p, p->devices[i]);
    ln_mem_type mtype = memory_of(p, p->devices[i]);
    char optype[LN_MAX_NAME_LEN];
    snprintf(optype, sizeof optype, "%s_%s", arg->optype, arch->arch_name);
    LN_TRY(name_outputs(p, i));
    ln_op *op = p->is_pinned[i] ? ln_op_copy(p->ops[i]) : make_as(p->ops[i], optype);
    LN_TRY(push_instead(p, i, op));
    LN_TRY(rename_listed(op->op_arg->tensors_in, p, mtype));
    return rename_listed(op->op_arg->tensors_out, p, mtype);
}

// Operators [from, to) of the order: copies first, so that the group's are neighbours.
static ln_status push_group(placing *p, size_t from, size_t to)
{
    for (size_t k = from; k < to; k++)
        for (uint32_t e = p->starts[p->order[k]]; e < p->starts[p->order[k] + 1]; e++) {
            tensor *t = &p->tensors[p->read_tensors[e]];
            bool is_inside = p->devices[t->maker] == p->devices[p->order[k]] &&
                             p->stages[t->maker] == p->stages[p->order[k]];
            if (!is_inside)
                LN_TRY(need_in(p, t, memory_of(p, p->devices[p->order[k]])));
        }
    for (size_t k = from; k < to; k++)
        LN_TRY(push_device(p, p->order[k]));
    return LN_OK;
}

static ln_status make_list(placing *p)
{
    ln_op_graph graph = graph_of(p);
    LN_TRY(ln_partition_order(&graph, p->devices, p->stages, p->order));
    find_needs(p);
    for (size_t from = 0, to; from < p->op_count; from = to) {
        uint32_t first = p->order[from];
        to = from + 1;
        if (p->devices[first] == LN_HOST) {
            LN_TRY(push_host(p, first));
            continue;
        }
        while (to < p->op_count && p->devices[p->order[to]] == p->devices[first] &&
               p->stages[p->order[to]] == p->stages[first])
            to++;
        LN_TRY(push_group(p, from, to));
    }
    return LN_OK;
}

// ---- Exchanging ----

static ln_status install(ln_context *ctx, ln_list *ops)
{
    ln_context_cleanup_ops(ctx);
    ctx->ops = ops;
    const ln_op *op;
    LN_LIST_FOREACH (op, ops)
        op->op_arg->context = ctx;
    return ln_context_init_ops(ctx);
}

static void free_ops(ln_list **ops)
{
    ln_op_list_free_lists_too(*ops);
    *ops = NULL;
}

// The model is as it was if an operator refuses, which none should: their checks are those of the
// operators they were made of.
static ln_status exchange(placing *p)
{
    ln_list *old = p->ctx->ops;
    ln_status status = install(p->ctx, p->list.list);
    if (status == LN_OK) {
        ln_list_free(old);
        free_ops(&p->replaced);
        ln_list_free(p->made);
        p->made = NULL;
        p->list = (ln_list_builder){0};
        p->compilation->is_rechecked = true;
        return LN_OK;
    }
    ln_error_state reason;
    ln_error_save(&reason);
    ln_status restored = install(p->ctx, old);
    if (restored != LN_OK)
        return ln_context_abandon(p->ctx, restored);
    ln_error_restore(&reason);
    return status;
}

// ---- Rewrites ----

static ln_status decide_island(placing *p, uint32_t i, pending ***end)
{
    pending *asked = ln_alloc(sizeof *asked);
    if (!asked)
        return LN_NO_MEMORY;
    char rule[LN_MAX_NAME_LEN];
    snprintf(rule, sizeof rule, "place on %s", arch_of(p, p->devices[i])->arch_name);
    asked->firing = ln_firing_of_pass(rule, NULL, p->ops[i], &asked->names);
    bool fires;
    ln_status status = ln_firing_decide(p->compilation, &asked->firing, &fires);
    p->is_skipped[i] = !fires;
    if (status != LN_OK || !fires) {
        ln_free(asked);
        return status;
    }
    **end = asked;
    *end = &asked->next;
    return LN_OK;
}

// Each island is a rewrite. What the model has placed itself is none.
static ln_status decide(placing *p)
{
    pending **end = &p->firings;
    for (uint32_t i = 0; i < p->op_count; i++)
        if (p->devices[i] != LN_HOST && !p->is_pinned[i] && p->islands[i] == i)
            LN_TRY(decide_island(p, i, &end));
    for (uint32_t i = 0; i < p->op_count; i++)
        if (p->is_skipped[p->islands[i]] && !p->is_pinned[i])
            p->devices[i] = LN_HOST;
    return LN_OK;
}

static ln_status tell(const placing *p, ln_status status)
{
    for (pending *f = p->firings; f; f = f->next)
        (void)ln_firing_done(p->compilation, &f->firing, status);
    return status;
}

// ---- Islands that are given back ----

// Operators of islands, as lists: the first one is the island's number. NO_OP ends them.
typedef struct island_lists {
    uint32_t *next;
    const ln_op **ops; // of one island, in order
} island_lists;

#define NO_OP UINT32_MAX

// What is copied for an island: what it reads that is elsewhere, and what others read of it.
static double copied_bytes(const placing *p, uint32_t island, const uint32_t *next)
{
    ln_mem_type mtype = memory_of(p, p->devices[island]);
    double sum = 0;
    for (uint32_t i = island; i != NO_OP; i = next[i]) {
        for (uint32_t e = p->starts[i]; e < p->starts[i + 1]; e++) {
            tensor *t = &p->tensors[p->read_tensors[e]];
            if (t->home == mtype || t->entry->isstatic || t->counted_for == island + 1)
                continue;
            t->counted_for = island + 1;
            sum += (double)tl_tensor_size(t->entry->tensor);
        }
        const ln_tensor_list_entry *out;
        LN_LIST_FOREACH (out, p->ops[i]->op_arg->tensors_out) {
            const tensor *t = find_tensor(p, out->name);
            if (t->needs & ~(UINT32_C(1) << mtype))
                sum += (double)tl_tensor_size(t->entry->tensor);
        }
    }
    return sum;
}

static ln_status device_seconds(const ln_context *ctx, const ln_arch *arch, const ln_op *const *ops,
                                size_t count, double units, double *out_seconds)
{
    *out_seconds = LN_GROUP_SECONDS + units / LN_DEVICE_UNITS_PER_SECOND;
    if (!arch->evaluate)
        return LN_OK;
    return ln_arch_evaluate(ctx, arch, ops, count, out_seconds);
}

// What the island costs on its device and on the host. It is given back where the host takes all of
// it and costs no more.
static ln_status compare_costs(const placing *p, uint32_t island, const island_lists *lists,
                               ln_offload *out)
{
    const ln_arch *arch = arch_of(p, p->devices[island]);
    double units = 0;
    bool takes_all = true, is_any_step = false;
    *out = (ln_offload){.arch = arch->arch_name,
                        .op = p->ops[island]->op_arg->name,
                        .host_seconds = NOT_ON_HOST,
                        .is_taken = true};
    for (uint32_t i = island; i != NO_OP; i = lists->next[i]) {
        const ln_op *variant = p->is_pinned[i] ? NULL : host_variant(p, p->ops[i]);
        takes_all = takes_all && variant;
        is_any_step = is_any_step || p->is_pinned[i] || find_variant(arch, p->ops[i])->run;
        units += variant ? ln_op_cost_as(p->ops[i], variant) : 0;
        lists->ops[out->op_count++] = p->ops[i];
    }
    out->copied_bytes = copied_bytes(p, island, lists->next);
    out->copy_seconds = out->copied_bytes / LN_COPY_BYTES_PER_SECOND;
    if (!takes_all)
        return LN_OK;
    out->host_seconds = units / LN_HOST_UNITS_PER_SECOND;
    out->is_taken = is_any_step;
    if (!is_any_step) // views alone
        return LN_OK;
    LN_TRY(device_seconds(p->ctx, arch, lists->ops, out->op_count, units, &out->device_seconds));
    out->is_taken =
        !(out->device_seconds > 0 && out->device_seconds + out->copy_seconds >= out->host_seconds);
    return LN_OK;
}

static void list_islands(const placing *p, uint32_t *next)
{
    // `order` is free until the list is made: the last operator of each island so far.
    for (uint32_t i = 0; i < p->op_count; i++) {
        next[i] = NO_OP;
        if (p->islands[i] != i)
            next[p->order[p->islands[i]]] = i;
        p->order[p->islands[i]] = i;
    }
}

static ln_status give_back_once(placing *p, const island_lists *lists, bool *out_is_any)
{
    *out_is_any = false;
    find_needs(p);
    list_islands(p, lists->next);
    for (uint32_t i = 0; i < p->op_count; i++) {
        p->is_skipped[i] = false;
        if (p->devices[i] == LN_HOST || p->islands[i] != i)
            continue;
        ln_offload offload;
        LN_TRY(compare_costs(p, i, lists, &offload));
        if (p->offloads)
            p->offloads[i] = offload;
        if (offload.is_taken)
            continue;
        p->is_skipped[i] = *out_is_any = true;
        tell_offload(p, &offload);
    }
    for (uint32_t i = 0; i < p->op_count; i++)
        if (p->is_skipped[p->islands[i]])
            p->devices[i] = LN_HOST;
    return LN_OK;
}

// What the others are then is found again: where one goes, its neighbours' copies change.
static ln_status give_back(placing *p)
{
    island_lists lists = {.next = ln_alloc_array(p->op_count + 1, sizeof *lists.next),
                          .ops = ln_alloc_array(p->op_count + 1, sizeof *lists.ops)};
    ln_status status = lists.next && lists.ops ? LN_OK : LN_NO_MEMORY;
    bool is_any = true;
    for (int round = 0; round < MAX_ROUNDS && is_any && status == LN_OK; round++) {
        cut(p);
        status = give_back_once(p, &lists, &is_any);
    }
    ln_free(lists.next);
    ln_free(lists.ops);
    return status;
}

// The islands that stay.
static void tell_taken(const placing *p)
{
    for (uint32_t i = 0; p->offloads && i < p->op_count; i++)
        if (p->devices[i] != LN_HOST && p->islands[i] == i && p->offloads[i].is_taken)
            tell_offload(p, &p->offloads[i]);
}

// ---- The pass ----

static bool is_any_placed(const placing *p)
{
    for (uint32_t i = 0; i < p->op_count; i++)
        if (p->devices[i] != LN_HOST)
            return true;
    return false;
}

static ln_status place(placing *p)
{
    bool is_any;
    LN_TRY(alloc_all(p));
    LN_TRY(read_graph(p));
    LN_TRY(choose_devices(p, &is_any));
    if (is_any && is_watched(p)) {
        p->offloads = ln_alloc_array(p->op_count + 1, sizeof *p->offloads);
        if (!p->offloads)
            return LN_NO_MEMORY;
    }
    if (is_any)
        LN_TRY(give_back(p));
    cut(p);
    LN_TRY(decide(p));
    if (!is_any_placed(p) && has_host(p->compilation))
        return LN_OK;
    cut(p);
    tell_taken(p);
    ln_status status = make_list(p);
    return tell(p, status == LN_OK ? exchange(p) : status);
}

ln_status ln_pass_place(ln_compilation *compilation)
{
    if (compilation->ctx->outer || !has_devices(compilation))
        return LN_OK;
    placing p = {.compilation = compilation, .ctx = compilation->ctx};
    ln_status status = place(&p);
    free_ops(&p.made);
    deinit(&p);
    return status;
}
