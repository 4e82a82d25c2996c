// SPDX-License-Identifier: Apache-2.0
// Notes of the matcher in words. Only the command has this file; see why.h.

#include "pass/why.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <lightnet/util.h>

#include "ir/context.h"
#include "ir/dfg.h"

enum { TEXT_BYTES = 1024, SHOWN_ELEMENTS = 8, SHOWN_TENSORS = 4 };

static ln_why *watched; // the first
static ln_why *asked;   // whose rule is tried; NULL: another one is

void ln_why_ask(ln_why *why)
{
    watched = why;
    asked = NULL;
    for (; why; why = why->next)
        why->progress = -1;
}

void ln_why_begin(const ln_rule *rule, const ln_op *root)
{
    (void)root;
    asked = watched;
    while (asked && !(ln_streq(rule->name, asked->rule) && rule->line == asked->line &&
                      ln_streq(rule->file ? rule->file : "", asked->file)))
        asked = asked->next;
    if (asked)
        asked->tried_count++;
}

void ln_why_matched(void)
{
    if (asked)
        asked->matched_count++;
}

bool ln_why_miss(const ln_match *match, int progress, const ln_op *op, const char *fmt, ...)
{
    if (!asked || progress <= asked->progress)
        return false;
    const ln_op_arg *root = match->ops[0]->op_arg;
    asked->progress = progress;
    snprintf(asked->op, sizeof asked->op, "%s", root->name);
    snprintf(asked->optype, sizeof asked->optype, "%s", root->optype);
    size_t used = 0;
    if (op)
        used = (size_t)snprintf(asked->reason, sizeof asked->reason,
                                "operator '%s' (%s): ", op->op_arg->name, op->op_arg->optype);
    va_list args;
    va_start(args, fmt);
    vsnprintf(asked->reason + used, sizeof asked->reason - used, fmt, args);
    va_end(args);
    return false;
}

// ---- Texts ----

typedef struct text {
    char *bytes;
    size_t used;
} text;

static text new_text(void)
{
    static char buffers[6][TEXT_BYTES];
    static unsigned next;
    text t = {.bytes = buffers[next++ % 6]};
    t.bytes[0] = '\0';
    return t;
}

static void put(text *t, const char *fmt, ...) LN_PRINTF(2, 3);

static void put(text *t, const char *fmt, ...)
{
    if (t->used >= TEXT_BYTES)
        return;
    va_list args;
    va_start(args, fmt);
    int len = vsnprintf(t->bytes + t->used, TEXT_BYTES - t->used, fmt, args);
    va_end(args);
    t->used += len > 0 ? (size_t)len : 0;
}

static void put_array(text *t, const double *numbers, size_t count)
{
    put(t, "[");
    for (size_t i = 0; i < count && i < SHOWN_ELEMENTS; i++)
        put(t, "%s%.9g", i ? ", " : "", numbers[i]);
    put(t, "%s", count > SHOWN_ELEMENTS ? ", ...]" : "]");
}

const char *ln_why_param(const ln_param_entry *entry)
{
    text t = new_text();
    if (!entry) {
        put(&t, "absent");
        return t.bytes;
    }
    switch (entry->type) {
    case LN_PARAM_NUMBER: put(&t, "%.9g", entry->value_double); break;
    case LN_PARAM_STRING: put(&t, "\"%s\"", entry->value_string ? entry->value_string : ""); break;
    case LN_PARAM_BOOL: put(&t, "%s", entry->value_bool ? "true" : "false"); break;
    case LN_PARAM_ARRAY_NUMBER:
        put_array(&t, entry->value_array_double, (size_t)entry->array_len);
        break;
    case LN_PARAM_ARRAY_STRING:
        for (int i = 0; i < entry->array_len && i < SHOWN_ELEMENTS; i++)
            put(&t, "%s\"%s\"", i ? ", " : "[", entry->value_array_string[i]);
        put(&t, "%s", entry->array_len ? "]" : "[]");
        break;
    case LN_PARAM_ARRAY_BOOL:
        for (int i = 0; i < entry->array_len && i < SHOWN_ELEMENTS; i++)
            put(&t, "%s%s", i ? ", " : "[", entry->value_array_bool[i] ? "true" : "false");
        put(&t, "%s", entry->array_len ? "]" : "[]");
        break;
    default: put(&t, "null"); break;
    }
    return t.bytes;
}

