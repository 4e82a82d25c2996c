// SPDX-License-Identifier: Apache-2.0
// Templates from two witnesses.
//
// A witness is a set of shapes whose dynamic dimensions are primes, or twice primes in the second,
// so that what is equal for both is equal for a reason, be it a remainder. The model is rewritten
// for both. Where the results differ in nothing but numbers of parameters, each of which is a
// quantity of the model as read (compile/facts.h), a multiple of one or of the product of two, they
// are a template. Algorithms that the arch chooses by sizes (compile/choices.h) may differ too.
//
// Sizes of 0 and 1 are special to rules, so each choice of dimensions that have one is a class
// with a template of its own.

#include "compile/template.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <lightnet/allocator.h>

#include "base/error_state.h"
#include "base/name_hash.h"
#include "base/text.h"
#include "compile/choices.h"
#include "compile/clone.h"
#include "compile/facts.h"
#include "compile/spares.h"
#include "ir/context.h"
#include "ir/open.h"
#include "ir/param_number.h"
#include "op/call.h"

// Classes whose templates are kept; the one made first is dropped for a new one.
#define MAX_TEMPLATES 8
#define MAX_SYMBOLS   16

// A number of a parameter.
typedef struct number {
    ln_param_entry *param; // of the template
    int index;             // in an array; -1: a number
    ln_expression value;
} number;

typedef struct class_template {
    char *class_key;
    ln_context *rewritten; // READY; NULL: shapes of this class are compiled one by one
    ln_facts facts;
    int multiple; // what sizes of symbols that are no batch are multiples of
    number *numbers;
    size_t number_count, number_capacity;
    ln_choices choices;
    bool *varies;      // of each operator: whether its parameters depend on the shape
    ln_spares *spares; // NULL: not needed yet
} class_template;

struct ln_templates {
    const ln_context *source; // the model as read
    ln_context *model;        // a copy, bound to the shapes that are looked at; NULL: none yet
    char *target;
    ln_optimize_options options;
    class_template *templates[MAX_TEMPLATES];
    size_t made_count;
};

// ---- Life ----

static void template_destroy(class_template *t)
{
    if (!t)
        return;
    ln_free(t->class_key);
    ln_spares_destroy(t->spares);
    ln_free(t->varies);
    ln_context_free(t->rewritten);
    ln_facts_deinit(&t->facts);
    ln_free(t->numbers);
    ln_choices_deinit(&t->choices);
    ln_free(t);
}

ln_status ln_templates_create(const ln_context *model, const char *target,
                              const ln_optimize_options *options, ln_templates **out_templates)
{
    *out_templates = NULL;
    ln_templates *templates = ln_alloc(sizeof *templates);
    if (!templates)
        return LN_NO_MEMORY;
    *templates = (ln_templates){.source = model, .target = ln_strdup(target), .options = *options};
    if (!templates->target) {
        ln_free(templates);
        return LN_NO_MEMORY;
    }
    *out_templates = templates;
    return LN_OK;
}

void ln_templates_destroy(ln_templates *templates)
{
    if (!templates)
        return;
    for (size_t i = 0; i < MAX_TEMPLATES; i++)
        template_destroy(templates->templates[i]);
    ln_context_free(templates->model);
    ln_free(templates->target);
    ln_free(templates);
}

// What must not count as "there is no template".
static bool is_fatal(ln_status status)
{
    return status == LN_NO_MEMORY || status == LN_TIMEOUT || status == LN_CANCELLED ||
           status == LN_INTERNAL;
}

// ---- Symbols ----

typedef struct symbol {
    const char *name; // NULL: a dimension that is equal to no other one by name
    int size;
    bool is_first; // of nothing but first dimensions, such as a batch
} symbol;

// The inputs of the model for one set of shapes, and which of their dimensions are symbols.
typedef struct binding {
    size_t count;
    ln_input_shape *shapes;
    int (*dims)[TL_MAXDIM];
    int (*symbol_of)[TL_MAXDIM]; // -1: fixed
    symbol symbols[MAX_SYMBOLS];
    size_t symbol_count;
} binding;

static void binding_deinit(binding *b)
{
    ln_free(b->shapes);
    ln_free(b->dims);
    ln_free(b->symbol_of);
}

