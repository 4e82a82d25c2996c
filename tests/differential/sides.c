// SPDX-License-Identifier: Apache-2.0
// Runs the sides of a comparison, and measures what roundings may change.

#include "tests/differential/sides.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lightnet/object.h>

#include "tests/differential/quotients.h"
#include "tests/random.h"

// In pairs: what moves up in one moves down in the other. Each second pair moves by SAFETY times as
// much, so that what is rounded to integers is seen on either side of a border.
//
// The largest difference of few runs is too small for one element in a thousand, so that what is
// further away is measured by more runs before it counts.
#define PERTURBED_RUNS      8
#define MORE_PERTURBED_RUNS 64

// How many units of the last place a number is moved by at most, at least half as many.
#define PERTURBATION 4.0

// What a measured difference is multiplied by: so few runs do not see the largest one.
#define SAFETY 16.0

#define MAX_CONSTANTS 64

struct as_read {
    ln_context *ctx;
    side_result result;
    as_read *in_floats; // the same with quotients in floats; NULL: there are none of halves
    bool takes_floats;  // the side that is judged may compute halves in floats
    int measured_runs;  // 0: not measured
    bool has_halves;
    bool has_huge;     // a number so large that its square is none in TL_FLOAT
    bool has_overflow; // and an operator whose result has no place for its number
};

// ---- Contexts ----

static bool fail(side_result *out, const char *stage, ln_status status)
{
    out->status = status;
    out->stage = stage;
    snprintf(out->message, sizeof out->message, "%s", ln_error_message());
    return false;
}

static void note_rule(void *user, const ln_firing *f)
{
    side_result *out = user;
    if (f->is_skipped || f->is_failed || f->is_lowering)
        return;
    bool is_placed = strncmp(f->rule, "place on ", strlen("place on ")) == 0; // with bits of `ref`
    if (!is_placed && (!f->tag || strcmp(f->tag, "exact") != 0))
        out->is_exact = false;
    for (int i = 0; i < out->rule_count; i++)
        if (strncmp(out->rules[i], f->rule, sizeof out->rules[i] - 1) == 0)
            return;
    if (out->rule_count < SIDE_RULES)
        snprintf(out->rules[out->rule_count++], sizeof out->rules[0], "%s", f->rule);
}

static void set_limits(ln_context *ctx)
{
    ln_limits limits = ln_limits_default();
    limits.memory_byte_count = (size_t)256 << 20;
    limits.work = 2e9;
    ln_context_set_limits(ctx, &limits);
    (void)ln_context_set_timeout(ctx, 10);
}

// A READY context of `text`; NULL, and the failure in `out`.
static ln_context *open_model(const void *text, size_t len, const char *name, side_result *out)
{
    ln_context *ctx = ln_context_create();
    if (!ctx) {
        fail(out, "create", LN_NO_MEMORY);
        return NULL;
    }
    set_limits(ctx);
    ln_status status = ln_context_init_mem(ctx, text, len, name);
    if (status == LN_OK)
        return ctx;
    fail(out, "read", status);
    ln_context_free(ctx);
    return NULL;
}

static bool copy_output(side_output *o, const ln_tensor_entry *entry, const void *data,
                        size_t byte_count)
{
    const tl_tensor *t = entry->tensor;
    snprintf(o->name, sizeof o->name, "%s", entry->name);
    o->dtype = t->dtype;
    o->ndim = t->ndim;
    o->count = (size_t)t->len;
    for (int d = 0; d < t->ndim; d++)
        o->dims[d] = t->dims[d];
    o->byte_count = byte_count;
    o->data = malloc(byte_count + 1);
    if (o->data && byte_count)
        memcpy(o->data, data, byte_count);
    return o->data;
}

// The outputs after a run; those of strings and objects are left out.
static bool collect(ln_context *ctx, side_result *out)
{
    out->output_count = 0;
    for (size_t i = 0; i < ln_context_output_count(ctx) && out->output_count < SIDE_OUTPUTS; i++) {
        ln_object *object = NULL;
        const char *name = ln_context_output_name(ctx, i);
        ln_status status = ln_context_get_object(ctx, name, &object);
        if (status != LN_OK)
            return fail(out, "output", status);
        const tl_tensor *t = ln_object_tensor(object);
        if (t && t->dtype != TL_STRING && t->dtype != TL_OBJECT) {
            ln_tensor_entry entry = {.name = (char *)(uintptr_t)name,
                                     .tensor = (tl_tensor *)(uintptr_t)t};
            if (!copy_output(&out->outputs[out->output_count++], &entry, t->data,
                             tl_tensor_size(t)))
                status = LN_NO_MEMORY;
        }
        ln_object_release(object);
        if (status != LN_OK)
            return fail(out, "output", status);
    }
    return true;
}

