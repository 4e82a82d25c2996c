// SPDX-License-Identifier: Apache-2.0
// Subgraphs of a model: their tensors, inputs, operators and outputs, in this order. The first one
// is the model; what its operators run is read as they are.
//
// Field numbers are those of the published schema, version 3.

#include "serial/tflite/builder.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/param.h>
#include <lightnet/util.h>

#include "base/name_hash.h"
#include "base/text.h"
#include "base/utf8.h"

// ---- Tables of the schema ----

#define B(code, name, reader, optype) [code] = {#name, ln_tflite_read_##reader, optype},
#define U(code, name)                 [code] = {#name, NULL, NULL},
static const ln_tflite_builtin builtins[] = {
#include "serial/tflite/builtins.inc"
};
#undef B
#undef U

#define CODE_CUSTOM    32
#define CODE_COMPOSITE 206

// Fields of an operator with its options: later types have a table of their own.
enum { OPTIONS = 4, OPTIONS_2 = 12 };

const ln_tflite_builtin *ln_tflite_builtin_of(int64_t code)
{
    if (code < 0 || (uint64_t)code >= sizeof builtins / sizeof builtins[0])
        return NULL;
    return builtins[code].name ? &builtins[code] : NULL;
}

// Those without a dtype are not read.
static const struct {
    const char *name;
    tl_dtype dtype;
} types[] = {
    [LN_TFLITE_FLOAT32] = {"FLOAT32", TL_FLOAT},
    [LN_TFLITE_FLOAT16] = {"FLOAT16", TL_FLOAT16},
    [LN_TFLITE_INT32] = {"INT32", TL_INT32},
    [LN_TFLITE_UINT8] = {"UINT8", TL_UINT8},
    [LN_TFLITE_INT64] = {"INT64", TL_INT64},
    [5] = {"STRING", TL_DTYPE_INVALID},
    [LN_TFLITE_BOOL] = {"BOOL", TL_BOOL},
    [LN_TFLITE_INT16] = {"INT16", TL_INT16},
    [8] = {"COMPLEX64", TL_DTYPE_INVALID},
    [LN_TFLITE_INT8] = {"INT8", TL_INT8},
    [10] = {"FLOAT64", TL_DOUBLE},
    [11] = {"COMPLEX128", TL_DTYPE_INVALID},
    [12] = {"UINT64", TL_UINT64},
    [LN_TFLITE_RESOURCE] = {"RESOURCE", TL_DTYPE_INVALID},
    [14] = {"VARIANT", TL_DTYPE_INVALID},
    [15] = {"UINT32", TL_UINT32},
    [16] = {"UINT16", TL_UINT16},
    [LN_TFLITE_INT4] = {"INT4", TL_INT4},
    [18] = {"BFLOAT16", TL_BFLOAT16},
};

#define TYPE_COUNT ((int64_t)(sizeof types / sizeof types[0]))

tl_dtype ln_tflite_dtype_of(int64_t type)
{
    return type >= 0 && type < TYPE_COUNT ? types[type].dtype : TL_DTYPE_INVALID;
}

const char *ln_tflite_type_name(int64_t type)
{
    return type >= 0 && type < TYPE_COUNT ? types[type].name : "unknown";
}

void ln_tflite_clean(const ln_flat *file, ln_flat_vector text, char *buf, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    size_t used = 0;
    for (size_t i = 0; i < text.count && used + 5 < size;) {
        char part[8] = {0};
        size_t left = text.count - i;
        memcpy(part, file->bytes + text.at + i, left < 4 ? left : 4);
        uint8_t c = (uint8_t)part[0];
        uint32_t code = LN_UTF8_BAD;
        size_t len = c >= ' ' && c != 0x7f ? ln_utf8_get(part, &code) : 0;
        if (len == 0 || code == LN_UTF8_BAD) {
            memcpy(buf + used, (const char[]){'\\', 'x', digits[c >> 4], digits[c & 15]}, 4);
            used += 4;
            i++;
            continue;
        }
        memcpy(buf + used, part, len);
        used += len;
        i += len;
    }
    buf[used] = '\0';
}

// ---- Tensors ----

// A name may be empty, or that of several tensors.
static const char *name_tensor(ln_tflite_builder *b, ln_flat_table table)
{
    char name[LN_MAX_NAME_LEN];
    ln_tflite_clean(b->file, ln_flat_text(b->file, table, 3), name, sizeof name);
    return ln_tflite_claim(b, b->tensor_names, name);
}

