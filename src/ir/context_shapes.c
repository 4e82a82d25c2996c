// SPDX-License-Identifier: Apache-2.0
// Inputs whose shapes are bound late: parameter `bound` of `input` operators.
//
// Shapes that belong together are bound together: all are noted, and then the operators checked
// once. If they refuse, the inputs go back to what they were bound to.

#include "ir/context.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <lightnet/allocator.h>

#include "base/error_state.h"
#include "ir/open.h"
#include "ir/phase.h"
#include "ir/symbols.h"

// The shape that an input gets, and the one that it has been bound to.
typedef struct binding {
    ln_op *op;
    int ndim;
    int dims[TL_MAXDIM];
    bool was_bound;
    int old_ndim;
    int old_dims[TL_MAXDIM];
    bool was_default;
} binding;

static ln_status check_ready(const ln_context *ctx)
{
    if (!ctx)
        return LN_FAIL(LN_INVALID, "the context is NULL");
    if (ctx->state != LN_CONTEXT_READY)
        return LN_FAIL(LN_STATE, "shapes are bound after reading a model and before compiling it");
    return LN_OK;
}

// ---- What an input says ----

int ln_context_input_is_open(const ln_context *ctx, size_t index)
{
    const ln_tensor_entry *entry = ln_context_input(ctx, index);
    return entry && entry->is_open;
}

bool ln_context_has_open_input(const ln_context *ctx)
{
    size_t count = ctx ? ln_context_input_count(ctx) : 0;
    for (size_t i = 0; i < count; i++)
        if (ln_context_input_is_open(ctx, i))
            return true;
    return false;
}

static ln_op *find_input_op(const ln_context *ctx, const char *tname)
{
    const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, tname);
    ln_op *op = entry ? ln_op_table_find(ctx->op_table, entry->creater) : NULL;
    return op && ln_op_is_type(op->op_arg, "input") ? op : NULL;
}

static bool has_any_shape(const ln_op *op)
{
    const ln_param_entry *open = ln_param_list_find(op->op_arg->params, "open");
    return open && open->value_bool;
}

static ln_status check_fits(const ln_op *op, const char *tname, int ndim, const int *dims)
{
    const ln_param_entry *stated = ln_param_list_find(op->op_arg->params, "dims");
    if (!stated || has_any_shape(op))
        return LN_OK;
    int fits = stated->array_len == ndim;
    for (int d = 0; d < ndim && fits; d++)
        fits = stated->value_array_int[d] < 0 || stated->value_array_int[d] == dims[d];
    if (fits)
        return LN_OK;
    char wanted[128], given[128];
    ln_sprint_shape(wanted, sizeof wanted, stated->array_len, stated->value_array_int);
    ln_sprint_shape(given, sizeof given, ndim, dims);
    return LN_FAIL(LN_INVALID, "input '%s' has shape %s (-1: any), not %s", tname, wanted, given);
}

static const char *symbol_at(const ln_op *op, int d)
{
    const ln_param_entry *names = ln_param_list_find(op->op_arg->params, "names");
    return names && names->type == LN_PARAM_ARRAY_STRING && d < names->array_len
               ? names->value_array_string[d]
               : NULL;
}

static int copy_dims(const ln_param_entry *stated, int dims[TL_MAXDIM])
{
    if (!stated || stated->array_len > TL_MAXDIM)
        return -1;
    for (int d = 0; d < stated->array_len; d++)
        dims[d] = stated->value_array_int[d];
    return stated->array_len;
}

// The dimensions that the operator states, whatever they are bound to; the rank, or -1 if that is
// not known.
static int dims_unbound(const ln_op *op, int dims[TL_MAXDIM])
{
    return has_any_shape(op) ? -1 : copy_dims(ln_param_list_find(op->op_arg->params, "dims"), dims);
}

// The dimensions of an input or output as far as they are known; the rank, or -1 if that is not.
static int dims_so_far(const ln_op *op, int dims[TL_MAXDIM])
{
    const ln_param_entry *bound = ln_param_list_find(op->op_arg->params, "bound");
    return bound ? copy_dims(bound, dims) : dims_unbound(op, dims);
}

// Whether the model leaves dimensions open, and `bound` is what a run has that gives no others.
static bool is_default_bound(const ln_op *op)
{
    const ln_param_entry *flag = ln_param_list_find(op->op_arg->params, "bound_is_default");
    return flag && flag->type == LN_PARAM_BOOL && flag->value_bool &&
           ln_param_list_find(op->op_arg->params, "bound");
}

