// SPDX-License-Identifier: Apache-2.0
// The parser's mirror. It refuses what the parser would refuse, so that what is printed can be
// read.

#include "serial/il/il_print.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/safe_text.h"
#include "base/utf8.h"
#include "serial/il/il_lex.h"
#include "serial/il/il_names.h"

// What compiling adds and finds again; everything else that IL has no place for is refused.
static const char *const derived_of_model[] = {"mem_sizes_h", "mem_sizes_l", "mem_sizes", "format",
                                               "version",     "target",      NULL};
static const char *const derived_of_op[] = {"arch", "subgraph", NULL};
static const char *const derived_of_tensor[] = {"dims",     "dtype",    "mtype",  "offset", "size",
                                                "offset_h", "offset_l", "static", NULL};
static const char *const derived_of_param[] = {NULL};

static const char *const keys_of_model[] = {"ops", "graphs", "info", NULL};
static const char *const keys_of_graph[] = {"name", "ops", NULL};
static const char *const keys_of_op[] = {"name",        "optype", "tensors_in",
                                         "tensors_out", "params", NULL};
static const char *const keys_of_tensor[] = {"arg_name", "name", NULL};
static const char *const keys_of_param[] = {"arg_name", "value", NULL};

typedef struct printer {
    ln_text *text;
    ln_document *arena;
    ln_il_names optypes;
    ln_il_names names;
    ln_il_names args;
    size_t op_count;
} printer;

// ---- The tree ----

static bool is_in(const char *key, const char *const *keys)
{
    while (*keys && strcmp(*keys, key) != 0)
        keys++;
    return *keys != NULL;
}

static ln_status check_object(const ln_value *value, const char *what, const char *const *keys,
                              const char *const *derived)
{
    if (value->kind != LN_VALUE_OBJECT)
        return ln_fail_at(value->place, LN_INVALID, "expected %s, an object, found %s", what,
                          ln_value_kind_text(value->kind));
    for (const ln_value *member = value->first; member; member = member->next)
        if (!is_in(member->key, keys) && !is_in(member->key, derived))
            return ln_fail_at(member->key_place, LN_UNSUPPORTED,
                              "IL has no place for '%.100s' of %s", member->key, what);
    return LN_OK;
}

static ln_status get(const ln_value *object, const char *key, const ln_value **out_value)
{
    *out_value = ln_value_get(object, key);
    return *out_value ? LN_OK : ln_fail_at(object->place, LN_INVALID, "'%s' is missing here", key);
}

static ln_status get_array(const ln_value *object, const char *key, const ln_value **out_value)
{
    LN_TRY(get(object, key, out_value));
    if ((*out_value)->kind != LN_VALUE_ARRAY)
        return ln_fail_at((*out_value)->place, LN_INVALID, "'%s' is %s, not an array", key,
                          ln_value_kind_text((*out_value)->kind));
    return LN_OK;
}

static ln_status check_text(const ln_value *string)
{
    size_t at;
    if (!ln_il_is_utf8(string->text, string->text_len, &at))
        return ln_fail_at(string->place, LN_INVALID,
                          "byte %zu of this string is not UTF-8, or is NUL", at);
    return LN_OK;
}

static ln_status get_name(const ln_value *object, const char *key, const ln_value **out_value)
{
    LN_TRY(get(object, key, out_value));
    if ((*out_value)->kind != LN_VALUE_STRING)
        return ln_fail_at((*out_value)->place, LN_INVALID, "'%s' is %s, not a string", key,
                          ln_value_kind_text((*out_value)->kind));
    if ((*out_value)->text_len == 0)
        return ln_fail_at((*out_value)->place, LN_INVALID, "'%s' is empty", key);
    return check_text(*out_value);
}

// ---- Values ----

static bool is_bare(const ln_value *string)
{
    static const char *const keywords[] = {"true", "false", "null", "graph", "info", NULL};
    return ln_il_lex_kind(string->text, string->text_len) == LN_IL_NAME &&
           !is_in(string->text, keywords);
}

static ln_status print_quoted(printer *p, const ln_value *string)
{
    static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
    LN_TRY(check_text(string));
    ln_text_puts(p->text, "\"");
    for (size_t i = 0, taken; i < string->text_len; i += taken) {
        uint32_t c;
        taken = ln_utf8_get(string->text + i, &c);
        const char *known = c < 0x80 ? memchr(from, (int)c, sizeof from - 1) : NULL;
        if (known)
            ln_text_printf(p->text, "\\%c", to[known - from]);
        else if (!ln_is_safe_code(c))
            ln_text_printf(p->text, "\\u%04x", (unsigned)c);
        else
            ln_text_append(p->text, string->text + i, taken);
    }
    ln_text_puts(p->text, "\"");
    return LN_OK;
}