static void read_shape(ln_tflite_builder *b, ln_tflite_tensor *t)
{
    ln_flat_vector shape = ln_flat_list(b->file, t->table, 0, 4);
    ln_flat_vector signature = ln_flat_list(b->file, t->table, 7, 4);
    if (signature.count == shape.count)
        shape = signature;
    if (shape.count > TL_MAXDIM) {
        ln_tflite_stop(b, LN_UNSUPPORTED, "tensor '%s' has %zu dimensions, more than %d", t->name,
                       shape.count, TL_MAXDIM);
        return;
    }
    t->ndim = (int)shape.count;
    for (size_t i = 0; i < shape.count; i++) {
        int64_t dim = ln_flat_number_at(b->file, shape, i, LN_FLAT_I32);
        if (dim < -1)
            ln_tflite_stop(b, LN_INVALID, "dimension %zu of tensor '%s' is %lld", i, t->name,
                           (long long)dim);
        t->dims[i] = (int)dim;
    }
}

static void read_scales(ln_tflite_builder *b, ln_tflite_tensor *t)
{
    ln_flat_table table = ln_flat_child(b->file, t->table, 4);
    t->scales = ln_flat_list(b->file, table, 2, 4);
    t->zeros = ln_flat_list(b->file, table, 3, 8);
    int64_t axis = ln_flat_number(b->file, table, 6, LN_FLAT_I32, 0);
    t->axis = axis < -TL_MAXDIM || axis > TL_MAXDIM ? -1 : (int)axis;
}

// In the buffer of that number, or for large files past the end of the tables.
static void read_data(ln_tflite_builder *b, ln_tflite_tensor *t)
{
    ln_flat *f = b->file;
    int64_t index = ln_flat_number(f, t->table, 2, LN_FLAT_U32, 0);
    if (index == 0 || f->status != LN_OK)
        return;
    if ((uint64_t)index >= b->buffers.count) {
        ln_tflite_stop(b, LN_INVALID, "tensor '%s' is in buffer %lld of %zu", t->name,
                       (long long)index, b->buffers.count);
        return;
    }
    ln_flat_table buffer = ln_flat_table_at(f, b->buffers, (size_t)index);
    t->data = ln_flat_text(f, buffer, 0);
    uint64_t at = (uint64_t)ln_flat_number(f, buffer, 1, LN_FLAT_U64, 0);
    uint64_t len = (uint64_t)ln_flat_number(f, buffer, 2, LN_FLAT_U64, 0);
    if (at > 1) {
        if (at > f->len || len > f->len - at) {
            ln_tflite_stop(b, LN_INVALID,
                           "tensor '%s' is at byte %llu, %llu bytes, of a file of %zu", t->name,
                           (unsigned long long)at, (unsigned long long)len, f->len);
            return;
        }
        t->data = (ln_flat_vector){.at = (size_t)at, .count = (size_t)len};
    }
    t->is_const = t->data.count > 0 && !ln_tflite_is_sparse(b, t);
}

// Channels stay what they are.
static void open_shape(ln_tflite_tensor *t)
{
    for (int i = 0; i + 1 < t->ndim; i++)
        t->dims[i] = -1;
}

static void read_tensor(ln_tflite_builder *b, ln_flat_table table, ln_tflite_tensor *t)
{
    int64_t type = ln_flat_number(b->file, table, 1, LN_FLAT_I8, 0);
    t->table = table;
    t->type = (int)type;
    t->dtype = ln_tflite_dtype_of(type);
    t->name = name_tensor(b, table);
    t->is_variable = ln_flat_number(b->file, table, 5, LN_FLAT_U8, 0) != 0;
    read_shape(b, t);
    read_scales(b, t);
    read_data(b, t);
    if (b->is_resizable && !t->is_const)
        open_shape(t);
}

static void read_tensors(ln_tflite_builder *b, ln_flat_table subgraph)
{
    ln_flat_vector tables = ln_flat_list(b->file, subgraph, 0, 4);
    if (tables.count > LN_TFLITE_MAX_TENSORS) {
        ln_tflite_stop(b, LN_LIMIT, "the model has %zu tensors, more than %zu", tables.count,
                       LN_TFLITE_MAX_TENSORS);
        return;
    }
    b->tensors = ln_alloc((tables.count + 1) * sizeof *b->tensors);
    if (!b->tensors) {
        ln_tflite_stop(b, LN_NO_MEMORY, "%zu tensors", tables.count);
        return;
    }
    for (size_t i = 0; i < tables.count && ln_tflite_is_going(b); i++)
        read_tensor(b, ln_flat_table_at(b->file, tables, i), &b->tensors[b->tensor_count++]);
}