const char *ln_why_name(const ln_match *match, int name)
{
    return name == LN_RULE_ANY ? "_" : match->rule->names[name];
}

// ---- Expressions, out of their steps ----

static size_t arity_of(const ln_rule_step *step)
{
    if (step->kind == LN_RULE_STEP_ARRAY)
        return (size_t)step->index;
    if (step->kind != LN_RULE_STEP_CALL)
        return 0;
    const char *signature = ln_rule_function_signature((ln_rule_function)step->index);
    return strcspn(signature, ">");
}

// The first step of the expression that ends with step `last`.
static size_t first_of(const ln_rule_step *code, size_t last)
{
    size_t first = last;
    for (size_t i = arity_of(&code[last]); i > 0; i--)
        first = first_of(code, first - 1);
    return first;
}

static void put_steps(text *t, const ln_match *match, const ln_rule_step *code, size_t last);

// The arguments of step `last`, in their order, with `between` between them.
static void put_args(text *t, const ln_match *match, const ln_rule_step *code, size_t last,
                     const char *between)
{
    size_t ends[LN_RULE_MAX_CODE], count = arity_of(&code[last]), end = last;
    for (size_t i = count; i > 0; i--) {
        ends[i - 1] = end - 1;
        end = first_of(code, end - 1);
    }
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            put(t, "%s", between);
        put_steps(t, match, code, ends[i]);
    }
}

static void put_call(text *t, const ln_match *match, const ln_rule_step *code, size_t last)
{
    static const struct {
        const char *function, *sign;
    } signs[] = {{"add", " + "}, {"sub", " - "}, {"mul", " * "}, {"div", " / "}};
    const char *name = ln_rule_function_name((ln_rule_function)code[last].index);
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        if (!ln_streq(signs[i].function, name))
            continue;
        put(t, "(");
        put_args(t, match, code, last, signs[i].sign);
        put(t, ")");
        return;
    }
    bool is_element = ln_streq(name, "at");
    if (!is_element)
        put(t, "%s(", name);
    put_args(t, match, code, last, is_element ? "[" : ", ");
    put(t, "%s", is_element ? "]" : ")");
}

static void put_steps(text *t, const ln_match *match, const ln_rule_step *code, size_t last)
{
    const ln_rule_step *step = &code[last];
    switch (step->kind) {
    case LN_RULE_STEP_NUMBER: put(t, "%.9g", step->number); break;
    case LN_RULE_STEP_STRING: put(t, "\"%s\"", step->string); break;
    case LN_RULE_STEP_BOOL: put(t, "%s", step->number != 0 ? "true" : "false"); break;
    case LN_RULE_STEP_VALUE:
    case LN_RULE_STEP_TENSOR: put(t, "%s", ln_why_name(match, step->index)); break;
    case LN_RULE_STEP_ARRAY:
        put(t, "[");
        put_args(t, match, code, last, ", ");
        put(t, "]");
        break;
    case LN_RULE_STEP_CALL: put_call(t, match, code, last); break;
    }
}

static void put_value(text *t, const ln_match *match, const ln_rule_value *value)
{
    switch (value->kind) {
    case LN_RULE_NUMBER: put(t, "%.9g", value->number); break;
    case LN_RULE_STRING: put(t, "\"%s\"", value->string); break;
    case LN_RULE_BOOL: put(t, "%s", value->boolean ? "true" : "false"); break;
    case LN_RULE_NAME: put(t, "%s", ln_why_name(match, value->name)); break;
    case LN_RULE_EXPR: put_steps(t, match, value->code, value->count - 1); break;
    case LN_RULE_ABSENT: put(t, "absent"); break;
    case LN_RULE_ARRAY:
        put(t, "[");
        for (size_t i = 0; i < value->count; i++) {
            put(t, "%s", i ? ", " : "");
            put_value(t, match, &value->elements[i]);
        }
        put(t, "]");
        break;
    }
}

const char *ln_why_value(const ln_match *match, const ln_rule_value *value)
{
    text t = new_text();
    put_value(&t, match, value);
    return t.bytes;
}

// ---- Tensors ----