// Sizes of one name may differ: some exporters give it to all dimensions. Those are two symbols.
static bool add_symbol(binding *b, const char *name, int d, int size, int *out_index)
{
    for (size_t i = 0; i < b->symbol_count && name && *name; i++) {
        symbol *s = &b->symbols[i];
        if (!ln_streq(s->name, name) || s->size != size)
            continue;
        s->is_first = s->is_first && d == 0;
        *out_index = (int)i;
        return true;
    }
    if (b->symbol_count == MAX_SYMBOLS)
        return false;
    *out_index = (int)b->symbol_count;
    b->symbols[b->symbol_count++] =
        (symbol){.name = name && *name ? name : NULL, .size = size, .is_first = d == 0};
    return true;
}

// false: its shape is not a matter of symbols.
static bool read_input(binding *b, const ln_op *op, const ln_input_shape *shape)
{
    const ln_param_entry *any = ln_param_list_find(op->op_arg->params, "open");
    const ln_param_entry *stated = ln_param_list_find(op->op_arg->params, "dims");
    const ln_param_entry *names = ln_param_list_find(op->op_arg->params, "names");
    if ((any && any->value_bool) || !stated || stated->array_len != shape->ndim)
        return false;
    for (int d = 0; d < shape->ndim; d++) {
        int *symbol_of = &b->symbol_of[b->count][d];
        b->dims[b->count][d] = shape->dims[d];
        *symbol_of = -1;
        if (stated->value_array_int[d] >= 0)
            continue;
        const char *name = names && d < names->array_len ? names->value_array_string[d] : NULL;
        if (!add_symbol(b, name, d, shape->dims[d], symbol_of))
            return false;
    }
    b->shapes[b->count] =
        (ln_input_shape){.tname = shape->tname, .ndim = shape->ndim, .dims = b->dims[b->count]};
    b->count++;
    return true;
}

static const ln_input_shape *find_shape(const char *tname, size_t count,
                                        const ln_input_shape *shapes)
{
    for (size_t i = 0; i < count; i++)
        if (ln_streq(shapes[i].tname, tname))
            return &shapes[i];
    return NULL;
}

// *out_is_fit: the shapes are given, and follow from symbols.
static ln_status binding_init(binding *b, const ln_context *model, size_t count,
                              const ln_input_shape *shapes, bool *out_is_fit)
{
    size_t input_count = ln_context_input_count(model);
    *out_is_fit = false;
    b->shapes = ln_alloc_array(input_count + 1, sizeof *b->shapes);
    b->dims = ln_alloc_array(input_count + 1, sizeof *b->dims);
    b->symbol_of = ln_alloc_array(input_count + 1, sizeof *b->symbol_of);
    if (!b->shapes || !b->dims || !b->symbol_of)
        return LN_NO_MEMORY;
    for (size_t i = 0; i < input_count; i++) {
        const ln_tensor_entry *entry = ln_context_input(model, i);
        const ln_op *op = ln_op_table_find(model->op_table, entry->creater);
        if (!op || !ln_op_is_type(op->op_arg, "input"))
            continue;
        const ln_input_shape *shape = find_shape(entry->name, count, shapes);
        if (!shape || !read_input(b, op, shape))
            return LN_OK;
    }
    *out_is_fit = true;
    return LN_OK;
}

// A character for each symbol: its size if that is special, else 'n'. NULL: memory is gone.
static char *make_class_key(const binding *b)
{
    char key[MAX_SYMBOLS + 1] = "";
    for (size_t i = 0; i < b->symbol_count; i++)
        key[i] = b->symbols[i].size < 2 ? (char)('0' + b->symbols[i].size) : 'n';
    return ln_strdup(key);
}

// ---- Witnesses ----

// A batch multiplies what all tensors take, so symbols of first dimensions have small sizes of
// their own, unless constants have that length. The others are long enough for no constant to be
// made of them, but not longer than what is cut out of a table, which often has 512 rows; for
// models that have less come short ones. The two sizes of a symbol have different remainders for
// each divisor from 2 to 9. Last come sizes for models that join images with what half and double
// sizes of them make: multiples of MULTIPLE, and their template is for those alone.
#define TRY_COUNT 4
#define MULTIPLE  32
typedef struct witness_sizes {
    int of_first[MAX_SYMBOLS + 1], of_others[MAX_SYMBOLS + 1]; // end with 0
} witness_sizes;

