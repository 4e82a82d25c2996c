// SPDX-License-Identifier: Apache-2.0
// Measuring ranges: plans for shapes in them, and what their tensors need at most.

#include "compile/range.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <lightnet/allocator.h>

#include "base/name_hash.h"
#include "base/text.h"
#include "compile/plan_source.h"
#include "compile/reshape.h"
#include "ir/compiled.h"
#include "ir/context.h"

#define MAX_SYMBOLS LN_COMPILED_MAX_RANGES

// So many shapes are looked at whatever the model is. A model of few operators has all of them
// looked at, up to MAX_SHAPES, as long as their plans have no more than MAX_STEPS operators
// together; with graphs inside it has no template, and each shape takes a compilation.
#define MIN_SHAPES 64
#define MAX_SHAPES 4096
#define MAX_STEPS  65536

// Of each symbol 0, 1, and more.
#define MAX_CLASSES 81

typedef struct symbol_range {
    char *name;
    int from, to;
} symbol_range;

typedef int symbol_values[MAX_SYMBOLS];

struct ln_envelope {
    unsigned class_key;
    ln_hash *byte_counts; // tensor name -> bytes + 1
    double shape_count;
    size_t more[LN_MEM_TYPE_SIZE]; // constants that the first plan has not, of one shape, at most
};

struct ln_range {
    struct ln_range_base base;
    atomic_size_t holder_count;
    symbol_range symbols[MAX_SYMBOLS];
    size_t symbol_count;
    struct ln_envelope envelopes[MAX_CLASSES];
    size_t envelope_count;
    bool is_complete;                   // the envelopes
    size_t statics[LN_MEM_TYPE_SIZE];   // of the first plan
    size_t workspace[LN_MEM_TYPE_SIZE]; // of any
    // Constants that the first plan has not: the largest ones, of as many shapes as are kept.
    size_t more[LN_MEM_TYPE_SIZE][LN_PLANS_KEPT];
    double shape_count;
    size_t checked_count;
    size_t worst_byte_count; // of the shape that needs most, planned alone
    char *worst;             // "batch=32, seq=512"
};

// ---- Life ----

static void release_base(struct ln_range_base *base)
{
    ln_range_release((ln_range *)base);
}

static ln_range *range_create(void)
{
    ln_range *range = ln_alloc(sizeof *range);
    if (!range)
        return NULL;
    range->base.release = release_base;
    atomic_init(&range->holder_count, 1);
    return range;
}

ln_range *ln_range_retain(ln_range *range)
{
    if (range)
        atomic_fetch_add_explicit(&range->holder_count, 1, memory_order_relaxed);
    return range;
}

// What was measured before is gone.
static void forget(ln_range *range)
{
    for (size_t i = 0; i < range->envelope_count; i++)
        ln_hash_free(range->envelopes[i].byte_counts);
    range->envelope_count = 0;
    range->is_complete = false;
    memset(range->statics, 0, sizeof range->statics);
    memset(range->workspace, 0, sizeof range->workspace);
    memset(range->more, 0, sizeof range->more);
    ln_free(range->worst);
    range->worst = NULL;
    range->worst_byte_count = 0;
}

void ln_range_release(ln_range *range)
{
    if (!range || atomic_fetch_sub_explicit(&range->holder_count, 1, memory_order_acq_rel) != 1)
        return;
    for (size_t i = 0; i < range->symbol_count; i++)
        ln_free(range->symbols[i].name);
    forget(range);
    ln_free(range);
}

ln_range *ln_range_of(const ln_context *ctx)
{
    return (ln_range *)ctx->range;
}

// ---- Stating ----

// The number of symbols if it has none of that name.
static size_t find_symbol(const ln_range *range, const char *name)
{
    size_t i = 0;
    while (i < range->symbol_count && !ln_streq(range->symbols[i].name, name))
        i++;
    return i;
}

static ln_status add_symbol(ln_range *range, const char *name, int from, int to)
{
    size_t index = find_symbol(range, name);
    if (index == MAX_SYMBOLS)
        return LN_FAIL(LN_UNSUPPORTED, "ranges of more than %d symbols", MAX_SYMBOLS);
    symbol_range *s = &range->symbols[index];
    if (index == range->symbol_count) {
        s->name = ln_strdup(name);
        if (!s->name)
            return LN_NO_MEMORY;
        range->symbol_count++;
    }
    s->from = from;
    s->to = to;
    return LN_OK;
}