static void put_tensor(text *t, const ln_context *ctx, const char *name)
{
    const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, name);
    put(t, "'%s'", name);
    if (!entry)
        return;
    char shape[LN_SHAPE_TEXT_BYTES];
    const ln_op *maker = ln_dfg_maker(ctx->dfg, name);
    size_t reader_count = 0;
    ln_dfg_readers readers = ln_dfg_find_readers(ctx->dfg, name);
    while (ln_dfg_next_reader(&readers))
        reader_count++;
    if (entry->is_open)
        put(t, " of dynamic shape");
    else
        put(t, " %s %s", tl_dtype_name(entry->tensor->dtype),
            ln_sprint_shape(shape, sizeof shape, entry->tensor->ndim, entry->tensor->dims));
    put(t, "%s, read %zu time%s",
        maker && ln_op_is_input(maker->op_arg) ? ", an input"
        : entry->isstatic                      ? ", constant"
                                               : ", not constant",
        reader_count, reader_count == 1 ? "" : "s");
}

const char *ln_why_tensors(const ln_context *ctx, const ln_match *match, int name)
{
    text t = new_text();
    size_t count;
    const char *const *tensors = ln_match_tensors(match, name, &count);
    put(&t, "%s is %s", ln_why_name(match, name), count ? "" : "absent");
    for (size_t i = 0; i < count && i < SHOWN_TENSORS; i++) {
        put(&t, "%s", i ? " and " : "");
        put_tensor(&t, ctx, tensors[i]);
    }
    if (count > SHOWN_TENSORS)
        put(&t, " and %zu more", count - SHOWN_TENSORS);
    return t.bytes;
}

// ---- Conditions ----

static const char *sign_of(const ln_rule_condition *c)
{
    static const struct {
        const char *predicate, *sign, *negated;
    } signs[] = {{"equal", "==", "!="}, {"less", "<", ">="}, {"at_most", "<=", ">"}};
    const char *name = ln_rule_predicate_name(c->predicate);
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
        if (ln_streq(signs[i].predicate, name))
            return c->is_negated ? signs[i].negated : signs[i].sign;
    return NULL;
}

static void put_condition(text *t, const ln_match *match, const ln_rule_condition *c)
{
    const char *sign = sign_of(c);
    if (!sign)
        put(t, "%s%s(", c->is_negated ? "not " : "", ln_rule_predicate_name(c->predicate));
    for (size_t i = 0; i < c->arg_count; i++) {
        if (i > 0 && sign)
            put(t, " %s ", sign);
        else if (i > 0)
            put(t, ", ");
        put_value(t, match, &c->args[i]);
    }
    if (!sign)
        put(t, ")");
}

// What the arguments are: "x is 'conv1.y' TL_FLOAT [1, 8], not constant, read 2 times".
static void put_found(text *t, const ln_context *ctx, const ln_match *match,
                      const ln_rule_condition *c)
{
    const char *signature = ln_rule_predicate_signature(c->predicate), *comma = "";
    for (size_t i = 0; i < c->arg_count; i++) {
        const ln_rule_value *value = &c->args[i];
        double buffer[LN_RULE_MAX_ELEMENTS];
        ln_expr_value found;
        if (strchr("tTL", signature[i])) {
            put(t, "%s%s", comma, ln_why_tensors(ctx, match, value->name));
        } else if (value->kind != LN_RULE_NAME && value->kind != LN_RULE_EXPR) {
            continue;
        } else if (!ln_match_value(ctx, match, value, buffer, &found)) {
            put(t, "%s%s has no value", comma, ln_why_value(match, value));
        } else {
            put(t, "%s%s is ", comma, ln_why_value(match, value));
            if (found.kind == LN_RULE_NUMBER)
                put(t, "%.9g", found.number);
            else if (found.kind == LN_RULE_STRING)
                put(t, "\"%s\"", found.string);
            else if (found.kind == LN_RULE_BOOL)
                put(t, "%s", found.boolean ? "true" : "false");
            else
                put_array(t, found.numbers, found.count);
        }
        comma = "; ";
    }
}

const char *ln_why_conditions(const ln_context *ctx, const ln_match *match,
                              const ln_rule_condition *first)
{
    text t = new_text();
    const ln_rule_condition *c = first;
    for (;; c++) {
        put_condition(&t, match, c);
        if (!c->has_other)
            break;
        put(&t, " or ");
    }
    put(&t, " does not hold: ");
    for (c = first;; c++) {
        put_found(&t, ctx, match, c);
        if (!c->has_other)
            break;
        put(&t, "; ");
    }
    return t.bytes;
}