// clang-format off
static const witness_sizes sizes[TRY_COUNT][LN_WITNESS_COUNT] = {
    {{{ 11,  13,  17,  19}, {263, 269, 271, 277, 281, 283, 293, 307}},
     {{ 34,  86,  46,  62}, {334, 358, 302, 314, 382, 326, 346, 386}}},
    {{{367, 373, 379, 383}, {263, 269, 271, 277, 281, 283, 293, 307}},
     {{398, 446, 422, 394}, {334, 358, 302, 314, 382, 326, 346, 386}}},
    {{{ 11,  13,  17,  19}, { 47,  53,  59,  61}},
     {{ 34,  86,  46,  62}, { 58,  76,  78,  74}}},
    {{{ 11,  13,  17,  19}, {224, 352, 416, 544}},
     {{ 34,  86,  46,  62}, {320, 448, 704, 832}}},
};
// clang-format on

// Binds the model to the shapes of a witness. LN_UNSUPPORTED: there are not so many primes.
static ln_status bind_witness(ln_templates *templates, binding *b, int attempt, int witness)
{
    const int *first = sizes[attempt][witness].of_first, *other = sizes[attempt][witness].of_others;
    int of_symbol[MAX_SYMBOLS];
    for (size_t i = 0; i < b->symbol_count; i++) {
        const int **next = b->symbols[i].is_first ? &first : &other;
        of_symbol[i] = b->symbols[i].size;
        if (of_symbol[i] < 2)
            continue;
        if (**next == 0)
            return LN_FAIL(LN_UNSUPPORTED, "more dynamic dimensions than witnesses have primes");
        of_symbol[i] = *(*next)++;
    }
    for (size_t k = 0; k < b->count; k++)
        for (int d = 0; d < b->shapes[k].ndim; d++)
            if (b->symbol_of[k][d] >= 0)
                b->dims[k][d] = of_symbol[b->symbol_of[k][d]];
    return ln_context_set_run_shapes(templates->model, b->count, b->shapes);
}

// The limits are those of the real shapes' plans.
static void lift_limits(ln_context *ctx)
{
    ln_limits limits = ln_limits_default();
    limits.op_count = ctx->limits.op_count;
    (void)ln_context_set_limits(ctx, &limits);
}

// *out_is_fit: the facts are those of both witnesses, to whose second the model is bound.
static ln_status list_facts(ln_templates *templates, class_template *t, binding *b, int attempt,
                            bool *out_is_fit)
{
    *out_is_fit = false;
    for (int witness = 0; witness < LN_WITNESS_COUNT; witness++) {
        ln_status status = bind_witness(templates, b, attempt, witness);
        if (status != LN_OK)
            return is_fatal(status) ? status : LN_OK;
        LN_TRY(ln_facts_list(&t->facts, templates->model, witness));
    }
    return ln_facts_compare(&t->facts, out_is_fit);
}

// ---- Two lists of operators ----

// The rewritten operators of the witnesses.
typedef struct witnesses {
    ln_context *ctx[LN_WITNESS_COUNT];
    ln_hash *judged; // of both
    ln_status status[LN_WITNESS_COUNT];
} witnesses;

static bool has_same_tensors(const ln_list *a, const ln_list *b)
{
    for (; a && b; a = a->next, b = b->next) {
        const ln_tensor_list_entry *x = a->data, *y = b->data;
        if (!ln_streq(x->name, y->name) || !ln_streq(x->arg_name, y->arg_name))
            return false;
    }
    return !a && !b;
}

