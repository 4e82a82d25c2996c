// SPDX-License-Identifier: Apache-2.0
// Packed operators, read: one record after the other, in the order of ln_opdesc_print_packed.

#include "ir/packed_ops.h"

#include <assert.h>
#include <string.h>

#include <lightnet/op_info.h>

#include "base/pack.h"
#include "desc/packed_format.h"
#include "ir/param_number.h"

// An operator's structs, made in one piece.
typedef struct made_op {
    ln_op op; // first: its address is the struct's
    ln_op_arg arg;
    ln_op_info info;
} made_op;

typedef struct reader {
    ln_unpacker u;
    const uint64_t *numbers;
    const ln_packed_function *next_function;
    const ln_packed_function *call_form; // of all operators in call form
    char *arch;
    ln_op **bases; // where the search for the next base starts
    ln_op **first_base;
} reader;

static uint64_t read_constant(reader *r)
{
    uint64_t index = ln_unpack_uint(&r->u);
    return r->u.status == LN_OK ? r->numbers[index] : 0;
}

// ---- Arguments ----

// Room for `*out_count` items as the number says that is read here, and a last one that is zero.
static void *read_list(reader *r, size_t item_size, size_t *out_count)
{
    *out_count = (size_t)ln_unpack_uint(&r->u);
    void *items = ln_unpack_alloc(&r->u, (*out_count + 1) * item_size);
    if (!items)
        *out_count = 0;
    return items;
}

static ln_arg_info *read_args(reader *r)
{
    size_t count;
    ln_arg_info *args = read_list(r, sizeof *args, &count);
    for (size_t i = 0; i < count; i++) {
        args[i].arg_name = ln_unpack_string(&r->u);
        args[i].doc = ln_unpack_string(&r->u);
        args[i].flags = (unsigned)ln_unpack_uint(&r->u);
        args[i].mtype = (ln_mem_type)read_constant(r);
        args[i].types = read_constant(r);
        args[i].same = ln_unpack_string(&r->u);
    }
    return args;
}

// The base's, but in another memory if the record says so.
static const ln_arg_info *copy_args(reader *r, const ln_arg_info *base)
{
    if (ln_unpack_uint(&r->u) == 0)
        return base;
    ln_mem_type mtype = (ln_mem_type)read_constant(r);
    size_t count = 0;
    while (base[count].arg_name)
        count++;
    ln_arg_info *args = ln_unpack_alloc(&r->u, (count + 1) * sizeof *args);
    for (size_t i = 0; args && i < count; i++) {
        args[i] = base[i];
        args[i].mtype = mtype;
    }
    return args;
}

// A variadic argument's first name stands for all of them.
static const char *listed_name(reader *r, const ln_arg_info *arg)
{
    if (!(arg->flags & LN_ARG_VARIADIC))
        return arg->arg_name;
    size_t len = strlen(arg->arg_name);
    char *name = ln_unpack_alloc(&r->u, len + 2);
    if (name) {
        memcpy(name, arg->arg_name, len);
        name[len] = '1';
    }
    return name;
}

static const char **list_names(reader *r, const ln_arg_info *args)
{
    size_t count = 0;
    while (args && args[count].arg_name)
        count++;
    const char **names = ln_unpack_alloc(&r->u, (count + 1) * sizeof *names);
    for (size_t i = 0; names && i < count; i++)
        names[i] = listed_name(r, &args[i]);
    return names;
}

static void read_ins(reader *r, made_op *made, const made_op *base, bool is_same)
{
    made->info.ins = is_same ? copy_args(r, base->info.ins) : read_args(r);
    made->arg.in_arg_names = is_same ? base->arg.in_arg_names : list_names(r, made->info.ins);
}

static void read_outs(reader *r, made_op *made, const made_op *base, bool is_same)
{
    made->info.outs = is_same ? copy_args(r, base->info.outs) : read_args(r);
    made->arg.out_arg_names = is_same ? base->arg.out_arg_names : list_names(r, made->info.outs);
}

// ---- Parameters ----

static void read_default_number(reader *r, ln_param_entry *entry)
{
    entry->value_double = ln_unpack_number(&r->u);
    entry->value_float = ln_param_saturate_float(entry->value_double);
    entry->value_int = ln_param_saturate_int(entry->value_double);
}