// ---- Inputs and outputs ----

static void print_type(const ln_tflite_tensor *t, char *buf, size_t size)
{
    size_t used = (size_t)snprintf(buf, size, "%s[", ln_tflite_type_name(t->type));
    for (int i = 0; i < t->ndim; i++) {
        if (t->dims[i] < 0)
            used += (size_t)snprintf(buf + used, size - used, "%s?", i ? ", " : "");
        else
            used += (size_t)snprintf(buf + used, size - used, "%s%d", i ? ", " : "", t->dims[i]);
    }
    snprintf(buf + used, size - used, "]");
}

// Tensor `i` of a list of the subgraph.
ln_tflite_tensor *ln_tflite_end(ln_tflite_builder *b, ln_flat_vector list, size_t i,
                                const char *what)
{
    int64_t index = ln_flat_number_at(b->file, list, i, LN_FLAT_I32);
    if (index >= 0 && (uint64_t)index < b->tensor_count)
        return &b->tensors[index];
    ln_tflite_stop(b, LN_INVALID, "%s %zu is tensor %lld of %zu", what, i, (long long)index,
                   b->tensor_count);
    return NULL;
}

static void end_problem(ln_tflite_builder *b, const char *fmt, ...) LN_PRINTF(2, 3);

static void end_problem(ln_tflite_builder *b, const char *fmt, ...)
{
    char reason[LN_MAX_NAME_LEN + 128];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(reason, sizeof reason, fmt, ap);
    va_end(ap);
    ln_status status =
        ln_preflight_add_problem(b->report, &(ln_preflight_problem){.reason = reason});
    if (b->status == LN_OK)
        b->status = status;
}

// Dimensions that are open have a size as well, which they have until the caller gives another.
static void bind_shape(ln_tflite_builder *b, const ln_tflite_tensor *t)
{
    double bound[TL_MAXDIM];
    bool is_open = false, is_bound = true;
    ln_flat_vector shape = ln_flat_list(b->file, t->table, 0, 4);
    for (int i = 0; i < t->ndim && (size_t)t->ndim == shape.count; i++) {
        int64_t dim = ln_flat_number_at(b->file, shape, (size_t)i, LN_FLAT_I32);
        bound[i] = (double)dim;
        is_open = is_open || t->dims[i] < 0;
        is_bound = is_bound && dim > 0 && (t->dims[i] < 0 || t->dims[i] == dim);
    }
    if (!is_open || !is_bound)
        return;
    ln_tflite_numbers(b, "bound", (size_t)t->ndim, bound);
    ln_tflite_flag(b, "bound_is_default");
}

static void add_end(ln_tflite_builder *b, const char *optype, const ln_tflite_tensor *t)
{
    double dims[TL_MAXDIM];
    for (int i = 0; i < t->ndim; i++)
        dims[i] = t->dims[i];
    ln_tflite_begin(b, optype);
    if (optype[0] == 'o')
        ln_tflite_in(b, t->name);
    else if (b->node.optype)
        b->node.outs[b->node.out_count++] = t->name;
    ln_tflite_string(b, "dtype", tl_dtype_name(t->dtype));
    ln_tflite_numbers(b, "dims", (size_t)t->ndim, dims);
    if (optype[0] == 'i')
        bind_shape(b, t);
    ln_tflite_flush(b);
}

void ln_tflite_add_output(ln_tflite_builder *b, const ln_tflite_tensor *t)
{
    add_end(b, "output", t);
}

static void add_inputs(ln_tflite_builder *b, ln_flat_vector list)
{
    char type[256];
    for (size_t i = 0; i < list.count && ln_tflite_is_going(b); i++) {
        ln_tflite_tensor *t = ln_tflite_end(b, list, i, "input");
        if (!t)
            return;
        if (t->is_there) {
            ln_tflite_stop(b, LN_INVALID, "'%s' is an input twice", t->name);
            return;
        }
        print_type(t, type, sizeof type);
        ln_status status = ln_preflight_add_input(b->report, t->name, type);
        if (b->status == LN_OK)
            b->status = status;
        t->is_there = true;
        if (t->dtype == TL_DTYPE_INVALID)
            end_problem(b, "input '%s' has elements of type %s, which is not read", t->name,
                        ln_tflite_type_name(t->type));
        else
            add_end(b, "input", t);
    }
}