// *out_is_fit stays unless the numbers are no expression.
static ln_status compare_numbers(class_template *t, ln_param_entry *param, int index, double a,
                                 double b, bool *out_is_fit)
{
    if (memcmp(&a, &b, sizeof a) == 0)
        return LN_OK;
    number n = {.param = param, .index = index};
    *out_is_fit = ln_facts_find(&t->facts, (double[]){a, b}, &n.value);
    if (!*out_is_fit)
        return LN_OK;
    if (t->number_count == t->number_capacity) {
        size_t capacity = 2 * t->number_capacity + 64;
        number *more = ln_realloc(t->numbers, capacity * sizeof *more);
        if (!more)
            return LN_NO_MEMORY;
        t->numbers = more;
        t->number_capacity = capacity;
    }
    t->numbers[t->number_count++] = n;
    return LN_OK;
}

static bool has_same_words(const ln_param_entry *a, const ln_param_entry *b)
{
    for (int i = 0; i < a->array_len; i++)
        if (!ln_streq(a->value_array_string[i], b->value_array_string[i]))
            return false;
    return true;
}

static ln_status compare_param(class_template *t, ln_param_entry *a, const ln_param_entry *b,
                               bool *out_is_fit)
{
    *out_is_fit =
        ln_streq(a->arg_name, b->arg_name) && a->type == b->type && a->array_len == b->array_len;
    if (!*out_is_fit)
        return LN_OK;
    switch (a->type) {
    case LN_PARAM_NUMBER:
        return compare_numbers(t, a, -1, a->value_double, b->value_double, out_is_fit);
    case LN_PARAM_ARRAY_NUMBER:
        for (int i = 0; i < a->array_len && *out_is_fit; i++)
            LN_TRY(compare_numbers(t, a, i, a->value_array_double[i], b->value_array_double[i],
                                   out_is_fit));
        return LN_OK;
    case LN_PARAM_STRING: *out_is_fit = ln_streq(a->value_string, b->value_string); return LN_OK;
    case LN_PARAM_BOOL: *out_is_fit = a->value_bool == b->value_bool; return LN_OK;
    case LN_PARAM_ARRAY_STRING: *out_is_fit = has_same_words(a, b); return LN_OK;
    case LN_PARAM_ARRAY_BOOL:
        *out_is_fit = a->array_len == 0 || memcmp(a->value_array_bool, b->value_array_bool,
                                                  (size_t)a->array_len * sizeof(ln_bool)) == 0;
        return LN_OK;
    case LN_PARAM_NULL:
    case LN_PARAM_INVALID: break;
    }
    return LN_OK;
}

static bool has_same_inner_shape(const witnesses *w, const ln_list *listed_tensors)
{
    const ln_tensor_list_entry *listed;
    LN_LIST_FOREACH (listed, listed_tensors) {
        const ln_tensor_entry *a = ln_tensor_table_find(w->ctx[0]->tensor_table, listed->name);
        const ln_tensor_entry *b = ln_tensor_table_find(w->ctx[1]->tensor_table, listed->name);
        if (!a || !b || a->is_open != b->is_open || a->tensor->ndim != b->tensor->ndim)
            return false;
        for (int d = 1; d < a->tensor->ndim; d++)
            if (a->tensor->dims[d] != b->tensor->dims[d])
                return false;
    }
    return true;
}

static bool has_algorithms(const ln_op *op)
{
    const ln_op_info *info = op->op_arg->info;
    return info ? ln_op_info_find_param(info, "algorithm") != NULL
                : ln_param_list_find(op->op_arg->params, "algorithm") != NULL;
}

// Of several algorithms the arch has chosen one by the sizes, without that of the batch: it might
// choose another one elsewhere.
static bool is_chosen_by_size(const witnesses *w, const ln_op *op)
{
    return has_algorithms(op) && !(has_same_inner_shape(w, op->op_arg->tensors_in) &&
                                   has_same_inner_shape(w, op->op_arg->tensors_out));
}

// The next parameter that is not an algorithm; those are compared when all are known.
static const ln_list *skip_algorithm(const ln_list *params)
{
    const ln_param_entry *param = params ? params->data : NULL;
    return param && ln_streq(param->arg_name, "algorithm") ? params->next : params;
}