static void set_default_bound(const ln_op *op, bool is_default)
{
    ln_param_entry *flag = ln_param_list_find(op->op_arg->params, "bound_is_default");
    if (flag && flag->type == LN_PARAM_BOOL)
        flag->value_bool = is_default;
}

static bool has_default_bound_input(const ln_context *ctx)
{
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops)
        if (ln_op_is_type(op->op_arg, "input") && is_default_bound(op))
            return true;
    return false;
}

static void remove_param(const ln_op *op, const char *name)
{
    ln_param_entry *param = ln_param_list_find(op->op_arg->params, name);
    if (!param)
        return;
    op->op_arg->params = ln_list_remove(op->op_arg->params, param);
    ln_param_entry_free(param);
}

bool ln_context_open_defaults(const ln_context *ctx)
{
    bool is_changed = false;
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        if (!ln_op_is_type(op->op_arg, "input") || !is_default_bound(op))
            continue;
        remove_param(op, "bound");
        is_changed = true;
    }
    return is_changed;
}

// ---- What a tensor is ----

// The operator that states what `tname` is: an `input`, or an `output` of the model; else NULL.
static const ln_op *find_stating_op(const ln_context *ctx, const char *tname)
{
    const ln_op *input = find_input_op(ctx, tname);
    if (input || !ctx->has_output)
        return input;
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        if (!ln_op_is_type(op->op_arg, "output"))
            continue;
        const ln_tensor_list_entry *src = op->op_arg->tensors_in->data;
        if (strcmp(src->name, tname) == 0)
            return op;
    }
    return NULL;
}

static tl_dtype stated_dtype(const ln_op *op)
{
    const ln_param_entry *dtype = op ? ln_param_list_find(op->op_arg->params, "dtype") : NULL;
    return dtype && dtype->value_string ? tl_dtype_from_str(dtype->value_string) : TL_DTYPE_INVALID;
}

int ln_context_stated_type(const ln_context *ctx, const char *tname, tl_dtype *out_dtype,
                           int dims[TL_MAXDIM])
{
    const ln_op *op = find_stating_op(ctx, tname);
    *out_dtype = stated_dtype(op);
    return op ? dims_so_far(op, dims) : -1;
}

static const ln_tensor_entry *find_tensor(const ln_context *ctx, const char *tname)
{
    const ln_tensor_entry *entry =
        ctx && tname ? ln_tensor_table_find(ctx->tensor_table, tname) : NULL;
    if (!entry)
        ln_fail(LN_NOT_FOUND, "the model has no tensor '%s'", tname ? tname : "(null)");
    return entry;
}

tl_dtype ln_context_tensor_dtype(const ln_context *ctx, const char *tname)
{
    const ln_tensor_entry *entry = find_tensor(ctx, tname);
    if (!entry || !entry->is_open)
        return entry ? entry->tensor->dtype : TL_DTYPE_INVALID;
    return stated_dtype(find_stating_op(ctx, tname));
}

// -1 for the dimensions of an input or output that have a size by default only.
static void open_defaults(const ln_context *ctx, const char *tname, int ndim, int *dims)
{
    int stated[TL_MAXDIM];
    if (ctx->state >= LN_CONTEXT_PLANNED && !ctx->plans)
        return; // for this shape alone, as a compiled file is
    const ln_op *op = find_stating_op(ctx, tname);
    bool is_input = op && ln_op_is_type(op->op_arg, "input");
    if (!op || !(is_input ? is_default_bound(op) : has_default_bound_input(ctx)) ||
        dims_unbound(op, stated) != ndim)
        return;
    for (int d = 0; d < ndim; d++)
        if (stated[d] < 0)
            dims[d] = -1;
}

// The rank, with the dimensions as far as they are known; -1 if not even the rank is.
static int shape_of(const ln_context *ctx, const char *tname, int dims[TL_MAXDIM])
{
    const ln_tensor_entry *entry = find_tensor(ctx, tname);
    if (!entry)
        return -1;
    if (entry->is_open) {
        const ln_op *op = find_stating_op(ctx, tname);
        return op ? dims_so_far(op, dims) : -1;
    }
    for (int d = 0; d < entry->tensor->ndim; d++)
        dims[d] = entry->tensor->dims[d];
    open_defaults(ctx, tname, entry->tensor->ndim, dims);
    return entry->tensor->ndim;
}