static void read_default_numbers(reader *r, ln_param_entry *entry, size_t count)
{
    entry->value_array_double = ln_unpack_alloc(&r->u, count * sizeof(double) + 1);
    entry->value_array_float = ln_unpack_alloc(&r->u, count * sizeof(float) + 1);
    entry->value_array_int = ln_unpack_alloc(&r->u, count * sizeof(int) + 1);
    for (size_t i = 0; i < count; i++) {
        double number = ln_unpack_number(&r->u);
        if (r->u.status != LN_OK)
            return;
        entry->value_array_double[i] = number;
        entry->value_array_float[i] = ln_param_saturate_float(number);
        entry->value_array_int[i] = ln_param_saturate_int(number);
    }
}

static void read_default_strings(reader *r, ln_param_entry *entry, size_t count)
{
    entry->value_array_string = ln_unpack_alloc(&r->u, (count + 1) * sizeof(char *));
    for (size_t i = 0; entry->value_array_string && i < count; i++)
        entry->value_array_string[i] = ln_unpack_string(&r->u);
}

static void read_default_bools(reader *r, ln_param_entry *entry, size_t count)
{
    entry->value_array_bool = ln_unpack_alloc(&r->u, (count + 1) * sizeof(ln_bool));
    for (size_t i = 0; entry->value_array_bool && i < count; i++)
        entry->value_array_bool[i] = (ln_bool)ln_unpack_uint(&r->u);
}

static const ln_param_entry *read_default(reader *r, char *arg_name, ln_param_type type)
{
    ln_param_entry *entry = ln_unpack_alloc(&r->u, sizeof *entry);
    if (!entry)
        return NULL;
    entry->arg_name = arg_name;
    entry->type = type;
    size_t count = (size_t)ln_unpack_uint(&r->u);
    entry->array_len = (int)count;
    switch (type) {
    case LN_PARAM_NUMBER: read_default_number(r, entry); break;
    case LN_PARAM_STRING: entry->value_string = ln_unpack_string(&r->u); break;
    case LN_PARAM_BOOL: entry->value_bool = (ln_bool)ln_unpack_uint(&r->u); break;
    case LN_PARAM_ARRAY_NUMBER: read_default_numbers(r, entry, count); break;
    case LN_PARAM_ARRAY_STRING: read_default_strings(r, entry, count); break;
    case LN_PARAM_ARRAY_BOOL: read_default_bools(r, entry, count); break;
    default: break;
    }
    return entry;
}

static void read_params(reader *r, made_op *made)
{
    size_t count;
    ln_param_info *params = read_list(r, sizeof *params, &count);
    const char **names = ln_unpack_alloc(&r->u, (count + 1) * sizeof *names);
    ln_param_type *types = ln_unpack_alloc(&r->u, (count + 1) * sizeof *types);
    if (!types)
        return;
    for (size_t i = 0; i < count; i++) {
        char *name = ln_unpack_string(&r->u);
        names[i] = params[i].arg_name = name;
        params[i].doc = ln_unpack_string(&r->u);
        types[i] = params[i].ptype = (ln_param_type)read_constant(r);
        unsigned facts = (unsigned)ln_unpack_uint(&r->u);
        params[i].is_required = (int)(facts & 1);
        params[i].is_whole = (int)(facts >> 1);
        params[i].default_text = ln_unpack_string(&r->u);
        if (params[i].default_text)
            params[i].default_entry = read_default(r, name, params[i].ptype);
    }
    types[count] = params[count].ptype = LN_PARAM_INVALID;
    made->info.params = params;
    made->arg.param_arg_names = names;
    made->arg.param_ptypes = types;
}

static void copy_params(made_op *made, const made_op *base)
{
    made->info.params = base->info.params;
    made->arg.param_arg_names = base->arg.param_arg_names;
    made->arg.param_ptypes = base->arg.param_ptypes;
}

// ---- The rest ----

static const ln_place_info *read_places(reader *r)
{
    size_t count;
    ln_place_info *places = read_list(r, sizeof *places, &count);
    for (size_t i = 0; i < count; i++) {
        places[i].out = ln_unpack_string(&r->u);
        places[i].in = ln_unpack_string(&r->u);
        places[i].kind = (ln_place_kind)read_constant(r);
    }
    if (places)
        places[count].kind = LN_PLACE_OVER;
    return count > 0 ? places : NULL;
}

static const int *read_since(reader *r)
{
    size_t count;
    int *since = read_list(r, sizeof *since, &count);
    for (size_t i = 0; i < count; i++)
        since[i] = (int)ln_unpack_uint(&r->u);
    return since;
}