static bool same_bits(const side_result *a, const side_result *b, char *message, size_t len)
{
    for (int i = 0; i < a->output_count; i++) {
        const side_output *x = &a->outputs[i], *y = &b->outputs[i];
        if (x->byte_count == y->byte_count && memcmp(x->data, y->data, x->byte_count) == 0)
            continue;
        snprintf(message, len, "%s has other bits", x->name);
        return false;
    }
    return true;
}

void side_result_free(side_result *result)
{
    for (int i = 0; i < result->output_count; i++) {
        free(result->outputs[i].data);
        free(result->outputs[i].slack);
    }
    result->output_count = 0;
}

// ---- The model as read ----

static ln_status compile_as_read(ln_context *ctx)
{
    ln_optimize_options options = ln_optimize_options_default();
    options.stays_as_read = 1;
    (void)ln_context_set_threads(ctx, 1);
    return ln_context_compile_with(ctx, "ref", &options);
}

static bool load_and_run(ln_context *ctx, side_result *out)
{
    ln_status status = ctx->state == LN_CONTEXT_LOADED ? LN_OK : ln_context_load(ctx, NULL);
    if (status != LN_OK)
        return fail(out, "load", status);
    status = ln_context_run(ctx);
    if (status != LN_OK)
        return fail(out, "run", status);
    return collect(ctx, out);
}

static void remove_text(char *text, const char *what)
{
    char *at = strstr(text, what);
    if (at)
        memmove(at, at + strlen(what), strlen(at + strlen(what)) + 1);
}

// The model with its floating constants as inputs of those values, but for those in `stays`, by
// number: whatever depends on them is computed in the run, where it can be looked at, and nothing
// before it. *out_count is the number of such constants. NULL when memory is gone.
static char *without_constants(const char *text, const bool *stays, int *out_count)
{
    char *out = calloc(1, strlen(text) + 1);
    char *line = out ? malloc(strlen(text) + 1) : NULL;
    *out_count = 0;
    while (line && *text) {
        size_t len = strcspn(text, "\n");
        len += text[len] == '\n';
        memcpy(line, text, len);
        line[len] = '\0';
        text += len;
        bool is_floating_constant =
            strncmp(line, "create(", 7) == 0 && strstr(line, "data=[") &&
            (strstr(line, "dtype=TL_FLOAT,") || strstr(line, "dtype=TL_DOUBLE,") ||
             strstr(line, "dtype=TL_FLOAT16,") || strstr(line, "dtype=TL_BFLOAT16,"));
        if (is_floating_constant && *out_count < MAX_CONSTANTS && !stays[(*out_count)++]) {
            memcpy(line, "input( ", 7);
            remove_text(line, ", from_file=false");
            remove_text(line, "ran=[0, 0], ");
        }
        strcat(out, line);
    }
    free(line);
    return out;
}

// Compiles the text as it is read; false, and the failure in the result.
static bool try_as_read(as_read *a, const char *text)
{
    ln_context_free(a->ctx);
    side_result_free(&a->result);
    a->result = (side_result){.status = LN_OK};
    a->ctx = open_model(text, strlen(text), "model.net", &a->result);
    if (!a->ctx)
        return false;
    ln_status status = compile_as_read(a->ctx);
    if (status != LN_OK)
        return fail(&a->result, "compile", status);
    return load_and_run(a->ctx, &a->result);
}

// With as few constants as the model allows: some operators want theirs to be known.
static bool try_with_constants(as_read *a, const char *text)
{
    bool stays[MAX_CONSTANTS] = {false}, is_run = false;
    int count;
    char *open = without_constants(text, stays, &count);
    is_run = open && try_as_read(a, open);
    free(open);
    if (is_run || count == 0)
        return is_run;
    for (int i = 0; i < count; i++)
        stays[i] = true;
    if (!try_as_read(a, text))
        return false;
    for (int i = 0; i < count; i++) {
        stays[i] = false;
        open = without_constants(text, stays, &count);
        stays[i] = !open || !try_as_read(a, open);
        free(open);
    }
    open = without_constants(text, stays, &count);
    is_run = open && try_as_read(a, open);
    free(open);
    return is_run;
}

as_read *as_read_create(const char *text, const side_result **out_result)
{
    as_read *a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    *out_result = &a->result;
    try_with_constants(a, text);
    char *in_floats = a->result.status == LN_OK ? with_float_quotients(text) : NULL;
    const side_result *result;
    if (in_floats)
        a->in_floats = as_read_create(in_floats, &result);
    free(in_floats);
    return a;
}

void as_read_destroy(as_read *a)
{
    if (!a)
        return;
    as_read_destroy(a->in_floats);
    ln_context_free(a->ctx);
    side_result_free(&a->result);
    free(a);
}

