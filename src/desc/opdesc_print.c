// SPDX-License-Identifier: Apache-2.0
// Which names snippets mention, what the private struct keeps, and lines of code.

#include "desc/opdesc_print.h"

#include <string.h>

#include "desc/cident.h"
#include "desc/csnippet.h"

// ---- Scopes: all snippets that share one function, in one text ----

static void scope_add(ln_text *scope, const char *snippet)
{
    if (snippet) {
        ln_text_puts(scope, snippet);
        ln_text_puts(scope, "\n;");
    }
}

static void scope_add_checks(ln_text *scope, const char *check, const ln_value *checks)
{
    scope_add(scope, check);
    for (const ln_value *item = checks ? checks->first : NULL; item; item = item->next)
        scope_add(scope, ln_opdesc_check_text(item));
}

static void scope_add_tensor(ln_text *scope, const ln_opdesc_tensor *t, bool is_out)
{
    const char *snippets[] = {t->ndim,  t->len,   t->custom, is_out ? t->dtype : NULL,
                              t->shape, t->owner, t->cleanup};
    for (size_t i = 0; i < sizeof snippets / sizeof snippets[0]; i++)
        scope_add(scope, snippets[i]);
    scope_add_checks(scope, t->check, t->checks);
    if (t->dims && t->dims->kind == LN_VALUE_STRING)
        scope_add(scope, t->dims->text);
    for (const ln_value *dim = t->dims ? t->dims->first : NULL; dim; dim = dim->next)
        scope_add(scope, dim->text);
}

void ln_gen_scope_of_prepare(ln_text *scope, const ln_opdesc *op)
{
    for (size_t i = 0; i < op->in_count; i++)
        scope_add_tensor(scope, &op->ins[i], false);
    for (size_t i = 0; i < op->out_count; i++)
        scope_add_tensor(scope, &op->outs[i], true);
    for (size_t i = 0; i < op->param_count; i++) {
        const ln_opdesc_param *p = &op->params[i];
        for (int bound = 0; bound < LN_DESC_BOUNDS; bound++)
            scope_add(scope, p->bounds[bound]);
        scope_add(scope, p->len);
        scope_add(scope, p->custom);
        scope_add_checks(scope, p->check, p->checks);
    }
    scope_add_checks(scope, op->check, op->checks);
    scope_add(scope, op->custom);
}

void ln_gen_scope_of_life(ln_text *scope, const ln_opdesc *op)
{
    scope_add(scope, op->static_run);
    scope_add(scope, op->run);
    scope_add(scope, op->post_run);
    scope_add(scope, op->calc_offset);
    scope_add(scope, op->macs);
    scope_add(scope, op->cost);
    scope_add(scope, op->commutes);
}

bool ln_gen_mentions_part(const char *scope, const char *name, const char *suffix)
{
    char part[256];
    snprintf(part, sizeof part, "%s%s", name, suffix);
    return ln_snippet_mentions(scope, part);
}

bool ln_gen_is_kept(const printer *p, const char *arg_name)
{
    static const char *const suffixes[] = {"", "_entry", "_name", "_len", "_count"};
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++)
        if (ln_gen_mentions_part(p->life.bytes, arg_name, suffixes[i]))
            return true;
    return ln_snippet_mentions(p->life.bytes, "priv");
}

// ---- Lines ----

void ln_gen_put(printer *p, int indent, const char *line, const char *name)
{
    ln_text_indent(p->text, indent);
    for (const char *c = line; *c; c++) {
        if (*c == '$')
            ln_text_puts(p->text, name);
        else if (*c == '@')
            ln_text_puts(p->text, p->op->optype);
        else
            ln_text_append(p->text, c, 1);
    }
    ln_text_puts(p->text, "\n");
}

void ln_gen_put_checks(printer *p, const char *check, const ln_value *checks, int indent)
{
    ln_c_check(p->text, check ? check : "", indent);
    for (const ln_value *item = checks ? checks->first : NULL; item; item = item->next)
        ln_c_check(p->text, ln_opdesc_check_text(item), indent);
}