void ln_tflite_make_output(ln_tflite_builder *b, ln_tflite_tensor *t)
{
    ln_tflite_op *op = b->op;
    ln_tflite_op end = {.b = b, .subgraph = b->subgraph, .name = t->name, .type = "output"};
    b->op = &end;
    if (ln_tflite_is_going(b) && t->is_const && t->dtype != TL_DTYPE_INVALID)
        ln_tflite_make_constant(&end, t);
    b->op = op;
}

static void add_outputs(ln_tflite_builder *b, ln_flat_vector list)
{
    char type[256];
    for (size_t i = 0; i < list.count && ln_tflite_is_going(b); i++) {
        ln_tflite_tensor *t = ln_tflite_end(b, list, i, "output");
        if (!t)
            return;
        print_type(t, type, sizeof type);
        ln_status status = ln_preflight_add_output(b->report, t->name, type);
        if (b->status == LN_OK)
            b->status = status;
        ln_tflite_make_output(b, t);
        if (!t->is_there && b->report->problem_count == 0)
            end_problem(b, "output '%s' is made by no operator", t->name);
        else if (t->dtype != TL_DTYPE_INVALID)
            add_end(b, "output", t);
    }
}

// ---- Operators ----

// The number of older files is a byte, which later ones keep for the first 127 operators.
static int64_t code_of(ln_tflite_builder *b, ln_flat_table code)
{
    int64_t old = ln_flat_number(b->file, code, 0, LN_FLAT_I8, 0);
    int64_t now = ln_flat_number(b->file, code, 3, LN_FLAT_I32, 0);
    return now > old ? now : old;
}

static void name_op(ln_tflite_builder *b, ln_tflite_op *op)
{
    int64_t out = op->outs.count > 0 ? ln_flat_number_at(b->file, op->outs, 0, LN_FLAT_I32) : -1;
    op->name = out >= 0 && (uint64_t)out < b->tensor_count ? b->tensors[out].name : "";
}

// After a problem what its operators make is there, so that each is told of once.
static void mark_outputs(ln_tflite_builder *b, const ln_tflite_op *op)
{
    for (size_t i = 0; i < op->outs.count; i++) {
        int64_t out = ln_flat_number_at(b->file, op->outs, i, LN_FLAT_I32);
        if (out >= 0 && (uint64_t)out < b->tensor_count)
            b->tensors[out].is_there = true;
    }
}

// What may be run once: values are given to variables.
static bool is_of_variables(const ln_tflite_builtin *builtin)
{
    return builtin && (builtin->read == ln_tflite_read_var_handle ||
                       builtin->read == ln_tflite_read_assign_variable);
}

static void refuse_op(ln_tflite_op *op)
{
    const char *reason = "this operator is not read";
    const char *help = "docs/tflite.md lists the operators that are read";
    if (strcmp(op->type, "CUSTOM edgetpu-custom-op") == 0) {
        reason = "it is compiled for an Edge TPU";
        help = "take the model that it was compiled from";
    } else if (strncmp(op->type, "CUSTOM Flex", 11) == 0) {
        reason = "it is an operator of TensorFlow itself";
        help = "convert the model without SELECT_TF_OPS";
    }
    ln_tflite_problem(op, help, "%s", reason);
}