// ---- Other sides ----

static ln_context *compiled(const char *text, const side_options *o, side_result *out)
{
    ln_context *ctx = open_model(text, strlen(text), "model.net", out);
    if (!ctx)
        return NULL;
    ln_optimize_options options = ln_optimize_options_default();
    options.on_firing = note_rule;
    options.user = out;
    options.avoids_winograd = !o->uses_winograd;
    options.keeps_halves = o->keeps_halves;
    options.freezes_constants = o->freezes_constants;
    options.fails_over = o->fails_over;
    out->is_exact = true;
    (void)ln_context_set_threads(ctx, o->threads ? o->threads : 1);
    ln_status status = LN_OK;
    for (int i = 0; i < 2 && o->ranges[i].symbol && status == LN_OK; i++)
        status = ln_context_set_range(ctx, o->ranges[i].symbol, o->ranges[i].from, o->ranges[i].to);
    if (status == LN_OK)
        status = ln_context_compile_with(ctx, o->target, &options);
    if (status == LN_OK)
        return ctx;
    fail(out, "compile", status);
    ln_context_free(ctx);
    return NULL;
}

static void run_context(ln_context *ctx, side_result *out)
{
    if (!load_and_run(ctx, out))
        return;
    side_result again = {.status = LN_OK};
    ln_status status = ln_context_run(ctx);
    char difference[200];
    if (status != LN_OK)
        fail(out, "second run", status);
    else if (collect(ctx, &again) && !same_bits(out, &again, difference, sizeof difference)) {
        out->status = LN_INTERNAL;
        out->stage = "second run";
        snprintf(out->message, sizeof out->message, "in the second run %s", difference);
    }
    side_result_free(&again);
}

static void run_session(ln_context *ctx, side_result *out)
{
    ln_program *program = NULL;
    ln_session *session = NULL;
    (void)ln_context_set_threads(ctx, 1);
    ln_status status = ln_context_load(ctx, NULL);
    if (status == LN_OK)
        status = ln_program_create(ctx, &program);
    if (status == LN_OK)
        status = ln_session_create(program, &session);
    if (status == LN_OK)
        status = ln_session_run(session);
    if (status != LN_OK)
        fail(out, "session", status);
    for (size_t i = 0; status == LN_OK && i < ln_program_output_count(program) &&
                       out->output_count < SIDE_OUTPUTS;
         i++) {
        const char *name;
        const tl_tensor *ignored;
        ln_object *object = NULL;
        status = ln_program_output(program, i, &name, &ignored);
        if (status == LN_OK)
            status = ln_session_get_object(session, name, &object);
        const tl_tensor *t = status == LN_OK ? ln_object_tensor(object) : NULL;
        if (t && t->dtype != TL_STRING && t->dtype != TL_OBJECT) {
            ln_tensor_entry entry = {.name = (char *)(uintptr_t)name,
                                     .tensor = (tl_tensor *)(uintptr_t)t};
            copy_output(&out->outputs[out->output_count++], &entry, t->data, tl_tensor_size(t));
        }
        ln_object_release(object);
        if (status != LN_OK)
            fail(out, "output of a session", status);
    }
    ln_session_free(session);
    ln_program_release(program);
}

// `ctx`, compiled, as whoever reads its file has it; NULL, and noted in `out`, if that fails. Model
// and constants go through files in a folder of this process.
static ln_context *read_again(ln_context *ctx, side_result *out)
{
    char folder[512], model_path[544], weights[544];
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/differential.XXXXXX", base && *base ? base : P_tmpdir);
    if (!mkdtemp(folder)) {
        fail(out, "folder", LN_IO);
        return NULL;
    }
    snprintf(model_path, sizeof model_path, "%s/m.json", folder);
    snprintf(weights, sizeof weights, "%s/w.safetensors", folder);
    size_t count = 0;
    ln_status status = ln_context_store(ctx, NULL, weights, &count);
    if (status == LN_OK)
        status = ln_context_print(ctx, model_path);
    ln_context *again = ln_context_create();
    if (status != LN_OK || !again)
        fail(out, "store", status);
    else {
        set_limits(again);
        status = ln_context_init(again, model_path);
        if (status != LN_OK)
            fail(out, "read again", status);
    }
    unlink(model_path);
    unlink(weights);
    rmdir(folder);
    if (again && again->state == LN_CONTEXT_PLANNED)
        return again;
    ln_context_free(again);
    return NULL;
}

static void run_compiled(ln_context *ctx, side_result *out)
{
    ln_context *again = read_again(ctx, out);
    if (again)
        load_and_run(again, out);
    ln_context_free(again);
}

