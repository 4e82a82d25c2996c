// SPDX-License-Identifier: Apache-2.0
// Prototypes of operators out of the rows of an arch.

#include "ir/op_rows.h"

#include <assert.h>
#include <string.h>

#include "base/number.h"
#include "base/value.h"
#include "ir/param_number.h"

// An operator's structs, made in one block.
typedef struct made_op {
    ln_op op; // first: its address is the struct's
    ln_op_arg arg;
    ln_op_info info;
} made_op;

typedef struct maker {
    ln_document *arena;
    ln_status status;
    const ln_op_rows *rows;
    ln_op **next_base; // where the search for the next base starts
} maker;

// Zeroed memory; NULL after a failure.
static void *make(maker *m, size_t byte_count)
{
    void *memory = m->status == LN_OK ? ln_document_alloc(m->arena, byte_count) : NULL;
    if (memory)
        memset(memory, 0, byte_count);
    else
        m->status = LN_NO_MEMORY;
    return memory;
}

// ---- Arguments ----

static size_t count_args(const ln_arg_info *args)
{
    size_t count = 0;
    while (args[count].arg_name)
        count++;
    return count;
}

// A variadic argument's first name stands for all of them.
static const char *listed_name(maker *m, const ln_arg_info *arg)
{
    if (!(arg->flags & LN_ARG_VARIADIC))
        return arg->arg_name;
    size_t len = strlen(arg->arg_name);
    char *name = make(m, len + 2);
    if (name) {
        memcpy(name, arg->arg_name, len);
        name[len] = '1';
    }
    return name;
}

static const char **list_names(maker *m, const ln_arg_info *args)
{
    size_t count = count_args(args);
    const char **names = make(m, (count + 1) * sizeof *names);
    for (size_t i = 0; names && i < count; i++)
        names[i] = listed_name(m, &args[i]);
    return names;
}

static const ln_arg_info *in_memory(maker *m, const ln_arg_info *base, ln_mem_type mtype)
{
    size_t count = count_args(base);
    bool is_same = true;
    for (size_t i = 0; i < count; i++)
        is_same = is_same && (mtype == LN_MEM_NONE || base[i].mtype == mtype);
    ln_arg_info *args = is_same ? NULL : make(m, (count + 1) * sizeof *args);
    for (size_t i = 0; args && i < count; i++) {
        args[i] = base[i];
        args[i].mtype = mtype;
    }
    return is_same ? base : args;
}

static void make_args(maker *m, made_op *made, const ln_op_row *row, const made_op *base)
{
    const ln_op_facts *facts = row->facts;
    if (facts && facts->ins) {
        made->info.ins = facts->ins;
        made->arg.in_arg_names = list_names(m, facts->ins);
    } else {
        made->info.ins = in_memory(m, base->info.ins, row->mtype);
        made->arg.in_arg_names = base->arg.in_arg_names;
    }
    if (facts && facts->outs) {
        made->info.outs = facts->outs;
        made->arg.out_arg_names = list_names(m, facts->outs);
    } else {
        made->info.outs = in_memory(m, base->info.outs, row->mtype);
        made->arg.out_arg_names = base->arg.out_arg_names;
    }
}

// ---- Parameters ----

// The JSON of a default is that of lightnet-gen: a scalar, or an array of scalars of one kind,
// whose strings have no escapes. A scalar ends at the next comma or bracket outside of quotes.
static size_t scalar_len(const char *json)
{
    if (*json == '"')
        return (size_t)(strchr(json + 1, '"') - json) + 1;
    return strcspn(json, ",]");
}

static size_t count_elements(const char *json)
{
    size_t count = 0;
    for (const char *at = json + 1 + strspn(json + 1, " \n"); *at && *at != ']'; count++) {
        at += scalar_len(at);
        at += strspn(at, ", \n");
    }
    return count;
}

static double read_number(const char *json)
{
    double number = 0;
    bool is_read = ln_number_read(json, scalar_len(json), &number);
    assert(is_read);
    (void)is_read;
    return number;
}

static char *read_string(maker *m, const char *json)
{
    size_t len = scalar_len(json) - 2;
    char *string = make(m, len + 1);
    if (string)
        memcpy(string, json + 1, len);
    return string;
}