static void read_op(ln_tflite_builder *b, ln_flat_table table, size_t index)
{
    ln_flat *f = b->file;
    int64_t code_index = ln_flat_number(f, table, 0, LN_FLAT_U32, 0);
    ln_tflite_op op = {.b = b, .index = index, .subgraph = b->subgraph, .name = "", .type = "?"};
    if (f->status == LN_OK && (uint64_t)code_index >= b->codes.count) {
        ln_tflite_stop(b, LN_INVALID, "operator %zu is of type %lld of %zu", index,
                       (long long)code_index, b->codes.count);
        return;
    }
    if (f->status != LN_OK)
        return;
    char type[160], custom[128];
    ln_flat_table code_table = ln_flat_table_at(f, b->codes, (size_t)code_index);
    int64_t code = code_of(b, code_table);
    op.builtin = ln_tflite_builtin_of(code);
    op.version = (int)ln_flat_number(f, code_table, 2, LN_FLAT_I32, 1);
    op.options = ln_flat_child(f, table, code == CODE_COMPOSITE ? OPTIONS_2 : OPTIONS);
    op.ins = ln_flat_list(f, table, 1, 4);
    op.outs = ln_flat_list(f, table, 2, 4);
    op.custom = ln_flat_list(f, table, 5, 1);
    if (f->status != LN_OK)
        return;
    name_op(b, &op);
    ln_tflite_clean(f, ln_flat_text(f, code_table, 1), custom, sizeof custom);
    if (code == CODE_CUSTOM)
        snprintf(type, sizeof type, "CUSTOM %s", custom);
    else if (op.builtin)
        snprintf(type, sizeof type, "%s", op.builtin->name);
    else
        snprintf(type, sizeof type, "operator %lld", (long long)code);
    op.type = type;
    b->op = &op;
    if (b->is_first_run && !is_of_variables(op.builtin))
        ln_tflite_problem(&op, NULL,
                          "it is in a subgraph that is run once, where only "
                          "VAR_HANDLE and ASSIGN_VARIABLE are read");
    else if (b->nested_count > 1 && op.builtin && op.builtin->read == ln_tflite_read_call_once)
        ln_tflite_problem(&op, NULL,
                          "it is in a subgraph of another operator, which may run several times");
    else if (op.builtin && op.builtin->read)
        op.builtin->read(&op);
    else if (code != CODE_CUSTOM || !ln_tflite_read_custom(&op, custom))
        refuse_op(&op);
    ln_tflite_flush(b);
    b->op = NULL;
    mark_outputs(b, &op);
    ln_status status = ln_preflight_count_node(b->report, type, op.is_bad);
    if (b->status == LN_OK)
        b->status = status;
}

void ln_tflite_read_ops(ln_tflite_builder *b)
{
    ln_flat_vector ops = ln_flat_list(b->file, ln_tflite_subgraph(b), 3, 4);
    b->op_count += ops.count;
    if (b->op_count > b->ctx->limits.op_count)
        ln_tflite_stop(b, LN_LIMIT, "the model has %zu operators, more than op_count, %zu",
                       b->op_count, b->ctx->limits.op_count);
    for (size_t i = 0; i < ops.count && ln_tflite_is_going(b); i++)
        read_op(b, ln_flat_table_at(b->file, ops, i), i);
}

// ---- Subgraphs that operators run ----

ln_flat_table ln_tflite_subgraph(ln_tflite_builder *b)
{
    return ln_flat_table_at(b->file, b->subgraphs, b->subgraph);
}

bool ln_tflite_enter(ln_tflite_op *op, int64_t index, ln_tflite_level *out_level)
{
    ln_tflite_builder *b = op->b;
    ln_tflite_flush(b);
    if (!ln_tflite_is_going(b))
        return false;
    if (index < 0 || (uint64_t)index >= b->subgraphs.count) {
        ln_tflite_problem(op, NULL, "it runs subgraph %lld of %zu", (long long)index,
                          b->subgraphs.count);
        return false;
    }
    for (size_t i = 0; i < b->nested_count; i++) {
        if (b->nested[i] == index) {
            ln_tflite_problem(op, NULL, "it runs subgraph %lld, of which it is a part",
                              (long long)index);
            return false;
        }
    }
    if (b->nested_count == LN_TFLITE_MAX_NESTED) {
        ln_tflite_stop(b, LN_LIMIT, "more than %d subgraphs run each other", LN_TFLITE_MAX_NESTED);
        return false;
    }
    b->nested[b->nested_count++] = index;
    *out_level = (ln_tflite_level){
        .op = op, .tensors = b->tensors, .tensor_count = b->tensor_count, .subgraph = b->subgraph};
    b->op = NULL;
    b->tensors = NULL;
    b->tensor_count = 0;
    b->subgraph = (size_t)index;
    read_tensors(b, ln_tflite_subgraph(b));
    return true;
}

void ln_tflite_leave(ln_tflite_builder *b, const ln_tflite_level *level)
{
    b->nested_count--;
    ln_free(b->tensors);
    b->op = level->op;
    b->tensors = level->tensors;
    b->tensor_count = level->tensor_count;
    b->subgraph = level->subgraph;
}