// Takes `ctx` over and returns what runs instead; NULL, and noted in `out`, if it fails.
static ln_context *clone_of(ln_context *ctx, side_result *out)
{
    ln_context *clone = NULL;
    ln_status status = ln_context_load(ctx, NULL);
    if (status == LN_OK)
        status = ln_context_clone(ctx, &clone);
    if (status != LN_OK)
        fail(out, "clone", status);
    ln_context_free(ctx);
    return clone;
}

void side_run(const char *text, const side_options *options, side_result *out)
{
    *out = (side_result){.status = LN_OK, .keeps_halves = options->keeps_halves};
    ln_context *ctx = compiled(text, options, out);
    if (!ctx)
        return;
    switch (options->way) {
    case WAY_CONTEXT: run_context(ctx, out); break;
    case WAY_SESSION: run_session(ctx, out); break;
    case WAY_COMPILED: run_compiled(ctx, out); break;
    case WAY_CLONE:
        ctx = clone_of(ctx, out);
        if (ctx)
            run_context(ctx, out);
        break;
    }
    ln_context_free(ctx);
}

// Binds the inputs of `ctx` to the shapes and values of those of `a`; others have their own data.
static ln_status give_inputs(ln_context *ctx, const as_read *a)
{
    ln_input_shape shapes[32];
    size_t count = ln_context_input_count(ctx), open = 0;
    for (size_t i = 0; i < count && i < 32; i++) {
        const char *name = ln_context_input_name(ctx, i);
        const ln_tensor_entry *entry = ln_tensor_table_find(a->ctx->tensor_table, name);
        if (entry)
            shapes[open++] = (ln_input_shape){name, entry->tensor->ndim, entry->tensor->dims};
    }
    ln_status status = ln_context_reshape(ctx, open, shapes);
    for (size_t i = 0; status == LN_OK && i < count && i < 32; i++) {
        const char *name = ln_context_input_name(ctx, i);
        const ln_tensor_entry *entry = ln_tensor_table_find(a->ctx->tensor_table, name);
        if (entry)
            status = ln_context_set_data(ctx, name, entry->tensor->data);
    }
    return status;
}

struct dynamic_side {
    ln_context *ctx;
    side_result noted; // rules, as the context compiles for another shape too
};

dynamic_side *dynamic_side_create(const char *text, const side_options *options, side_result *out)
{
    *out = (side_result){.status = LN_OK};
    dynamic_side *d = calloc(1, sizeof *d);
    if (!d) {
        fail(out, "create", LN_NO_MEMORY);
        return NULL;
    }
    d->ctx = compiled(text, options, &d->noted);
    if (d->ctx && options->way == WAY_COMPILED) {
        ln_context *again = read_again(d->ctx, &d->noted);
        ln_context_free(d->ctx);
        d->ctx = again;
    }
    ln_status status = LN_OK;
    if (d->ctx && options->way == WAY_CLONE)
        d->ctx = clone_of(d->ctx, &d->noted);
    else if (d->ctx)
        status = ln_context_load(d->ctx, NULL);
    if (status != LN_OK)
        fail(&d->noted, "load", status);
    if (d->ctx && status == LN_OK)
        return d;
    *out = d->noted;
    dynamic_side_destroy(d);
    return NULL;
}

void dynamic_side_destroy(dynamic_side *d)
{
    if (!d)
        return;
    ln_context_free(d->ctx);
    free(d);
}

void dynamic_side_run(dynamic_side *d, const as_read *a, side_result *out)
{
    ln_status status = give_inputs(d->ctx, a);
    const char *stage = status == LN_OK ? "run" : "reshape";
    if (status == LN_OK)
        status = ln_context_run(d->ctx);
    *out = d->noted;
    if (status != LN_OK)
        fail(out, stage, status);
    else
        collect(d->ctx, out);
}

// ---- What roundings may change ----

static double unit_of(tl_dtype dtype)
{
    switch (dtype) {
    case TL_FLOAT: return 0x1p-24;
    case TL_DOUBLE: return 0x1p-53;
    case TL_FLOAT16: return 0x1p-11;
    case TL_BFLOAT16: return 0x1p-8;
    default: return 0;
    }
}

static bool is_floating(tl_dtype dtype)
{
    return unit_of(dtype) != 0;
}

// Element `i` as a double; NaN of types that have no numbers.
static double element(const void *data, tl_dtype dtype, size_t i)
{
    double x = NAN;
    if (dtype == TL_FLOAT)
        return ((const float *)data)[i];
    (void)tl_convert(&x, TL_DOUBLE, (const char *)data + i * tl_size_of(dtype), dtype);
    return x;
}

// Moves numbers. `is_result`: also by an amount that does not depend on the number, as functions
// may be off that come near 0 as a difference of larger numbers, such as 1 + tanh(x).
typedef struct noise {
    test_random random;
    double scale;
    bool is_opposite;
} noise;