static ln_status print_string(printer *p, const ln_value *string)
{
    if (!is_bare(string))
        return print_quoted(p, string);
    ln_text_append(p->text, string->text, string->text_len);
    return LN_OK;
}

static ln_status print_scalar(printer *p, const ln_value *value)
{
    char spelling[32];
    switch (value->kind) {
    case LN_VALUE_NULL: ln_text_puts(p->text, "null"); return LN_OK;
    case LN_VALUE_BOOL: ln_text_puts(p->text, value->boolean ? "true" : "false"); return LN_OK;
    case LN_VALUE_STRING: return print_string(p, value);
    case LN_VALUE_NUMBER:
        if (!isfinite(value->number))
            return ln_fail_at(value->place, LN_UNSUPPORTED, "IL writes no infinities and no NaN");
        ln_number_print(value->number, spelling);
        ln_text_puts(p->text, spelling);
        return LN_OK;
    default:
        return ln_fail_at(value->place, LN_UNSUPPORTED, "IL cannot write %s here",
                          ln_value_kind_text(value->kind));
    }
}

static ln_status print_param_value(printer *p, const ln_value *value)
{
    if (value->kind != LN_VALUE_ARRAY)
        return print_scalar(p, value);
    ln_text_puts(p->text, "[");
    for (const ln_value *element = value->first; element; element = element->next) {
        // The old il2json knew no bare words in arrays.
        if (element->kind == LN_VALUE_STRING)
            LN_TRY(print_quoted(p, element));
        else
            LN_TRY(print_scalar(p, element));
        if (element->next)
            ln_text_puts(p->text, ", ");
    }
    ln_text_puts(p->text, "]");
    return LN_OK;
}

// ---- Operators ----

static ln_status print_arg(printer *p, const ln_value *arg, bool is_param)
{
    const ln_value *arg_name, *value;
    if (is_param)
        LN_TRY(check_object(arg, "a parameter", keys_of_param, derived_of_param));
    else
        LN_TRY(check_object(arg, "a tensor", keys_of_tensor, derived_of_tensor));
    LN_TRY(get_name(arg, "arg_name", &arg_name));
    ln_il_name *entry = ln_il_names_add(&p->args, p->arena, arg_name->text, arg_name->text_len);
    if (!entry)
        return LN_NO_MEMORY;
    if (entry->number == p->op_count)
        return ln_fail_at(arg_name->place, LN_INVALID,
                          "the operator has the argument '%.100s' twice", arg_name->text);
    entry->number = p->op_count;
    LN_TRY(print_string(p, arg_name));
    ln_text_puts(p->text, "=");
    if (is_param) {
        LN_TRY(get(arg, "value", &value));
        return print_param_value(p, value);
    }
    LN_TRY(get_name(arg, "name", &value));
    return print_string(p, value);
}

static ln_status print_args(printer *p, const ln_value *op, const char *key)
{
    const ln_value *args;
    LN_TRY(get_array(op, key, &args));
    for (const ln_value *arg = args->first; arg; arg = arg->next) {
        LN_TRY(print_arg(p, arg, strcmp(key, "params") == 0));
        if (arg->next)
            ln_text_puts(p->text, ", ");
    }
    return LN_OK;
}

// Is `name` what the parser would call the operator with this number?
static bool is_generated(const ln_value *name, const ln_value *optype, size_t number)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%zu", number);
    return name->text_len > optype->text_len &&
           memcmp(name->text, optype->text, optype->text_len) == 0 &&
           strcmp(name->text + optype->text_len, digits) == 0;
}

static ln_status print_head(printer *p, const ln_value *op)
{
    const ln_value *name, *optype;
    LN_TRY(get_name(op, "name", &name));
    LN_TRY(get_name(op, "optype", &optype));
    ln_il_name *named = ln_il_names_add(&p->names, p->arena, name->text, name->text_len);
    ln_il_name *typed = ln_il_names_add(&p->optypes, p->arena, optype->text, optype->text_len);
    if (!named || !typed)
        return LN_NO_MEMORY;
    if (named->number++ > 0)
        return ln_fail_at(name->place, LN_INVALID, "two operators have the name '%.100s'",
                          name->text);
    if (!is_generated(name, optype, typed->number++)) {
        LN_TRY(print_string(p, name));
        ln_text_puts(p->text, ": ");
    }
    return print_string(p, optype);
}