int ln_context_tensor_rank(const ln_context *ctx, const char *tname)
{
    int dims[TL_MAXDIM];
    return shape_of(ctx, tname, dims);
}

int64_t ln_context_tensor_dim(const ln_context *ctx, const char *tname, int axis)
{
    int dims[TL_MAXDIM];
    return axis >= 0 && axis < shape_of(ctx, tname, dims) ? dims[axis] : -1;
}

const char *ln_context_tensor_symbol(const ln_context *ctx, const char *tname, int axis)
{
    int dims[TL_MAXDIM];
    if (axis < 0 || axis >= shape_of(ctx, tname, dims))
        return NULL;
    const ln_op *op = find_stating_op(ctx, tname);
    const char *symbol = op ? symbol_at(op, axis) : NULL;
    return symbol && *symbol ? symbol : NULL;
}

int ln_context_tensor_is_static(const ln_context *ctx, const char *tname)
{
    const ln_tensor_entry *entry = find_tensor(ctx, tname);
    return entry && entry->isstatic;
}

void ln_context_drop_known_outputs(ln_context *ctx)
{
    static const char *const stated[] = {"dtype", "dims", "names", "type"};
    const ln_op *op;
    if (has_default_bound_input(ctx))
        return; // shapes are those of a default size
    LN_LIST_FOREACH (op, ctx->ops) {
        if (!ln_op_is_type(op->op_arg, "output"))
            continue;
        const ln_tensor_list_entry *src = op->op_arg->tensors_in->data;
        const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, src->name);
        for (size_t i = 0; entry && !entry->is_open && i < sizeof stated / sizeof *stated; i++)
            remove_param(op, stated[i]);
    }
}

// ---- Values ----

// "[2, ?]", with ? for what is dynamic.
static void print_stated(char *text, size_t size, int ndim, const int *dims)
{
    size_t len = (size_t)snprintf(text, size, "[");
    for (int d = 0; d < ndim && len < size; d++) {
        const char *comma = d > 0 ? ", " : "";
        len += (size_t)(dims[d] < 0 ? snprintf(text + len, size - len, "%s?", comma)
                                    : snprintf(text + len, size - len, "%s%d", comma, dims[d]));
    }
    if (len < size)
        snprintf(text + len, size - len, "]");
}

static ln_status fail_value(const char *tname, tl_dtype dtype, int ndim, const int *dims,
                            const tl_tensor *given)
{
    char wanted[LN_SHAPE_TEXT_BYTES] = "of any shape", got[LN_SHAPE_TEXT_BYTES];
    if (ndim >= 0)
        print_stated(wanted, sizeof wanted, ndim, dims);
    ln_sprint_shape(got, sizeof got, given->ndim, given->dims);
    return LN_FAIL(LN_INVALID, "input '%s' is %s %s (?: any), not %s %s", tname,
                   tl_dtype_title(dtype), wanted, tl_dtype_title(given->dtype), got);
}

static ln_status check_given(const char *tname, tl_dtype dtype, int ndim, const int *dims,
                             const tl_tensor *given)
{
    if (!given)
        return LN_FAIL(LN_INVALID, "input '%s' is a tensor, not a sequence, optional or map",
                       tname);
    int fits = given->dtype == dtype && (ndim < 0 || given->ndim == ndim);
    for (int d = 0; d < ndim && fits; d++)
        fits = dims[d] < 0 || dims[d] == given->dims[d];
    return fits ? LN_OK : fail_value(tname, dtype, ndim, dims, given);
}

ln_status ln_context_check_tensor(const ln_context *ctx, const char *tname, const tl_tensor *given)
{
    tl_dtype dtype;
    int dims[TL_MAXDIM];
    int ndim = ln_context_stated_type(ctx, tname, &dtype, dims);
    if (dtype == TL_DTYPE_INVALID || dtype == TL_OBJECT)
        return LN_OK; // the operators that read it decide
    return check_given(tname, dtype, ndim, dims, given);
}

bool ln_context_is_bound(const ln_context *ctx, const char *tname)
{
    const ln_op *op = find_input_op(ctx, tname);
    return op && ln_param_list_find(op->op_arg->params, "bound");
}

ln_status ln_context_check_unbound(const ln_context *ctx, const char *tname, const tl_tensor *given)
{
    int dims[TL_MAXDIM];
    tl_dtype dtype = ln_context_tensor_dtype(ctx, tname);
    int ndim = dims_unbound(find_input_op(ctx, tname), dims);
    return check_given(tname, dtype, ndim, dims, given);
}