static void read_rest(reader *r, ln_op_info *info)
{
    info->author = ln_unpack_string(&r->u);
    info->example = ln_unpack_string(&r->u);
    info->dtypes = ln_unpack_string(&r->u);
    info->nan = ln_unpack_string(&r->u);
    info->domain = ln_unpack_string(&r->u);
    info->rtol = ln_unpack_number(&r->u);
}

static void copy_rest(ln_op_info *info, const ln_op_info *base)
{
    info->author = base->author;
    info->example = base->example;
    info->dtypes = base->dtypes;
    info->nan = base->nan;
    info->domain = base->domain;
    info->rtol = base->rtol;
}

// ---- Functions ----

static void set_function(made_op *made, ln_packed_function_kind kind, ln_packed_function f)
{
    switch (kind) {
    case LN_PACKED_pre_run: made->op.pre_run = (ln_op_func)f; break;
    case LN_PACKED_static_run: made->op.static_run = (ln_op_func)f; break;
    case LN_PACKED_run: made->op.run = (ln_op_func)f; break;
    case LN_PACKED_post_run: made->op.post_run = (ln_op_func)f; break;
    case LN_PACKED_calc_offset: made->op.calc_offset = (ln_op_offset_func)f; break;
    case LN_PACKED_check: made->info.check = (ln_op_func)f; break;
    case LN_PACKED_macs: made->info.macs = (double (*)(ln_op_arg *))f; break;
    case LN_PACKED_cost: made->info.cost = (double (*)(ln_op_arg *))f; break;
    case LN_PACKED_commutes: made->info.commutes = (int (*)(ln_op_arg *))f; break;
    case LN_PACKED_infer: made->info.infer = (ln_call_func)f; break;
    case LN_PACKED_compute: made->info.compute = (ln_call_func)f; break;
    case LN_PACKED_accepts: made->info.accepts = (ln_call_func)f; break;
    case LN_PACKED_call_macs: made->info.call_macs = (double (*)(const struct ln_call *))f; break;
    case LN_PACKED_call_cost: made->info.call_cost = (double (*)(const struct ln_call *))f; break;
    case LN_PACKED_prepare: made->info.prepare = (ln_call_func)f; break;
    case LN_PACKED_workspace: made->info.workspace = (ln_call_func)f; break;
    case LN_PACKED_is_random: made->info.is_random = (int (*)(const ln_op_arg *))f; break;
    case LN_PACKED_FUNCTION_COUNT: break;
    }
}

static ln_packed_function get_function(const made_op *made, ln_packed_function_kind kind)
{
    switch (kind) {
    case LN_PACKED_pre_run: return (ln_packed_function)made->op.pre_run;
    case LN_PACKED_post_run: return (ln_packed_function)made->op.post_run;
    case LN_PACKED_calc_offset: return (ln_packed_function)made->op.calc_offset;
    case LN_PACKED_check: return (ln_packed_function)made->info.check;
    case LN_PACKED_macs: return (ln_packed_function)made->info.macs;
    case LN_PACKED_cost: return (ln_packed_function)made->info.cost;
    case LN_PACKED_commutes: return (ln_packed_function)made->info.commutes;
    case LN_PACKED_infer: return (ln_packed_function)made->info.infer;
    case LN_PACKED_call_macs: return (ln_packed_function)made->info.call_macs;
    case LN_PACKED_call_cost: return (ln_packed_function)made->info.call_cost;
    case LN_PACKED_is_random: return (ln_packed_function)made->info.is_random;
    default: return NULL; // never taken from a base
    }
}

// The bits of `own` come from the array, those of `shared` from the base, and all operators in call
// form have the same six of their life.
static void read_functions(reader *r, made_op *made, const made_op *base)
{
    unsigned form = (unsigned)ln_unpack_uint(&r->u);
    bool is_call = (form & LN_PACKED_CALL_FORM) != 0;
    made->info.takes_workspace = (form & LN_PACKED_TAKES_WORKSPACE) != 0;
    made->info.takes_any_address = (form & LN_PACKED_ANY_ADDRESS) != 0;
    unsigned own = (unsigned)ln_unpack_uint(&r->u);
    unsigned shared = (unsigned)ln_unpack_uint(&r->u);
    for (int kind = 0; kind < LN_PACKED_FUNCTION_COUNT; kind++) {
        if (own >> kind & 1)
            set_function(made, (ln_packed_function_kind)kind, *r->next_function++);
        else if (shared >> kind & 1)
            set_function(made, (ln_packed_function_kind)kind,
                         get_function(base, (ln_packed_function_kind)kind));
    }
    static const ln_packed_function_kind life[] = {LN_PACKED_pre_run, LN_PACKED_post_run,
                                                   LN_PACKED_check,   LN_PACKED_macs,
                                                   LN_PACKED_cost,    LN_PACKED_run};
    size_t count = !is_call ? 0 : made->info.compute ? 6 : 5;
    for (size_t i = 0; i < count; i++)
        set_function(made, life[i], r->call_form[i]);
}