ln_status ln_range_copy(const ln_context *ctx, ln_context *clone)
{
    const ln_range *from = ln_range_of(ctx);
    if (!from)
        return LN_OK;
    ln_range *range = range_create();
    if (!range)
        return LN_NO_MEMORY;
    clone->range = &range->base;
    for (size_t i = 0; i < from->symbol_count; i++)
        LN_TRY(
            add_symbol(range, from->symbols[i].name, from->symbols[i].from, from->symbols[i].to));
    return LN_OK;
}

ln_status ln_context_set_range(ln_context *ctx, const char *symbol, int from, int to)
{
    if (!symbol || from < 0 || from > to)
        return LN_FAIL(LN_INVALID,
                       "a range needs a symbol, and two dimensions of which the first "
                       "is not larger, not %d to %d",
                       from, to);
    LN_TRY(ln_context_set_symbol(ctx, symbol, to));
    if (!ctx->range) {
        ln_range *range = range_create();
        if (!range)
            return LN_NO_MEMORY;
        ctx->range = &range->base;
    }
    return add_symbol(ln_range_of(ctx), symbol, from, to);
}

// ---- Asking ----

const char *ln_range_symbol(const ln_range *range, size_t index, int *out_from, int *out_to)
{
    if (!range || index >= range->symbol_count)
        return NULL;
    *out_from = range->symbols[index].from;
    *out_to = range->symbols[index].to;
    return range->symbols[index].name;
}

int ln_context_symbol_range(const ln_context *ctx, const char *symbol, int *out_from, int *out_to)
{
    const ln_range *range = ctx ? ln_range_of(ctx) : NULL;
    size_t index = range && symbol ? find_symbol(range, symbol) : 0;
    if (!range || !symbol || index == range->symbol_count)
        return 0;
    if (out_from)
        *out_from = range->symbols[index].from;
    if (out_to)
        *out_to = range->symbols[index].to;
    return 1;
}

// NULL if nothing was measured.
static const ln_range *measured(const ln_context *ctx)
{
    const ln_range *range = ctx && ctx->plans ? ln_range_of(ctx) : NULL;
    return range && range->worst ? range : NULL;
}

static size_t peak_of(const ln_range *range, int m)
{
    size_t sum = range->statics[m] + range->workspace[m];
    for (size_t i = 0; i < LN_PLANS_KEPT; i++)
        sum += range->more[m][i];
    return sum;
}

size_t ln_context_range_peak_bytes(const ln_context *ctx, ln_mem_type mtype)
{
    const ln_range *range = measured(ctx);
    if (!range || mtype <= LN_MEM_NONE || mtype >= LN_MEM_TYPE_SIZE)
        return 0;
    return peak_of(range, mtype);
}

const char *ln_context_range_worst(const ln_context *ctx)
{
    const ln_range *range = measured(ctx);
    return range ? range->worst : NULL;
}

size_t ln_context_range_checked_count(const ln_context *ctx)
{
    const ln_range *range = measured(ctx);
    return range ? range->checked_count : 0;
}

double ln_context_range_shape_count(const ln_context *ctx)
{
    const ln_range *range = measured(ctx);
    return range ? range->shape_count : 0;
}

// ---- Shapes and symbols ----

// The range of a dimension; NULL: it has none.
static const symbol_range *range_at(const ln_range *range, const ln_context *model,
                                    const ln_tensor_entry *input, int d)
{
    const ln_op *op = ln_op_table_find(model->op_table, input->creater);
    const ln_param_entry *names = op ? ln_param_list_find(op->op_arg->params, "names") : NULL;
    if (!names || d >= names->array_len)
        return NULL;
    size_t index = find_symbol(range, names->value_array_string[d]);
    return index < range->symbol_count ? &range->symbols[index] : NULL;
}

ln_status ln_range_check(const ln_range *range, const ln_context *model, size_t count,
                         const ln_input_shape *shapes)
{
    for (size_t i = 0; i < count; i++) {
        const ln_tensor_entry *input = ln_tensor_table_find(model->tensor_table, shapes[i].tname);
        for (int d = 0; input && d < shapes[i].ndim && d < input->tensor->ndim; d++) {
            const symbol_range *s = range_at(range, model, input, d);
            int value = shapes[i].dims[d], least = s ? s->from : input->tensor->dims[d];
            int most = s ? s->to : least;
            if (value < least || value > most)
                return LN_FAIL(LN_INVALID,
                               "input '%s': dimension %d%s%s is %d, but the model was compiled for "
                               "%d to %d; compile it for a larger range",
                               shapes[i].tname, d, s ? ", " : "", s ? s->name : "", value, least,
                               most);
        }
    }
    return LN_OK;
}