ln_status ln_context_check_value(const ln_context *ctx, const char *tname, const ln_object *object)
{
    return ln_context_check_tensor(ctx, tname, ln_object_tensor(object));
}

// ---- Binding ----

static void note_old(binding *b)
{
    const ln_param_entry *bound = ln_param_list_find(b->op->op_arg->params, "bound");
    b->was_bound = bound && bound->array_len <= TL_MAXDIM;
    b->old_ndim = b->was_bound ? bound->array_len : 0;
    for (int d = 0; d < b->old_ndim; d++)
        b->old_dims[d] = bound->value_array_int[d];
    b->was_default = is_default_bound(b->op);
}

static ln_status set_bound(ln_op *op, int ndim, const int *dims, bool is_default)
{
    ln_param_entry *bound = ln_param_list_find(op->op_arg->params, "bound");
    set_default_bound(op, is_default);
    if (bound)
        return ln_param_set_satu_array_int(bound, ndim, dims);
    ln_list *params = ln_param_list_append_array_int(op->op_arg->params, "bound", ndim, dims);
    if (!ln_param_list_find(params, "bound"))
        return LN_NO_MEMORY;
    op->op_arg->params = params;
    return LN_OK;
}

static ln_status set_back(const binding *bindings, size_t count)
{
    for (size_t i = count; i-- > 0;) {
        const binding *b = &bindings[i];
        if (b->was_bound)
            LN_TRY(set_bound(b->op, b->old_ndim, b->old_dims, b->was_default));
        else
            remove_param(b->op, "bound");
    }
    return LN_OK;
}

static ln_status recheck(ln_context *ctx, const binding *bindings, size_t count)
{
    ln_op **changed = ln_alloc_array(count, sizeof *changed);
    if (!changed)
        return LN_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        changed[i] = bindings[i].op;
    ln_status status = ln_context_recheck_from(ctx, count, changed);
    ln_free(changed);
    return status;
}

// `is_of_run`: what has a size by default keeps that it has one.
static ln_status bind_all(ln_context *ctx, const binding *bindings, size_t count, bool is_of_run)
{
    ln_status status = LN_OK;
    for (size_t i = 0; i < count && status == LN_OK; i++)
        status = set_bound(bindings[i].op, bindings[i].ndim, bindings[i].dims,
                           is_of_run && bindings[i].was_default);
    if (status == LN_OK)
        status = recheck(ctx, bindings, count);
    if (status == LN_OK)
        return LN_OK;
    status = ln_symbols_explain(ctx, status, 0, NULL);
    ln_error_state reason;
    ln_error_save(&reason);
    bool is_back = set_back(bindings, count) == LN_OK && ln_context_recheck(ctx) == LN_OK;
    ln_error_restore(&reason);
    return is_back ? status : ln_context_abandon(ctx, status);
}

// ---- Shapes ----

static bool is_bound_so(const ln_context *ctx, const ln_op *op, const char *tname, int ndim,
                        const int *dims)
{
    const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, tname);
    const tl_tensor *now = entry->tensor;
    return !entry->is_open && !is_default_bound(op) && now->ndim == ndim &&
           (ndim == 0 || memcmp(now->dims, dims, (size_t)ndim * sizeof *dims) == 0);
}

static ln_status make_binding(const ln_context *ctx, const ln_input_shape *shape, binding *b)
{
    if (!shape->tname || (shape->ndim > 0 && !shape->dims))
        return LN_FAIL(LN_INVALID, "binding a shape needs a name and dimensions");
    int len;
    if (!tl_shape_len(shape->ndim, shape->dims, &len))
        return LN_FAIL(LN_INVALID,
                       "input '%s': the shape has a negative dimension, more than %d, or "
                       "too many elements",
                       shape->tname, TL_MAXDIM);
    b->op = find_input_op(ctx, shape->tname);
    if (!b->op)
        return LN_FAIL(LN_NOT_FOUND, "the model has no input '%s'", shape->tname);
    LN_TRY(check_fits(b->op, shape->tname, shape->ndim, shape->dims));
    b->ndim = shape->ndim;
    for (int d = 0; d < shape->ndim; d++)
        b->dims[d] = shape->dims[d];
    note_old(b);
    return LN_OK;
}