static void perturb(noise *n, void *data, tl_dtype dtype, size_t count, bool is_result, double own)
{
    double unit = unit_of(dtype), most = 0;
    if (unit == 0) // no floating type
        return;
    for (size_t i = 0; is_result && i < count; i++) {
        double x = fabs(element(data, dtype, i));
        most = isfinite(x) && x > most ? x : most;
    }
    for (size_t i = 0; i < count; i++) {
        double x = element(data, dtype, i);
        if (!isfinite(x))
            continue;
        uint64_t bits = test_random_next(&n->random) ^ (n->is_opposite ? 3 : 0);
        double by = n->scale * PERTURBATION * unit * (0.5 + 0.5 * (double)(bits >> 12) * 0x1p-52);
        double moved = x * (1 + (bits & 1 ? by : -by));
        if (x != 0 || own > 0)
            moved += (bits & 2 ? 1 : -1) * n->scale * (most * unit * unit * 4 + own);
        if (dtype == TL_FLOAT && fabs(moved) > FLT_MAX)
            continue;
        if (fabs(x) < FLT_MIN && dtype == TL_FLOAT && x != 0) // whole units of a subnormal number
            moved = x + (bits & 1 ? 1 : -1) * 4 * 0x1p-149;
        // As functions do: x * sigmoid(x) is 88 times as far from 0 where the sigmoid is 0.
        if (fabs(x) < 128 * FLT_MIN && dtype == TL_FLOAT && is_result && own <= 0 && bits & 4)
            moved = copysign(0, x);
        // tanh is -1 or a rounding less, and what a power of a negative number is depends on that.
        if (is_result && x != rint(x) && fabs(x - rint(x)) <= by * fabs(x) && bits & 8)
            moved = rint(x);
        (void)tl_convert((char *)data + i * tl_size_of(dtype), dtype, &moved, TL_DOUBLE);
    }
}

static double greatest(const tl_tensor *t)
{
    double most = 0;
    for (int i = 0; t && t->data && is_floating(t->dtype) && i < t->len; i++) {
        double x = fabs(element(t->data, t->dtype, (size_t)i));
        most = isfinite(x) && x > most ? x : most;
    }
    return most;
}

static const tl_tensor *operand(const ln_op *op, int index)
{
    const ln_list *list = op->op_arg->tensors_in;
    for (; list && index > 0; index--)
        list = list->next;
    const ln_tensor_list_entry *arg = list ? list->data : NULL;
    const ln_tensor_entry *entry =
        arg ? ln_tensor_table_find(op->op_arg->tensor_table, arg->name) : NULL;
    return entry ? entry->tensor : NULL;
}

static bool takes_logarithms(const ln_op *op)
{
    const ln_param_entry *log = ln_param_list_find(op->op_arg->params, "log");
    return strstr(op->op_arg->optype, "LogSoftmax") ||
           (strstr(op->op_arg->optype, "softmax") && log && log->value_bool);
}

// A cell of a GRU has the factor 1 - z, which is off by units of 1, and the logarithm of a softmax
// is one of 1 + exp(-d), which may be 0 for a d that is far from it. Normalization may be computed
// as x * factor + (bias - mean * factor): where all x are near their mean, the result is off by
// units of x * factor, which is scale / sqrt(epsilon) at most.
static double own_error(const ln_op *op)
{
    if (strncmp(op->op_arg->optype, "rnn", 3) == 0 || strstr(op->op_arg->optype, "GRU") ||
        takes_logarithms(op))
        return 4 * 0x1p-24;
    const ln_param_entry *act = ln_param_list_find(op->op_arg->params, "act");
    const char *function = act && act->type == LN_PARAM_STRING ? act->value_string : "";
    // 1 + tanh(x), and 1 - 1 / (1 + exp(x)), near 0.
    if (strstr(function, "gelu") || strstr(op->op_arg->optype, "Gelu") ||
        strncmp(op->op_arg->optype, "ml_", 3) == 0)
        return 1e-14;
    if (!strstr(op->op_arg->optype, "norm") && !strstr(op->op_arg->optype, "Norm"))
        return 0;
    const ln_param_entry *epsilon = ln_param_list_find(op->op_arg->params, "epsilon");
    double e = epsilon && epsilon->type == LN_PARAM_NUMBER ? epsilon->value_double : 1e-5;
    e = e > 1e-12 ? e : 1e-12;
    return 4 * 0x1p-24 * greatest(operand(op, 0)) * greatest(operand(op, 1)) / sqrt(e);
}

static void perturb_outputs(void *user, const ln_op *op)
{
    const ln_tensor_list_entry *arg;
    LN_LIST_FOREACH (arg, op->op_arg->tensors_out) {
        const ln_tensor_entry *entry = ln_tensor_table_find(op->op_arg->tensor_table, arg->name);
        if (entry && entry->tensor && entry->tensor->data)
            perturb(user, entry->tensor->data, entry->tensor->dtype, (size_t)entry->tensor->len,
                    true, own_error(op));
    }
}