static void set_scalar(maker *m, ln_param_entry *entry, const char *json)
{
    switch (entry->type) {
    case LN_PARAM_NUMBER:
        entry->value_double = read_number(json);
        entry->value_float = ln_param_saturate_float(entry->value_double);
        entry->value_int = ln_param_saturate_int(entry->value_double);
        break;
    case LN_PARAM_STRING: entry->value_string = read_string(m, json); break;
    default: entry->value_bool = json[0] == 't'; break;
    }
}

static void alloc_elements(maker *m, ln_param_entry *entry, size_t count)
{
    switch (entry->type) {
    case LN_PARAM_ARRAY_NUMBER:
        entry->value_array_double = make(m, count * sizeof(double) + 1);
        entry->value_array_float = make(m, count * sizeof(float) + 1);
        entry->value_array_int = make(m, count * sizeof(int) + 1);
        break;
    case LN_PARAM_ARRAY_STRING:
        entry->value_array_string = make(m, (count + 1) * sizeof(char *));
        break;
    default: entry->value_array_bool = make(m, (count + 1) * sizeof(ln_bool)); break;
    }
}

static void set_element(maker *m, ln_param_entry *entry, size_t i, const char *json)
{
    switch (entry->type) {
    case LN_PARAM_ARRAY_NUMBER:
        entry->value_array_double[i] = read_number(json);
        entry->value_array_float[i] = ln_param_saturate_float(entry->value_array_double[i]);
        entry->value_array_int[i] = ln_param_saturate_int(entry->value_array_double[i]);
        break;
    case LN_PARAM_ARRAY_STRING: entry->value_array_string[i] = read_string(m, json); break;
    default: entry->value_array_bool[i] = json[0] == 't'; break;
    }
}

static void set_elements(maker *m, ln_param_entry *entry, const char *json)
{
    size_t count = count_elements(json);
    entry->array_len = (int)count;
    alloc_elements(m, entry, count);
    const char *at = json + 1 + strspn(json + 1, " \n");
    for (size_t i = 0; m->status == LN_OK && i < count; i++) {
        set_element(m, entry, i, at);
        at += scalar_len(at);
        at += strspn(at, ", \n");
    }
}

static const ln_param_entry *make_default(maker *m, const ln_param_row *row, char *arg_name)
{
    ln_param_entry *entry = make(m, sizeof *entry);
    if (!entry)
        return NULL;
    entry->arg_name = arg_name;
    entry->type = row->ptype;
    if (row->default_text[0] == '[')
        set_elements(m, entry, row->default_text);
    else
        set_scalar(m, entry, row->default_text);
    return entry;
}

static void make_params(maker *m, made_op *made, const ln_param_row *rows)
{
    size_t count = 0;
    while (rows[count].arg_name)
        count++;
    ln_param_info *params = make(m, (count + 1) * sizeof *params);
    const char **names = make(m, (count + 1) * sizeof *names);
    ln_param_type *types = make(m, (count + 1) * sizeof *types);
    for (size_t i = 0; m->status == LN_OK && i < count; i++) {
        char *name = ln_document_strdup(m->arena, rows[i].arg_name, strlen(rows[i].arg_name));
        if (!name)
            m->status = LN_NO_MEMORY;
        names[i] = name;
        types[i] = rows[i].ptype;
        params[i] = (ln_param_info){.arg_name = name,
                                    .ptype = rows[i].ptype,
                                    .default_text = rows[i].default_text,
                                    .is_required = rows[i].is_required,
                                    .is_whole = rows[i].is_whole};
        if (rows[i].default_text)
            params[i].default_entry = make_default(m, &rows[i], name);
    }
    if (m->status == LN_OK)
        types[count] = params[count].ptype = LN_PARAM_INVALID;
    made->info.params = params;
    made->arg.param_arg_names = names;
    made->arg.param_ptypes = types;
}

// A member of the facts, or else that of the base.
#define FACT(member) (facts && facts->member ? facts->member : base ? base->info.member : NULL)

static void make_facts(maker *m, made_op *made, const ln_op_row *row, const made_op *base)
{
    const ln_op_facts *facts = row->facts;
    ln_op_info *info = &made->info;
    make_args(m, made, row, base);
    if (facts && facts->params) {
        make_params(m, made, facts->params);
    } else {
        info->params = base->info.params;
        made->arg.param_arg_names = base->arg.param_arg_names;
        made->arg.param_ptypes = base->arg.param_ptypes;
    }
    info->places = FACT(places);
    info->since = FACT(since);
    info->domain = FACT(domain);
    info->commutes = FACT(commutes);
    info->is_random = FACT(is_random);
    info->infer = FACT(infer);
    info->call_macs = FACT(call_macs);
    info->call_cost = FACT(call_cost);
}