static unsigned class_of(const ln_range *range, const symbol_values values)
{
    unsigned key = 0;
    for (size_t i = 0; i < range->symbol_count; i++)
        key = key * 3 + (unsigned)(values[i] < 2 ? values[i] : 2);
    return key;
}

// What the inputs of a context say of the symbols.
static void find_values(const ln_range *range, const ln_context *ctx, symbol_values values)
{
    const ln_tensor_entry *input;
    memset(values, 0, sizeof(symbol_values));
    for (size_t i = 0; (input = ln_context_input(ctx, i)); i++) {
        for (int d = 0; d < input->tensor->ndim; d++) {
            const symbol_range *s = range_at(range, ctx, input, d);
            if (s)
                values[s - range->symbols] = input->tensor->dims[d];
        }
    }
}

// The shapes of all inputs of `model` with these values. The caller frees *out_shapes.
static ln_status make_shapes(const ln_range *range, const ln_context *model,
                             const symbol_values values, size_t *out_count,
                             ln_input_shape **out_shapes)
{
    size_t count = ln_context_input_count(model);
    ln_input_shape *shapes = ln_alloc(count * (sizeof *shapes + TL_MAXDIM * sizeof(int)) + 1);
    if (!shapes)
        return LN_NO_MEMORY;
    int *dims = (int *)(shapes + count);
    const ln_tensor_entry *input;
    for (size_t i = 0; (input = ln_context_input(model, i)); i++, dims += TL_MAXDIM) {
        shapes[i] = (ln_input_shape){input->name, input->tensor->ndim, dims};
        for (int d = 0; d < input->tensor->ndim; d++) {
            const symbol_range *s = range_at(range, model, input, d);
            dims[d] = s ? values[s - range->symbols] : input->tensor->dims[d];
        }
    }
    *out_count = count;
    *out_shapes = shapes;
    return LN_OK;
}

// ---- Which shapes are looked at ----

static void add_value(const symbol_range *s, int value, int *values, size_t *count)
{
    if (value >= s->from && value <= s->to && (*count == 0 || value < values[*count - 1]))
        values[(*count)++] = value;
}

// The values of a symbol, from the largest to the smallest: all, or the ends of what is 0, 1, more,
// the largest but one, whose constants the first plan has not, and `between` others, as far from
// one another.
static size_t list_values(const symbol_range *s, bool is_all, int between, int values[MAX_SHAPES])
{
    size_t count = 0;
    for (int v = s->to; is_all && v >= s->from; v--)
        values[count++] = v;
    if (is_all)
        return count;
    const int least = s->from > 2 ? s->from : 2;
    add_value(s, s->to, values, &count);
    add_value(s, s->to - 1, values, &count);
    for (int i = between; i > 0; i--)
        add_value(s, least + (int)((int64_t)(s->to - least) * i / (between + 1)), values, &count);
    add_value(s, least, values, &count);
    add_value(s, 1, values, &count);
    add_value(s, 0, values, &count);
    return count;
}

#define ENDS 5

// How many values between the ends of each symbol make no more than MIN_SHAPES shapes.
static int count_between(size_t symbol_count)
{
    int between = 0;
    for (;; between++) {
        size_t shapes = 1;
        for (size_t i = 0; i < symbol_count; i++)
            shapes *= (size_t)between + 1 + ENDS;
        if (shapes > MIN_SHAPES)
            return between;
    }
}

typedef struct sample {
    int values[MAX_SYMBOLS][MAX_SHAPES];
    size_t counts[MAX_SYMBOLS];
    size_t count;
} sample;

static size_t max_shapes(const ln_context *model)
{
    const size_t steps = (size_t)ln_list_length(model->ops), count = MAX_STEPS / (steps + 1);
    return model->graphs || count < MIN_SHAPES ? MIN_SHAPES
           : count > MAX_SHAPES                ? MAX_SHAPES
                                               : count;
}