// Sets every input and constant to its value, perturbed if `n` is not NULL.
static bool set_leaves(ln_context *ctx, char **values, noise *n)
{
    size_t i = 0;
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        const char *optype = op->op_arg->optype;
        if (strncmp(optype, "input", 5) != 0 && strncmp(optype, "create", 6) != 0)
            continue;
        const ln_tensor_list_entry *arg = op->op_arg->tensors_out->data;
        size_t byte_count = ln_context_data_size(ctx, arg->name);
        tl_dtype dtype = ln_context_tensor_dtype(ctx, arg->name);
        if (i == 64)
            return false;
        if (!values[i]) {
            values[i] = malloc(2 * byte_count + 1);
            if (!values[i] || !ln_context_get_data(ctx, arg->name, values[i]))
                return false;
        }
        if (unit_of(dtype) != 0) {
            char *copy = values[i] + byte_count;
            memcpy(copy, values[i], byte_count);
            if (n)
                perturb(n, copy, dtype, byte_count / tl_size_of(dtype), false, 0);
            if (ln_context_set_data(ctx, arg->name, copy) != LN_OK)
                return false;
        }
        i++;
    }
    return true;
}

static void widen_slack(side_output *o, const side_output *moved, double scale)
{
    for (size_t i = 0; i < o->count; i++) {
        double x = element(o->data, o->dtype, i), y = element(moved->data, o->dtype, i);
        double by = isnan(x) == isnan(y) && (x == y || isnan(x)) ? 0 : fabs(x - y);
        by = is_floating(o->dtype) ? by / scale : by;
        if (!(by <= o->slack[i])) // also where one of them is no number
            o->slack[i] = isnan(by) ? INFINITY : by;
    }
}

// `cpu` computes in floats, in which sums of squares of such numbers are infinite; and models of
// TL_FLOAT16 too, in which what is infinite there is a number.
static bool has_huge(const ln_context *ctx)
{
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        const ln_tensor_list_entry *arg;
        LN_LIST_FOREACH (arg, op->op_arg->tensors_out) {
            const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, arg->name);
            const tl_tensor *t = entry ? entry->tensor : NULL;
            for (int i = 0; t && t->data && is_floating(t->dtype) && i < t->len; i++) {
                double x = fabs(element(t->data, t->dtype, (size_t)i));
                if (isfinite(x) ? x > (t->dtype == TL_FLOAT16 ? 3e4 : 1e15)
                                : isinf(x) && t->dtype == TL_FLOAT16)
                    return true;
            }
        }
    }
    return false;
}

static bool is_finite(const ln_context *ctx, const ln_list *args)
{
    const ln_tensor_list_entry *arg;
    LN_LIST_FOREACH (arg, args) {
        const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, arg->name);
        const tl_tensor *t = entry ? entry->tensor : NULL;
        for (int i = 0; t && t->data && is_floating(t->dtype) && i < t->len; i++)
            if (!isfinite(element(t->data, t->dtype, (size_t)i)))
                return false;
    }
    return true;
}

// A number that is too large for the result of an operator is infinite there; where two operators
// became one, `ref` computes the second of what the first had in doubles.
static bool has_overflow(const ln_context *ctx)
{
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        if (is_finite(ctx, op->op_arg->tensors_in) && !is_finite(ctx, op->op_arg->tensors_out))
            return true;
    }
    return false;
}

static bool has_halves(const ln_context *ctx)
{
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        const ln_tensor_list_entry *arg;
        LN_LIST_FOREACH (arg, op->op_arg->tensors_out) {
            tl_dtype dtype = ln_context_tensor_dtype(ctx, arg->name);
            if (dtype == TL_FLOAT16 || dtype == TL_BFLOAT16)
                return true;
        }
    }
    return false;
}