static ln_status compare_params(class_template *t, const ln_op *op, const ln_op *other,
                                bool *out_is_fit)
{
    bool skips = has_algorithms(op);
    const ln_list *a = op->op_arg->params, *b = other->op_arg->params;
    for (;; a = a->next, b = b->next) {
        a = skips ? skip_algorithm(a) : a;
        b = skips ? skip_algorithm(b) : b;
        if (!a || !b || !*out_is_fit)
            break;
        LN_TRY(compare_param(t, a->data, b->data, out_is_fit));
    }
    *out_is_fit = *out_is_fit && !a && !b;
    return LN_OK;
}

static ln_status compare_op(class_template *t, const witnesses *w, const ln_op *op,
                            bool *out_is_fit)
{
    const ln_op *other = ln_op_table_find(w->ctx[1]->op_table, op->op_arg->name);
    *out_is_fit = other && ln_streq(op->op_arg->optype, other->op_arg->optype) &&
                  ln_streq(op->op_arg->arch, other->op_arg->arch) &&
                  has_same_tensors(op->op_arg->tensors_in, other->op_arg->tensors_in) &&
                  has_same_tensors(op->op_arg->tensors_out, other->op_arg->tensors_out);
    if (*out_is_fit && is_chosen_by_size(w, op))
        LN_TRY(ln_choices_note(&t->choices, &t->facts, w->ctx, op->op_arg->name, out_is_fit));
    return *out_is_fit ? compare_params(t, op, other, out_is_fit) : LN_OK;
}

// Other algorithms than those that are chosen are the same.
static bool has_same_algorithms(const class_template *t, const witnesses *w)
{
    const ln_op *op;
    LN_LIST_FOREACH (op, w->ctx[0]->ops) {
        if (!has_algorithms(op) || ln_choices_have(&t->choices, op))
            continue;
        const ln_op *other = ln_op_table_find(w->ctx[1]->op_table, op->op_arg->name);
        const ln_param_entry *a = ln_param_list_find(op->op_arg->params, "algorithm");
        const ln_param_entry *b = ln_param_list_find(other->op_arg->params, "algorithm");
        if (!a != !b || (a && !ln_streq(a->value_string, b->value_string)))
            return false;
    }
    return true;
}

static ln_status compare_ops(class_template *t, const witnesses *w, bool *out_is_fit)
{
    size_t index = 0;
    for (const ln_list *l = w->ctx[0]->ops; l && *out_is_fit; l = l->next) {
        size_t number_count = t->number_count;
        LN_TRY(compare_op(t, w, l->data, out_is_fit));
        t->varies[index++] = t->number_count > number_count;
    }
    return LN_OK;
}

// What packs weights comes before the operator that reads them and says how.
static void note_chosen(class_template *t, const ln_context *rewritten)
{
    size_t index = 0;
    for (const ln_list *l = rewritten->ops; l; l = l->next, index++)
        t->varies[index] = t->varies[index] || ln_choices_have(&t->choices, l->data);
}

static ln_status compare_lists(class_template *t, const witnesses *w, bool *out_is_fit)
{
    size_t count = (size_t)ln_list_length(w->ctx[0]->ops);
    *out_is_fit = count == (size_t)ln_list_length(w->ctx[1]->ops);
    t->varies = ln_alloc_array(count + 1, sizeof *t->varies);
    if (!t->varies)
        return LN_NO_MEMORY;
    LN_TRY(compare_ops(t, w, out_is_fit));
    note_chosen(t, w->ctx[0]);
    *out_is_fit = *out_is_fit && has_same_algorithms(t, w);
    return LN_OK;
}

// ---- Making a template ----

// The second is only compared by names: its order does not matter.
static void rewrite_witness(const ln_templates *templates, witnesses *w, int witness)
{
    ln_optimize_options options = templates->options;
    options.stop_after = witness == 0 ? NULL : "schedule";
    w->status[witness] = ln_context_optimize_with(w->ctx[witness], templates->target, &options);
}

static ln_status clone_witness(const ln_templates *templates, witnesses *w, int witness)
{
    LN_TRY(ln_context_clone(templates->model, &w->ctx[witness]));
    w->ctx[witness]->timeout = templates->model->timeout;
    w->ctx[witness]->judged = w->judged;
    lift_limits(w->ctx[witness]);
    return LN_OK;
}