static void choose_shapes(ln_range *range, const ln_context *model, sample *s)
{
    range->shape_count = 1;
    for (size_t i = 0; i < range->symbol_count; i++)
        range->shape_count *= (double)range->symbols[i].to - range->symbols[i].from + 1;
    const bool is_every = range->shape_count <= (double)max_shapes(model);
    s->count = 1;
    for (size_t i = 0; i < range->symbol_count; i++) {
        s->counts[i] = list_values(&range->symbols[i], is_every, count_between(range->symbol_count),
                                   s->values[i]);
        s->count *= s->counts[i];
    }
}

static void take_shape(const ln_range *range, const sample *s, size_t index, symbol_values values)
{
    for (size_t i = 0; i < range->symbol_count; i++) {
        values[i] = s->values[i][index % s->counts[i]];
        index /= s->counts[i];
    }
}

// ---- Envelopes ----

static bool is_all(const ln_range *range)
{
    return range->shape_count <= (double)range->checked_count;
}

// How many shapes there are of the class of these values.
static double count_class(const ln_range *range, const symbol_values values)
{
    double count = 1;
    for (size_t i = 0; i < range->symbol_count; i++) {
        const symbol_range *s = &range->symbols[i];
        if (values[i] >= 2)
            count *= (double)s->to - (s->from > 2 ? s->from : 2) + 1;
    }
    return count;
}

// The number of envelopes if there is none for the class yet.
static size_t find_envelope(const ln_range *range, const symbol_values values)
{
    unsigned key = class_of(range, values);
    size_t i = 0;
    while (i < range->envelope_count && range->envelopes[i].class_key != key)
        i++;
    return i;
}

static ln_status need_envelope(ln_range *range, const symbol_values values,
                               const struct ln_envelope **out_envelope)
{
    size_t index = find_envelope(range, values);
    struct ln_envelope *e = &range->envelopes[index];
    *out_envelope = e;
    if (index < range->envelope_count)
        return LN_OK;
    e->class_key = class_of(range, values);
    e->shape_count = count_class(range, values);
    memset(e->more, 0, sizeof e->more);
    e->byte_counts = ln_hash_create(ln_name_hash, ln_str_cmp, ln_free, NULL);
    if (!e->byte_counts)
        return LN_NO_MEMORY;
    range->envelope_count++;
    return LN_OK;
}

static ln_status widen(const struct ln_envelope *e, const ln_plan_value *v)
{
    size_t had = (size_t)ln_hash_find(e->byte_counts, v->name);
    if (v->is_static || v->byte_count < had)
        return LN_OK;
    char *name = ln_strdup(v->name);
    if (!name)
        return LN_NO_MEMORY;
    if (ln_hash_insert(e->byte_counts, name, (void *)(v->byte_count + 1)) >= 0)
        return LN_OK;
    ln_free(name);
    return ln_error_status();
}

static ln_status widen_for(const struct ln_envelope *e, const ln_context *plan)
{
    ln_plan_records *r;
    LN_TRY(ln_plan_records_create(plan, &r));
    ln_status status = LN_OK;
    for (size_t i = 0; i < r->plan.value_count && status == LN_OK; i++)
        status = widen(e, &r->values[i]);
    ln_plan_records_destroy(r);
    return status;
}

void ln_envelope_apply(const struct ln_envelope *envelope, ln_plan_records *r)
{
    for (size_t i = 0; i < r->plan.value_count; i++) {
        ln_plan_value *v = &r->values[i];
        size_t byte_count = (size_t)ln_hash_find(envelope->byte_counts, v->name);
        if (!v->is_static && r->owners[i] == i && byte_count > v->byte_count)
            v->byte_count = byte_count - 1;
    }
}

void ln_envelope_leave_parts(ln_plan_records *r)
{
    for (size_t k = 0; k < r->choice_count; k++) {
        const ln_share *c = &r->choices[k];
        if (c->kind != LN_SHARE_OVER && r->owners[c->inner] == c->outer)
            r->values[c->inner].byte_count = tl_tensor_size(r->entries[c->inner]->tensor);
    }
}

void ln_range_apply(const ln_range *range, ln_context *instance)
{
    symbol_values values;
    find_values(range, instance, values);
    size_t index = find_envelope(range, values);
    if (range->is_complete && index < range->envelope_count)
        instance->envelope = &range->envelopes[index];
}