static bool is_done(const ln_tflite_builder *b, int64_t index)
{
    for (size_t i = 0; i < b->once_count; i++) {
        if (b->once[i] == index)
            return true;
    }
    return false;
}

// Another subgraph, before what comes after this operator.
void ln_tflite_read_call_once(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    ln_tflite_level level;
    int64_t index = ln_tflite_option(op, 0, 0);
    if (!ln_tflite_is_going(b) || is_done(b, index))
        return;
    if (b->once_count == LN_TFLITE_MAX_ONCE) {
        ln_tflite_problem(op, NULL, "it runs subgraph %lld, after %zu others", (long long)index,
                          b->once_count);
        return;
    }
    if (!ln_tflite_enter(op, index, &level))
        return;
    b->once[b->once_count++] = index;
    b->is_first_run = true;
    ln_tflite_read_ops(b);
    b->is_first_run = false;
    ln_tflite_leave(b, &level);
}

// ---- The model ----

static void read_subgraph(ln_tflite_builder *b)
{
    ln_flat_table subgraph = ln_tflite_subgraph(b);
    b->nested[b->nested_count++] = (int64_t)b->subgraph;
    read_tensors(b, subgraph);
    if (!ln_tflite_is_going(b))
        return;
    b->status = ln_tflite_read_info(b, subgraph);
    add_inputs(b, ln_flat_list(b->file, subgraph, 1, 4));
    ln_tflite_read_ops(b);
    add_outputs(b, ln_flat_list(b->file, subgraph, 2, 4));
    ln_tflite_add_states(b);
}

static void read_options(ln_tflite_builder *b, const ln_read_options *options)
{
    if (!options)
        return;
    const char *rounding = options->rounding ? options->rounding : "float";
    b->is_reference = strcmp(rounding, "reference") == 0;
    if (!b->is_reference && strcmp(rounding, "float") != 0)
        ln_tflite_stop(b, LN_INVALID, "the rounding '%s' is unknown; it is 'float' or 'reference'",
                       rounding);
    b->is_resizable = options->is_resizable;
    if (options->signature && ln_tflite_is_going(b))
        ln_tflite_choose(b, options->signature);
}

static void read_model(ln_tflite_builder *b, const ln_read_options *options)
{
    ln_flat *f = b->file;
    b->model = ln_flat_root(f);
    int64_t version = ln_flat_number(f, b->model, 0, LN_FLAT_U32, 0);
    if (f->status == LN_OK && version != 3)
        ln_tflite_stop(b, LN_UNSUPPORTED, "the schema has version %lld in place of 3",
                       (long long)version);
    b->codes = ln_flat_list(f, b->model, 1, 4);
    b->buffers = ln_flat_list(f, b->model, 4, 4);
    b->subgraphs = ln_flat_list(f, b->model, 2, 4);
    if (f->status == LN_OK && b->subgraphs.count == 0)
        ln_tflite_stop(b, LN_SYNTAX, "the file has no subgraph");
    if (ln_tflite_is_going(b))
        read_options(b, options);
    b->subgraph = b->entry;
    if (ln_tflite_is_going(b))
        read_subgraph(b);
}

ln_status ln_tflite_build(ln_serializer *serializer, ln_context *ctx, ln_flat *file,
                          const ln_read_options *options, ln_preflight *report)
{
    ln_tflite_builder *b = ln_alloc(sizeof *b);
    if (!b)
        return LN_NO_MEMORY;
    b->serializer = serializer;
    b->ctx = b->into = ctx;
    b->file = file;
    b->report = report;
    b->tensor_names = ln_hash_create(ln_name_hash, ln_str_cmp, ln_free, NULL);
    b->op_names = ln_hash_create(ln_name_hash, ln_str_cmp, ln_free, NULL);
    b->numbers = ln_hash_create(ln_name_hash, ln_str_cmp, ln_free, NULL);
    if (b->tensor_names && b->op_names && b->numbers)
        read_model(b, options);
    else
        b->status = LN_NO_MEMORY;
    b->op = NULL;
    ln_status status = file->status != LN_OK ? file->status : b->status;
    b->status = status;
    ln_tflite_flush(b);
    ln_hash_free(b->numbers);
    ln_hash_free(b->op_names);
    ln_hash_free(b->tensor_names);
    ln_free(b->tensors);
    ln_free(b->states);
    ln_free(b);
    return status;
}