// Measures until there were `run_count` runs.
static bool measure(as_read *a, int run_count)
{
    if (a->measured_runs >= run_count)
        return true;
    side_result *r = &a->result;
    for (int i = 0; i < r->output_count; i++)
        if (!r->outputs[i].slack &&
            !(r->outputs[i].slack = calloc(r->outputs[i].count + 1, sizeof(double))))
            return false;
    noise n = {.random = {.state = 1}};
    ln_observer observer = {.after = perturb_outputs, .user = &n};
    char *values[64] = {NULL};
    bool is_done = true;
    ln_context_set_observer(a->ctx, &observer);
    for (int k = a->measured_runs; is_done && k < run_count; k++) {
        side_result moved = {.status = LN_OK};
        n = (noise){.random = {.state = (uint64_t)k / 2 + 1},
                    .scale = k % 4 < 2 ? 1 : SAFETY,
                    .is_opposite = k % 2};
        is_done = set_leaves(a->ctx, values, &n);
        // A run that fails now, such as one that divides by 0, says that anything may come.
        bool is_run = is_done && ln_context_run(a->ctx) == LN_OK && collect(a->ctx, &moved) &&
                      moved.output_count == r->output_count;
        for (int i = 0; i < r->output_count; i++)
            if (is_run && moved.outputs[i].count == r->outputs[i].count)
                widen_slack(&r->outputs[i], &moved.outputs[i], n.scale);
            else
                for (size_t j = 0; j < r->outputs[i].count; j++)
                    r->outputs[i].slack[j] = INFINITY;
        side_result_free(&moved);
    }
    ln_context_set_observer(a->ctx, NULL);
    is_done = set_leaves(a->ctx, values, NULL) && is_done;
    a->has_huge = has_huge(a->ctx);
    a->has_overflow = a->has_huge && has_overflow(a->ctx);
    a->has_halves = has_halves(a->ctx);
    for (int i = 0; i < 64; i++)
        free(values[i]);
    a->measured_runs = is_done ? run_count : 0;
    return is_done;
}

// ---- Judging ----

// Whether `y` may be given for `x`, where roundings may change `slack`.
static bool may_differ(double x, double y, double slack, double most, tl_dtype dtype,
                       bool has_halves)
{
    if (isnan(x) || isnan(y))
        return (isnan(x) && isnan(y)) || isinf(slack);
    if (isinf(slack) || x == y)
        return true;
    // Near a pole, as of a reciprocal or a tangent, roundings lead anywhere.
    if (is_floating(dtype) && fabs(x) >= 1 && slack >= fabs(x))
        return true;
    // What is rounded to integers goes to one neighbour or the other; where it goes further, it
    // went through others before, and `cpu` does not round to each half.
    if (!is_floating(dtype))
        return fabs(x - y) <= (slack > 1 || has_halves ? SAFETY : 1) * slack;
    if (isinf(x) && isinf(y)) // of the other sign
        return false;
    if (isinf(x) || isinf(y))
        return fabs(isinf(x) ? y : x) + SAFETY * slack >= (dtype == TL_FLOAT16 ? 6e4 : 3e38);
    // Beside the largest number of the tensor nothing is left of what functions lose near 0.
    double unit = unit_of(dtype), tiny = dtype == TL_FLOAT16 ? 0x1p-23 : 8 * FLT_MIN;
    tiny = dtype == TL_DOUBLE ? 0 : tiny + 16 * unit * unit * most;
    return fabs(x - y) <= SAFETY * (slack + unit * fabs(x)) + tiny;
}

typedef struct differences {
    size_t wrong;   // elements that are further away than roundings go
    size_t unequal; // elements of other bits
    size_t first;   // the worst of them
} differences;

// Output `o` of the model whose quotients are floats; NULL where there is none.
static const side_output *in_floats(const as_read *a, const side_output *o)
{
    const side_result *r = a->in_floats ? &a->in_floats->result : NULL;
    const ptrdiff_t index = o - a->result.outputs;
    if (!r || r->status != LN_OK || index >= r->output_count)
        return NULL;
    const side_output *other = &r->outputs[index];
    return other->dtype == o->dtype && other->count == o->count ? other : NULL;
}

static differences find_differences(const as_read *a, const side_output *o, const side_output *got,
                                    bool is_in_floats)
{
    differences d = {0};
    const side_output *other = a->takes_floats ? in_floats(a, o) : NULL;
    double most = 0, worst = 0;
    for (size_t i = 0; is_floating(o->dtype) && i < o->count; i++) {
        double x = fabs(element(o->data, o->dtype, i));
        most = isfinite(x) && x > most ? x : most;
    }
    for (size_t i = 0; i < o->count; i++) {
        size_t size = tl_size_of(o->dtype);
        if (memcmp(o->data + i * size, got->data + i * size, size) == 0)
            continue;
        double x = element(o->data, o->dtype, i), y = element(got->data, o->dtype, i);
        if (isnan(x) && isnan(y))
            continue;
        if (d.unequal++ == 0 && d.wrong == 0)
            d.first = i;
        if (other && may_differ(element(other->data, o->dtype, i), y, o->slack[i], most, o->dtype,
                                a->has_halves))
            continue;
        if (may_differ(x, y, o->slack[i], most, o->dtype, a->has_halves) ||
            (a->has_huge && is_in_floats) || a->has_overflow)
            continue;
        double by = fabs(x - y);
        if (d.wrong++ == 0 || by > worst || isnan(by)) {
            worst = by;
            d.first = i;
        }
    }
    return d;
}