// ---- Operators ----

// Variants mostly come in the order of what they are variants of.
static const made_op *find_base(reader *r, const char *optype)
{
    if (!optype)
        return NULL;
    for (ln_op **at = r->bases; *at; at++) {
        if (strcmp((*at)->op_arg->optype, optype) == 0) {
            r->bases = at + 1;
            return (const made_op *)*at;
        }
    }
    r->bases = r->first_base;
    for (ln_op **at = r->bases; *at; at++)
        if (strcmp((*at)->op_arg->optype, optype) == 0)
            return (const made_op *)*at;
    assert(false && "a base is in the image that is named");
    return NULL;
}

static void read_op(reader *r, made_op *made)
{
    made->op.op_arg = &made->arg;
    made->arg.info = &made->info;
    made->arg.arch = r->arch;
    made->arg.optype = ln_unpack_string(&r->u);
    const made_op *base = find_base(r, ln_unpack_string(&r->u));
    unsigned same = (unsigned)ln_unpack_uint(&r->u);
    ln_op_info *info = &made->info;
    info->doc = same & LN_PACKED_SAME_DOC ? base->info.doc : ln_unpack_string(&r->u);
    read_ins(r, made, base, same & LN_PACKED_SAME_INS);
    read_outs(r, made, base, same & LN_PACKED_SAME_OUTS);
    if (same & LN_PACKED_SAME_PARAMS)
        copy_params(made, base);
    else
        read_params(r, made);
    info->places = same & LN_PACKED_SAME_PLACES ? base->info.places : read_places(r);
    info->since = same & LN_PACKED_SAME_SINCE ? base->info.since : read_since(r);
    if (same & LN_PACKED_SAME_REST)
        copy_rest(info, &base->info);
    else
        read_rest(r, info);
    info->step_cost = ln_unpack_number(&r->u);
    read_functions(r, made, base);
}

static ln_op **read_ops(reader *r)
{
    r->arch = ln_unpack_string(&r->u);
    r->call_form = r->next_function;
    r->next_function += ln_unpack_uint(&r->u);
    size_t count;
    ln_op **ops = read_list(r, sizeof *ops, &count);
    made_op *made = ln_unpack_alloc(&r->u, count * sizeof *made + 1);
    for (size_t i = 0; i < count && r->u.status == LN_OK; i++) {
        read_op(r, &made[i]);
        ops[i] = &made[i].op;
    }
    return r->u.status == LN_OK ? ops : NULL;
}

static ln_status make(ln_packed_ops *packed)
{
    LN_TRY(ln_document_create("operators", &packed->arena));
    reader r = {.numbers = packed->numbers,
                .next_function = packed->functions,
                .bases = packed->base ? packed->base->ops : NULL,
                .first_base = packed->base ? packed->base->ops : NULL};
    if (ln_unpack_begin(packed->bytes, packed->arena, &r.u) == LN_OK)
        packed->ops = read_ops(&r);
    return r.u.status;
}

ln_status ln_packed_ops_open(ln_packed_ops *packed, ln_op ***out_ops)
{
    *out_ops = NULL;
    if (packed->use_count++ == 0) {
        ln_op **base_ops;
        ln_status status = packed->base ? ln_packed_ops_open(packed->base, &base_ops) : LN_OK;
        if (status != LN_OK) {
            packed->use_count = 0;
            return status;
        }
        status = make(packed);
        if (status != LN_OK) {
            ln_packed_ops_close(packed);
            return status;
        }
    }
    *out_ops = packed->ops;
    return LN_OK;
}

void ln_packed_ops_close(ln_packed_ops *packed)
{
    if (!packed || packed->use_count == 0 || --packed->use_count > 0)
        return;
    ln_document_destroy(packed->arena);
    packed->arena = NULL;
    packed->ops = NULL;
    ln_packed_ops_close(packed->base);
}