static ln_status set_shapes(ln_context *ctx, size_t count, const ln_input_shape *shapes,
                            bool is_of_run)
{
    LN_TRY(check_ready(ctx));
    if (count == 0)
        return LN_OK;
    binding *bindings = ln_alloc_array(count, sizeof *bindings);
    if (!bindings)
        return LN_NO_MEMORY;
    ln_status status = LN_OK;
    size_t used = 0;
    for (size_t i = 0; i < count && status == LN_OK; i++) {
        status = make_binding(ctx, &shapes[i], &bindings[used]);
        if (status == LN_OK)
            used += !is_bound_so(ctx, bindings[used].op, shapes[i].tname, shapes[i].ndim,
                                 shapes[i].dims);
    }
    if (status == LN_OK && used > 0)
        status = bind_all(ctx, bindings, used, is_of_run);
    ln_free(bindings);
    return status;
}

ln_status ln_context_set_shapes(ln_context *ctx, size_t count, const ln_input_shape *shapes)
{
    ln_phase phase;
    ln_phase_begin(ctx, LN_PHASE_PLAN, &phase);
    return ln_phase_end(&phase, set_shapes(ctx, count, shapes, false));
}

ln_status ln_context_set_run_shapes(ln_context *ctx, size_t count, const ln_input_shape *shapes)
{
    ln_phase phase;
    ln_phase_begin(ctx, LN_PHASE_PLAN, &phase);
    return ln_phase_end(&phase, set_shapes(ctx, count, shapes, true));
}

ln_status ln_context_set_shape(ln_context *ctx, const char *tname, int ndim, const int *dims)
{
    ln_input_shape shape = {.tname = tname, .ndim = ndim, .dims = dims};
    return ln_context_set_shapes(ctx, 1, &shape);
}

// ---- Symbols ----

static void add_symbol(char *known, size_t size, const char *name)
{
    size_t name_len = strlen(name);
    for (const char *at = known; (at = strstr(at, name)); at += name_len) {
        bool starts = at == known || at[-1] == ' ';
        bool ends = at[name_len] == '\0' || at[name_len] == ',';
        if (starts && ends)
            return;
    }
    size_t len = strlen(known);
    snprintf(known + len, size - len, "%s%s", len ? ", " : "", name);
}

static ln_status fail_unknown_symbol(const ln_context *ctx, const char *symbol)
{
    char known[512] = "";
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        for (int d = 0; d < TL_MAXDIM && ln_op_is_type(op->op_arg, "input"); d++) {
            const char *name = symbol_at(op, d);
            if (name && *name)
                add_symbol(known, sizeof known, name);
        }
    }
    if (!known[0])
        return LN_FAIL(LN_NOT_FOUND,
                       "no input has a dimension '%s': no dimension of an input has a symbol, and "
                       "those that are fixed stay as they are",
                       symbol);
    return LN_FAIL(LN_NOT_FOUND, "no input has a dimension '%s'; there are: %s", symbol, known);
}

// 1 if the input has the symbol, with what it is then bound to.
static bool bind_symbol(ln_op *op, const char *symbol, int dim, binding *b)
{
    b->op = op;
    b->ndim = ln_op_is_type(op->op_arg, "input") ? dims_so_far(op, b->dims) : -1;
    bool has_symbol = false;
    for (int d = 0; d < b->ndim; d++) {
        if (!ln_streq(symbol_at(op, d), symbol))
            continue;
        b->dims[d] = dim;
        has_symbol = true;
    }
    if (has_symbol)
        note_old(b);
    return has_symbol;
}

static ln_status set_symbol(ln_context *ctx, const char *symbol, int dim)
{
    LN_TRY(check_ready(ctx));
    if (!symbol || !*symbol || dim < 0)
        return LN_FAIL(LN_INVALID, "binding a symbol needs a name and a dimension of 0 or more");
    size_t input_count = ln_context_input_count(ctx), used = 0;
    binding *bindings = ln_alloc_array(input_count + 1, sizeof *bindings);
    if (!bindings)
        return LN_NO_MEMORY;
    ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops)
        used += used < input_count && bind_symbol(op, symbol, dim, &bindings[used]);
    ln_status status =
        used > 0 ? bind_all(ctx, bindings, used, false) : fail_unknown_symbol(ctx, symbol);
    ln_free(bindings);
    return status;
}

ln_status ln_context_set_symbol(ln_context *ctx, const char *symbol, int dim)
{
    ln_phase phase;
    ln_phase_begin(ctx, LN_PHASE_PLAN, &phase);
    return ln_phase_end(&phase, set_symbol(ctx, symbol, dim));
}