const ln_opdesc_tensor *ln_gen_find_in(const ln_opdesc *op, const char *name)
{
    for (size_t i = 0; i < op->in_count; i++)
        if (strcmp(op->ins[i].arg_name, name) == 0)
            return &op->ins[i];
    return NULL;
}

// ---- Parameters ----

bool ln_gen_is_array(const ln_opdesc_param *param)
{
    return strncmp(param->ptype, "LN_PARAM_ARRAY_", 15) == 0;
}

// The part of the entry that holds the value, and the C type of the local variable.
static void value_of(const ln_opdesc_param *param, const char **out_type, const char **out_slot)
{
    static const struct {
        const char *ptype, *realtype, *type, *slot;
    } rows[] = {
        {"LN_PARAM_STRING", NULL, "const char *", "value_string"},
        {"LN_PARAM_BOOL", NULL, "ln_bool ", "value_bool"},
        {"LN_PARAM_NUMBER", "int", "int ", "value_int"},
        {"LN_PARAM_NUMBER", "float", "float ", "value_float"},
        {"LN_PARAM_NUMBER", "double", "double ", "value_double"},
        {"LN_PARAM_ARRAY_STRING", NULL, "char **", "value_array_string"},
        {"LN_PARAM_ARRAY_BOOL", NULL, "ln_bool *", "value_array_bool"},
        {"LN_PARAM_ARRAY_NUMBER", "int", "int *", "value_array_int"},
        {"LN_PARAM_ARRAY_NUMBER", "float", "float *", "value_array_float"},
        {"LN_PARAM_ARRAY_NUMBER", "double", "double *", "value_array_double"},
    };
    *out_type = *out_slot = NULL; // LN_PARAM_NULL has no value
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].ptype, param->ptype) == 0 &&
            (!rows[i].realtype || strcmp(rows[i].realtype, param->realtype) == 0)) {
            *out_type = rows[i].type;
            *out_slot = rows[i].slot;
        }
}

static bool is_converted(const ln_opdesc_param *param)
{
    return param->from_func && !ln_gen_is_array(param);
}

void ln_gen_put_param_locals(printer *p, const ln_opdesc_param *param, const char *scope)
{
    const char *name = param->arg_name, *type, *slot;
    value_of(param, &type, &slot);
    bool is_mentioned = ln_snippet_mentions(scope, name);
    if (is_mentioned && is_converted(param))
        ln_text_printf(p->text, "    %s %s = (%s)%s(%s_entry->value_string);\n", param->realtype,
                       name, param->realtype, param->from_func, name);
    else if (is_mentioned && type)
        ln_text_printf(p->text, "    %s%s = %s_entry->%s;\n", type, name, name, slot);
    if (ln_gen_is_array(param) && ln_gen_mentions_part(scope, name, "_len"))
        ln_gen_put(p, 4, "int $_len = $_entry->array_len;", name);
}

// ---- The private struct ----

bool ln_gen_has_priv(const printer *p)
{
    const ln_opdesc *op = p->op;
    bool is_any = op->priv_count > 0;
    for (size_t i = 0; i < op->in_count && !is_any; i++)
        is_any = ln_gen_is_kept(p, op->ins[i].arg_name);
    for (size_t i = 0; i < op->out_count && !is_any; i++)
        is_any = ln_gen_is_kept(p, op->outs[i].arg_name);
    for (size_t i = 0; i < op->param_count && !is_any; i++)
        is_any = ln_gen_is_kept(p, op->params[i].arg_name);
    return is_any;
}

const ln_opdesc_tensor *ln_gen_variadic(const ln_opdesc *op)
{
    for (size_t i = 0; i < op->in_count; i++)
        if (ln_gen_is_true(op->ins[i].is_variadic))
            return &op->ins[i];
    for (size_t i = 0; i < op->out_count; i++)
        if (ln_gen_is_true(op->outs[i].is_variadic))
            return &op->outs[i];
    return NULL;
}