const size_t *ln_range_workspace(const ln_range *range)
{
    return range->workspace;
}

// ---- Measuring ----

static ln_status note_worst(ln_range *range, const symbol_values values, const ln_context *plan)
{
    size_t byte_count = 0;
    for (int m = 0; m < LN_MEM_TYPE_SIZE; m++)
        byte_count += plan->mem_sizes[m];
    if (byte_count <= range->worst_byte_count)
        return LN_OK;
    ln_text text = {0};
    for (size_t i = 0; i < range->symbol_count; i++)
        ln_text_printf(&text, "%s%s=%d", i ? ", " : "", range->symbols[i].name, values[i]);
    char *worst = text.status == LN_OK ? ln_strdup(text.bytes) : NULL;
    ln_text_deinit(&text);
    if (!worst)
        return LN_NO_MEMORY;
    ln_free(range->worst);
    range->worst = worst;
    range->worst_byte_count = byte_count;
    return LN_OK;
}

static ln_status fail_shape(const ln_range *range, const symbol_values values)
{
    char words[256] = "";
    for (size_t i = 0; i < range->symbol_count; i++) {
        size_t len = strlen(words);
        snprintf(words + len, sizeof words - len, "%s%s=%d", i ? ", " : "", range->symbols[i].name,
                 values[i]);
    }
    return ln_fail_prefix("%s", words);
}

// The plan of one shape, alone or, once envelopes are complete, with its envelope.
static ln_status make_plan(ln_range *range, ln_plan_source *source, const ln_context *ctx,
                           ln_constants *constants, const symbol_values values,
                           ln_context **out_plan)
{
    size_t count;
    ln_input_shape *shapes;
    const ln_context *model = ln_plan_source_model(source);
    LN_TRY(make_shapes(range, model, values, &count, &shapes));
    ln_plan_request request = {
        .ctx = ctx, .caller = ctx, .constants = constants, .count = count, .shapes = shapes};
    ln_status status = ln_plan_source_make(source, &request, out_plan);
    ln_free(shapes);
    return status == LN_OK ? LN_OK : fail_shape(range, values);
}

static ln_status look_at(ln_range *range, ln_plan_source *source, const ln_context *ctx,
                         const symbol_values values)
{
    ln_context *plan;
    const struct ln_envelope *envelope;
    LN_TRY(make_plan(range, source, ctx, NULL, values, &plan));
    ln_status status = need_envelope(range, values, &envelope);
    if (status == LN_OK)
        status = widen_for(envelope, plan);
    if (status == LN_OK)
        status = note_worst(range, values, plan);
    ln_context_free(plan);
    return status;
}

// The largest ones are kept, in descending order.
static void note_more(size_t more[LN_PLANS_KEPT], size_t byte_count)
{
    for (size_t i = 0; i < LN_PLANS_KEPT; i++) {
        size_t next = more[i];
        if (byte_count <= next)
            continue;
        more[i] = byte_count;
        byte_count = next;
    }
}

static void note_sizes(ln_range *range, struct ln_envelope *e, const ln_context *plan)
{
    for (int m = 0; m < LN_MEM_TYPE_SIZE; m++) {
        size_t workspace = plan->mem_sizes[m] - plan->static_sizes[m];
        if (workspace > range->workspace[m])
            range->workspace[m] = workspace;
        if (plan->static_sizes[m] <= range->statics[m])
            continue;
        size_t more = plan->static_sizes[m] - range->statics[m];
        e->more[m] = more > e->more[m] ? more : e->more[m];
        if (is_all(range))
            note_more(range->more[m], more);
    }
}

// Where not all shapes were looked at, any of a class may need as much as the one that needs most.
static void assume_more(ln_range *range)
{
    for (size_t i = 0; i < range->envelope_count; i++) {
        const struct ln_envelope *e = &range->envelopes[i];
        for (int m = 0; m < LN_MEM_TYPE_SIZE; m++)
            for (int k = 0; k < LN_PLANS_KEPT && k < e->shape_count; k++)
                note_more(range->more[m], e->more[m]);
    }
}

// The sizes of the plan for a shape, with its envelope, beside the first plan.
static ln_status measure_shape(ln_range *range, ln_plan_source *source, const ln_context *ctx,
                               ln_constants *constants, const symbol_values values)
{
    ln_context *plan;
    LN_TRY(make_plan(range, source, ctx, constants, values, &plan));
    note_sizes(range, &range->envelopes[find_envelope(range, values)], plan);
    ln_context_free(plan);
    return LN_OK;
}