// ---- Functions ----

static void set_functions(made_op *made, const ln_op_row *row, const ln_call_life *life)
{
    ln_op_info *info = &made->info;
    made->op.pre_run = life->pre_run;
    made->op.post_run = life->post_run;
    bool is_view = info->places && info->places[0].kind == LN_PLACE_VIEW;
    const ln_arg_info *out = info->outs; // NULL: memory is gone
    bool is_static = out && out->arg_name && (out->flags & LN_ARG_STATIC);
    made->op.run = row->compute && !is_view && !is_static ? life->run : NULL;
    made->op.static_run = row->compute && is_static ? life->run : NULL;
    info->open_run = row->compute && is_view ? life->run : NULL;
    made->op.calc_offset = row->calc_offset;
    info->check = life->check;
    info->macs = life->macs;
    info->cost = life->cost;
    info->accepts = row->accepts;
    info->prepare = row->prepare;
    info->workspace = row->workspace;
    info->compute = row->compute;
}

// ---- Operators ----

// Variants mostly come in the order of what they are variants of.
static const made_op *find_base(maker *m, const char *optype)
{
    ln_op **first = optype ? m->rows->base->ops : NULL;
    if (!optype)
        return NULL;
    for (ln_op **at = m->next_base; *at; at++) {
        if (strcmp((*at)->op_arg->optype, optype) == 0) {
            m->next_base = at + 1;
            return (const made_op *)*at;
        }
    }
    m->next_base = first;
    for (ln_op **at = first; *at; at++)
        if (strcmp((*at)->op_arg->optype, optype) == 0)
            return (const made_op *)*at;
    assert(false && "the build looks bases up");
    return NULL;
}

static void make_op(maker *m, made_op *made, const ln_op_row *row)
{
    const made_op *base = find_base(m, row->base);
    ln_op_info *info = &made->info;
    made->op.op_arg = &made->arg;
    made->arg.info = info;
    info->byte_count = sizeof *info;
    made->arg.arch = m->rows->arch;
    made->arg.optype = ln_document_strdup(m->arena, row->optype, strlen(row->optype));
    if (!made->arg.optype)
        m->status = LN_NO_MEMORY;
    make_facts(m, made, row, base);
    set_functions(made, row, m->rows->call_life);
    info->rtol = row->rtol;
    info->step_cost = row->step_cost;
    info->takes_any_address = row->takes_any_address;
}

// A block for each operator: no request for memory is large.
static ln_op **make_ops(maker *m)
{
    size_t count = 0;
    while (m->rows->rows[count].optype)
        count++;
    ln_op **ops = make(m, (count + 1) * sizeof *ops);
    for (size_t i = 0; m->status == LN_OK && i < count; i++) {
        made_op *made = make(m, sizeof *made);
        if (made)
            make_op(m, made, &m->rows->rows[i]);
        ops[i] = made ? &made->op : NULL;
    }
    return m->status == LN_OK ? ops : NULL;
}

static ln_status open_rows(ln_op_rows *rows)
{
    LN_TRY(ln_document_create("operators", &rows->arena));
    maker m = {
        .arena = rows->arena, .rows = rows, .next_base = rows->base ? rows->base->ops : NULL};
    rows->ops = make_ops(&m);
    return m.status;
}

ln_status ln_op_rows_open(ln_op_rows *rows, ln_op ***out_ops)
{
    *out_ops = NULL;
    if (rows->use_count++ == 0) {
        ln_op **base_ops;
        ln_status status = rows->base ? ln_op_rows_open(rows->base, &base_ops) : LN_OK;
        if (status != LN_OK) {
            rows->use_count = 0;
            return status;
        }
        status = open_rows(rows);
        if (status != LN_OK) {
            ln_op_rows_close(rows);
            return status;
        }
    }
    *out_ops = rows->ops;
    return LN_OK;
}

void ln_op_rows_close(ln_op_rows *rows)
{
    if (!rows || rows->use_count == 0 || --rows->use_count > 0)
        return;
    ln_document_destroy(rows->arena);
    rows->arena = NULL;
    rows->ops = NULL;
    ln_op_rows_close(rows->base);
}