static ln_status rewrite_witnesses(ln_templates *templates, class_template *t, binding *b,
                                   int attempt, witnesses *w, bool *out_is_fit)
{
    *out_is_fit = false;
    LN_TRY(clone_witness(templates, w, 1));
    LN_TRY(bind_witness(templates, b, attempt, 0));
    LN_TRY(clone_witness(templates, w, 0));
    for (int witness = 0; witness < LN_WITNESS_COUNT; witness++) {
        rewrite_witness(templates, w, witness);
        if (w->status[witness] != LN_OK)
            return is_fatal(w->status[witness]) ? w->status[witness] : LN_OK;
    }
    LN_TRY(compare_lists(t, w, out_is_fit));
    if (*out_is_fit) {
        t->rewritten = w->ctx[0];
        t->rewritten->judged = NULL;
        w->ctx[0] = NULL;
    }
    return LN_OK;
}

static ln_status fill_template(ln_templates *templates, class_template *t, binding *b)
{
    bool is_fit = false;
    int attempt = 0;
    for (; attempt < TRY_COUNT && !is_fit; attempt++) {
        ln_facts_deinit(&t->facts);
        LN_TRY(list_facts(templates, t, b, attempt, &is_fit));
    }
    if (!is_fit)
        return LN_OK;
    t->multiple = attempt == TRY_COUNT ? MULTIPLE : 1;
    witnesses w = {.judged = ln_hash_create(ln_name_hash, ln_str_cmp, ln_free, NULL)};
    ln_status status =
        w.judged ? rewrite_witnesses(templates, t, b, attempt - 1, &w, &is_fit) : LN_NO_MEMORY;
    ln_context_free(w.ctx[0]);
    ln_context_free(w.ctx[1]);
    ln_hash_free(w.judged);
    return status;
}

// Takes `class_key` over. The model may be bound to another shape afterwards.
static ln_status make_template(ln_templates *templates, char *class_key, binding *b,
                               class_template **out_template)
{
    class_template *t = ln_alloc(sizeof *t);
    if (!t) {
        ln_free(class_key);
        return LN_NO_MEMORY;
    }
    *t = (class_template){.class_key = class_key,
                          .choices.avoids_winograd = templates->options.avoids_winograd};
    ln_limits limits = templates->model->limits;
    lift_limits(templates->model);
    ln_error_state earlier;
    ln_error_save(&earlier);
    ln_status status = fill_template(templates, t, b);
    (void)ln_context_set_limits(templates->model, &limits);
    if (status != LN_OK) {
        template_destroy(t);
        return status;
    }
    ln_error_restore(&earlier); // a witness that fails is no failure of the call
    class_template **row = &templates->templates[templates->made_count++ % MAX_TEMPLATES];
    template_destroy(*row);
    *row = *out_template = t;
    return LN_OK;
}

static ln_status find_template(ln_templates *templates, binding *b, class_template **out_template)
{
    char *class_key = make_class_key(b);
    if (!class_key)
        return LN_NO_MEMORY;
    for (size_t i = 0; i < MAX_TEMPLATES; i++) {
        if (!templates->templates[i] || !ln_streq(templates->templates[i]->class_key, class_key))
            continue;
        ln_free(class_key);
        *out_template = templates->templates[i];
        return LN_OK;
    }
    return make_template(templates, class_key, b, out_template);
}

static bool has_multiples(const class_template *t, const binding *b)
{
    for (size_t i = 0; i < b->symbol_count; i++)
        if (!b->symbols[i].is_first && b->symbols[i].size >= 2 &&
            b->symbols[i].size % t->multiple != 0)
            return false;
    return true;
}

// ---- Instances ----

static bool set_numbers(const class_template *t)
{
    for (size_t i = 0; i < t->number_count; i++) {
        const number *n = &t->numbers[i];
        double x = ln_facts_value(&t->facts, &n->value);
        if (fabs(x) > INT32_MAX)
            return false;
        ln_param_entry *p = n->param;
        *(n->index < 0 ? &p->value_double : &p->value_array_double[n->index]) = x;
        *(n->index < 0 ? &p->value_float : &p->value_array_float[n->index]) =
            ln_param_saturate_float(x);
        *(n->index < 0 ? &p->value_int : &p->value_array_int[n->index]) = ln_param_saturate_int(x);
    }
    return true;
}