// The first plan is that of the largest sizes, the first of the sample.
static ln_status measure_shapes(ln_range *range, ln_plan_source *source, const ln_context *ctx,
                                const sample *s)
{
    symbol_values values = {0};
    ln_context *first;
    ln_constants *constants = NULL;
    take_shape(range, s, 0, values);
    LN_TRY(make_plan(range, source, ctx, NULL, values, &first));
    memcpy(range->statics, first->static_sizes, sizeof range->statics);
    note_sizes(range, &range->envelopes[find_envelope(range, values)], first);
    ln_status status = ln_constants_create(first, &constants);
    for (size_t i = 1; i < s->count && status == LN_OK; i++) {
        take_shape(range, s, i, values);
        status = measure_shape(range, source, ctx, constants, values);
    }
    if (!is_all(range))
        assume_more(range);
    ln_constants_destroy(constants);
    ln_context_free(first);
    return status;
}

static ln_status check_limit(const ln_range *range, const ln_context *ctx)
{
    for (int m = 0; m < LN_MEM_TYPE_SIZE; m++)
        if (peak_of(range, m) > ctx->limits.memory_byte_count)
            return LN_FAIL(LN_LIMIT,
                           "the plan for all shapes needs %zu bytes, most of them for %s; the "
                           "limit is %zu",
                           peak_of(range, m), range->worst, ctx->limits.memory_byte_count);
    return LN_OK;
}

static void add_open_axis(const ln_context *model, const ln_tensor_entry *input, int axis,
                          ln_text *names)
{
    const char *symbol = ln_context_tensor_symbol(model, input->name, axis);
    const char *separator = names->len ? ", " : "";
    if (symbol && *symbol)
        ln_text_printf(names, "%s'%s'", separator, symbol);
    else
        ln_text_printf(names, "%sdimension %d", separator, axis);
}

// What it is bound to so far, or what the model states.
static const ln_param_entry *dims_of(const ln_context *model, const ln_tensor_entry *input)
{
    const ln_op *op = ln_op_table_find(model->op_table, input->creater);
    const ln_param_entry *bound = op ? ln_param_list_find(op->op_arg->params, "bound") : NULL;
    return bound || !op ? bound : ln_param_list_find(op->op_arg->params, "dims");
}

// A dimension beside a range has to be known, or to have one.
static ln_status check_input(const ln_range *range, const ln_context *model,
                             const ln_tensor_entry *input)
{
    const ln_param_entry *dims = input->is_open ? dims_of(model, input) : NULL;
    ln_text names = {0};
    for (int d = 0; dims && d < dims->array_len; d++)
        if (dims->value_array_int[d] < 0 && !range_at(range, model, input, d))
            add_open_axis(model, input, d, &names);
    ln_status status = names.status;
    if (status == LN_OK && names.len > 0)
        status = LN_FAIL(LN_INVALID,
                         "'%s' has a range, so all dimensions need a size or a range; in input "
                         "'%s' these have none: %s",
                         range->symbols[0].name, input->name, names.bytes);
    ln_text_deinit(&names);
    return status;
}

static ln_status check_inputs(const ln_range *range, const ln_context *model)
{
    const ln_tensor_entry *input;
    for (size_t i = 0; (input = ln_context_input(model, i)); i++)
        LN_TRY(check_input(range, model, input));
    return LN_OK;
}

ln_status ln_range_measure(ln_range *range, ln_plan_source *source, const ln_context *ctx)
{
    LN_TRY(check_inputs(range, ln_plan_source_model(source)));
    sample *s = ln_alloc(sizeof *s);
    if (!s)
        return LN_NO_MEMORY;
    forget(range);
    choose_shapes(range, ln_plan_source_model(source), s);
    range->checked_count = s->count;
    ln_status status = LN_OK;
    for (size_t i = 0; i < s->count && status == LN_OK; i++) {
        symbol_values values = {0};
        take_shape(range, s, i, values);
        status = look_at(range, source, ctx, values);
    }
    range->is_complete = true;
    if (status == LN_OK)
        status = measure_shapes(range, source, ctx, s);
    ln_free(s);
    return status == LN_OK ? check_limit(range, ctx) : status;
}