static bool agrees(as_read *a, int index, const side_output *got, bool is_exact, bool is_in_floats,
                   char *message, size_t len)
{
    const side_output *o = &a->result.outputs[index];
    if (o->dtype != got->dtype || o->ndim != got->ndim || o->count != got->count ||
        memcmp(o->dims, got->dims, (size_t)o->ndim * sizeof o->dims[0]) != 0) {
        snprintf(message, len, "%s has another shape or type: %s of %zu instead of %s of %zu",
                 o->name, tl_dtype_name(got->dtype), got->count, tl_dtype_name(o->dtype), o->count);
        return false;
    }
    if (memcmp(o->data, got->data, o->byte_count) == 0)
        return true;
    differences d = {0};
    static const int run_counts[] = {PERTURBED_RUNS, MORE_PERTURBED_RUNS};
    for (int k = 0; k < 2; k++) {
        if (!measure(a, run_counts[k])) {
            snprintf(message, len, "the model as read cannot be measured: %s", ln_error_message());
            return false;
        }
        d = find_differences(a, o, got, is_in_floats);
        if (d.wrong == 0)
            break;
    }
    if (d.wrong == 0 && (d.unequal == 0 || !is_exact))
        return true;
    snprintf(message, len, "%s[%zu] is %.9g instead of %.9g; %zu of %zu elements differ %s",
             o->name, d.first, element(got->data, o->dtype, d.first),
             element(o->data, o->dtype, d.first), d.wrong ? d.wrong : d.unequal, o->count,
             d.wrong ? "by more than roundings" : "in roundings, although all rewrites are exact");
    if (d.wrong) {
        size_t used = strlen(message);
        snprintf(message + used, len - used, " (%.3g)", o->slack[d.first]);
    }
    return false;
}

bool side_agrees(as_read *a, const side_result *got, bool is_exact, bool is_in_floats,
                 char *message, size_t len)
{
    if (got->status != LN_OK) {
        snprintf(message, len, "%s: %s: %s", got->stage, ln_status_name(got->status), got->message);
        return false;
    }
    if (got->output_count != a->result.output_count) {
        snprintf(message, len, "%d outputs instead of %d", got->output_count,
                 a->result.output_count);
        return false;
    }
    a->takes_floats = is_in_floats && !got->keeps_halves;
    for (int i = 0; i < got->output_count; i++)
        if (!agrees(a, i, &got->outputs[i], is_exact, is_in_floats, message, len))
            return false;
    return true;
}

// ---- For other engines ----

static void export_numbers(FILE *file, const char *key, const void *data, tl_dtype dtype,
                           size_t count)
{
    fprintf(file, "\"%s\": [", key);
    for (size_t i = 0; i < count; i++) {
        const double x = element(data, dtype, i);
        fprintf(file, isfinite(x) ? "%s%.17g" : "%s\"%f\"", i ? ", " : "", x);
    }
    fprintf(file, "]");
}

static void export_head(FILE *file, const char *name, tl_dtype dtype, int ndim, const int *dims)
{
    fprintf(file, "{\"name\": \"%s\", \"type\": \"%s\", \"dims\": [", name, tl_dtype_name(dtype));
    for (int d = 0; d < ndim; d++)
        fprintf(file, "%s%d", d ? ", " : "", dims[d]);
    fprintf(file, "], ");
}

static void export_all(as_read *a, FILE *file)
{
    fprintf(file, "{\"inputs\": [");
    const size_t count = ln_context_input_count(a->ctx);
    for (size_t i = 0; i < count; i++) {
        const char *name = ln_context_input_name(a->ctx, i);
        const tl_tensor *t = ln_tensor_table_find(a->ctx->tensor_table, name)->tensor;
        fprintf(file, i ? ",\n" : "\n");
        export_head(file, name, t->dtype, t->ndim, t->dims);
        export_numbers(file, "data", t->data, t->dtype, (size_t)t->len);
        fprintf(file, "}");
    }
    fprintf(file, "],\n\"outputs\": [");
    for (int i = 0; i < a->result.output_count; i++) {
        const side_output *o = &a->result.outputs[i];
        fprintf(file, i ? ",\n" : "\n");
        export_head(file, o->name, o->dtype, o->ndim, o->dims);
        export_numbers(file, "data", o->data, o->dtype, o->count);
        fprintf(file, ", ");
        export_numbers(file, "slack", o->slack, TL_DOUBLE, o->count);
        fprintf(file, "}");
    }
    fprintf(file, "]}\n");
}

bool as_read_export(as_read *a, const char *path)
{
    if (!measure(a, PERTURBED_RUNS) || a->has_halves || a->has_huge)
        return false;
    FILE *file = fopen(path, "w");
    if (!file)
        return false;
    export_all(a, file);
    return fclose(file) == 0;
}