// A tensor that has kept its name has the shape that the model as read gives it.
static bool agrees(const ln_context *instance, const ln_context *model)
{
    size_t cursor = 0;
    void *value;
    while (ln_hash_next(instance->tensor_table, &cursor, NULL, &value)) {
        const ln_tensor_entry *made = value;
        const ln_tensor_entry *read = ln_tensor_table_find(model->tensor_table, made->name);
        if (read && (made->is_open != read->is_open || made->tensor->dtype != read->tensor->dtype ||
                     !tl_tensor_issameshape(made->tensor, read->tensor)))
            return false;
    }
    return true;
}

static ln_status copy_template(class_template *t, const ln_constants *spared_by,
                               ln_context **out_instance)
{
    if (!spared_by)
        return ln_context_clone(t->rewritten, out_instance);
    if (!t->spares)
        LN_TRY(ln_spares_create(t->rewritten, t->varies, &t->spares));
    LN_TRY(ln_spares_find(t->spares, spared_by));
    return ln_context_clone_spared(t->rewritten, t->spares, out_instance);
}

static ln_status make_instance(const ln_templates *templates, class_template *t,
                               const ln_context *ctx, const ln_constants *spared_by,
                               ln_context **out_instance)
{
    bool is_fit = false;
    LN_TRY(ln_facts_derive(&t->facts, templates->model, &is_fit));
    if (!is_fit || !set_numbers(t))
        return LN_OK;
    LN_TRY(ln_choices_make(&t->choices, &t->facts, &is_fit));
    if (!is_fit)
        return LN_OK;
    ln_error_state earlier;
    ln_error_save(&earlier);
    (void)ln_context_set_limits(t->rewritten, &ctx->limits);
    t->rewritten->timeout = ctx->timeout;
    ln_context *instance = NULL;
    ln_status status = copy_template(t, spared_by, &instance);
    if (is_fatal(status))
        return status;
    ln_error_restore(&earlier);
    if (status == LN_OK && agrees(instance, templates->model))
        *out_instance = instance;
    else
        ln_context_free(instance);
    return LN_OK;
}

// ---- From a model to an instance ----

static bool can_have_templates(const ln_templates *templates, const binding *b)
{
    bool is_any_generic = false;
    for (size_t i = 0; i < b->symbol_count; i++)
        is_any_generic = is_any_generic || b->symbols[i].size >= 2;
    return is_any_generic && !templates->source->graphs && !templates->options.tunes &&
           !templates->options.stays_as_read;
}

static ln_status need_model(ln_templates *templates, const ln_context *ctx)
{
    if (templates->model && templates->model->state != LN_CONTEXT_READY) {
        ln_context_free(templates->model);
        templates->model = NULL;
    }
    if (!templates->model)
        LN_TRY(ln_context_clone(templates->source, &templates->model));
    (void)ln_context_set_limits(templates->model, &ctx->limits);
    templates->model->timeout = ctx->timeout;
    return LN_OK;
}

static ln_status make_for(ln_templates *templates, const ln_context *ctx, binding *b, size_t count,
                          const ln_input_shape *shapes, const ln_constants *spared_by,
                          ln_context **out_instance)
{
    LN_TRY(need_model(templates, ctx));
    class_template *t;
    LN_TRY(find_template(templates, b, &t));
    if (!t->rewritten || !has_multiples(t, b))
        return LN_OK;
    LN_TRY(ln_context_set_run_shapes(templates->model, count, shapes));
    return make_instance(templates, t, ctx, spared_by, out_instance);
}

ln_status ln_templates_make(ln_templates *templates, const ln_context *ctx, size_t count,
                            const ln_input_shape *shapes, const ln_constants *spared_by,
                            ln_context **out_instance)
{
    *out_instance = NULL;
    binding b = {0};
    bool is_fit;
    ln_status status = binding_init(&b, templates->source, count, shapes, &is_fit);
    if (status == LN_OK && is_fit && can_have_templates(templates, &b))
        status = make_for(templates, ctx, &b, count, shapes, spared_by, out_instance);
    binding_deinit(&b);
    return status;
}