static ln_status print_op(printer *p, const ln_value *op)
{
    p->op_count++;
    LN_TRY(check_object(op, "an operator", keys_of_op, derived_of_op));
    LN_TRY(print_head(p, op));
    ln_text_puts(p->text, "(");
    size_t start = p->text->len;
    LN_TRY(print_args(p, op, "tensors_in"));
    ln_text_puts(p->text, p->text->len > start ? " | " : "| ");
    start = p->text->len;
    LN_TRY(print_args(p, op, "tensors_out"));
    ln_text_puts(p->text, p->text->len > start ? " |" : "|");
    start = p->text->len;
    ln_text_puts(p->text, " ");
    LN_TRY(print_args(p, op, "params"));
    if (p->text->len == start + 1)
        p->text->bytes[--p->text->len] = '\0'; // nothing followed
    ln_text_puts(p->text, ");\n");
    return p->text->status;
}

// Each graph numbers its operators anew.
static ln_status print_ops(printer *p, const ln_value *model, const char *indent)
{
    const ln_value *ops;
    LN_TRY(get_array(model, "ops", &ops));
    p->optypes = p->names = (ln_il_names){0};
    for (const ln_value *op = ops->first; op; op = op->next) {
        ln_text_puts(p->text, indent);
        LN_TRY(print_op(p, op));
    }
    return LN_OK;
}

static ln_status print_graph(printer *p, const ln_value *graph)
{
    const ln_value *name;
    LN_TRY(check_object(graph, "a graph", keys_of_graph, derived_of_model));
    LN_TRY(get_name(graph, "name", &name));
    ln_text_puts(p->text, "\ngraph ");
    LN_TRY(print_string(p, name));
    ln_text_puts(p->text, " {\n");
    LN_TRY(print_ops(p, graph, "    "));
    ln_text_puts(p->text, "}\n");
    return p->text->status;
}

// The texts of an array, or of its pairs one after the other.
static ln_status print_texts(printer *p, const ln_value *array, bool *is_first)
{
    for (const ln_value *element = array->first; element; element = element->next) {
        if (element->kind == LN_VALUE_ARRAY) {
            LN_TRY(print_texts(p, element, is_first));
            continue;
        }
        if (element->kind != LN_VALUE_STRING)
            return ln_fail_at(element->place, LN_INVALID, "metadata are texts, not %s",
                              ln_value_kind_text(element->kind));
        ln_text_puts(p->text, *is_first ? "" : ", ");
        *is_first = false;
        LN_TRY(print_quoted(p, element));
    }
    return LN_OK;
}

static ln_status print_info(printer *p, const ln_value *info)
{
    ln_text_puts(p->text, "\ninfo {\n");
    for (const ln_value *member = info->first; member; member = member->next) {
        bool is_first = true, is_array = member->kind == LN_VALUE_ARRAY;
        const ln_value key = {.text = member->key, .text_len = strlen(member->key)};
        ln_text_puts(p->text, "    ");
        if (ln_il_lex_kind(key.text, key.text_len) == LN_IL_NAME)
            ln_text_puts(p->text, key.text);
        else
            LN_TRY(print_quoted(p, &key));
        ln_text_puts(p->text, is_array ? "=[" : "=");
        if (is_array)
            LN_TRY(print_texts(p, member, &is_first));
        else if (member->kind == LN_VALUE_STRING)
            LN_TRY(print_quoted(p, member));
        else
            return ln_fail_at(member->place, LN_INVALID, "metadata are texts, not %s",
                              ln_value_kind_text(member->kind));
        ln_text_puts(p->text, is_array ? "];\n" : ";\n");
    }
    ln_text_puts(p->text, "}\n");
    return p->text->status;
}

static ln_status print_model(printer *p, const ln_value *model)
{
    LN_TRY(check_object(model, "a model", keys_of_model, derived_of_model));
    LN_TRY(print_ops(p, model, ""));
    const ln_value *info = ln_value_get(model, "info");
    if (info && info->kind == LN_VALUE_OBJECT)
        LN_TRY(print_info(p, info));
    const ln_value *graphs = ln_value_get(model, "graphs");
    for (const ln_value *graph = graphs ? graphs->first : NULL; graph; graph = graph->next)
        LN_TRY(print_graph(p, graph));
    return LN_OK;
}

ln_status ln_il_print(const ln_value *model, ln_text *text)
{
    if (!model)
        return LN_FAIL(LN_INVALID, "no model to print");
    if (text->status != LN_OK)
        return text->status;
    printer p = {.text = text};
    size_t len = text->len;
    LN_TRY(ln_document_create(NULL, &p.arena));
    ln_status status = print_model(&p, model);
    ln_document_destroy(p.arena);
    if (status != LN_OK && text->bytes) {
        text->len = len;
        text->bytes[len] = '\0';
    }
    return status;
}
