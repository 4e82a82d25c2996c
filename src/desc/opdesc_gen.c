// SPDX-License-Identifier: Apache-2.0
// C for operators. One function per operator holds all checks and the definition of the outputs:
//
//     <op>_prepare    inputs, parameters, operator checks, shapes | stop here for `check` |
//                     outputs, private struct                     | stop here for `pre_run`
//
// so that every name a snippet may use is declared once, in one scope. Names are declared only
// where a snippet mentions them, which keeps the result free of unused variables.

#include "desc/opdesc_gen.h"

#include <string.h>

#include "desc/cident.h"
#include "desc/csnippet.h"
#include "desc/opdesc_print.h"

// Whether it is a number as it stands, such as 4: then one call checks more than one thing.
static bool is_literal(const char *text)
{
    return text && *text && strspn(text, "0123456789") == strlen(text) && strlen(text) < 9;
}

// ---- Inputs ----

static void put_same(printer *p, const char *what, const char *entry, const char *other, int indent)
{
    if (!other)
        return;
    const ln_opdesc_tensor *in = ln_gen_find_in(p->op, other);
    ln_text_indent(p->text, indent);
    if (ln_gen_is_true(in->is_optional))
        ln_text_printf(p->text, "if (%s_entry)\n%*s", other, indent + 4, "");
    ln_text_printf(p->text, "ln_opck_tensor_issame%s(%s, %s_entry%s);\n", what, entry, other,
                   ln_gen_is_true(in->is_variadic) ? "[0]" : "");
}

// Whether an input is fetched by a call that checks its dtype and number of dimensions.
static bool is_checked_when_fetched(const ln_opdesc_tensor *in)
{
    const bool is_single = !ln_gen_is_true(in->is_optional) && !ln_gen_is_true(in->is_variadic);
    const bool is_constant =
        !in->dtype ||
        (strncmp(in->dtype, "TL_", 3) == 0 &&
         strspn(in->dtype, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == strlen(in->dtype));
    return is_single && is_constant && (in->dtype || in->ndim) &&
           (!in->ndim || is_literal(in->ndim));
}

// The checks of one input tensor; `entry` is the expression of its table entry.
static void put_in_checks(printer *p, const ln_opdesc_tensor *in, const char *entry, int indent)
{
    ln_text *text = p->text;
    const bool is_done = is_checked_when_fetched(in);
    if (in->dtype && !is_done)
        ln_text_printf(text, "%*sln_opck_tensor_dtype_eq(%s, %s);\n", indent, "", entry, in->dtype);
    if (in->ndim && !is_done)
        ln_text_printf(text, "%*sln_opck_tensor_ndim(%s, (int)(%s));\n", indent, "", entry,
                       in->ndim);
    if (in->len)
        ln_text_printf(text, "%*sln_opck_tensor_len(%s, (int)(%s));\n", indent, "", entry, in->len);
    put_same(p, "type", entry, in->sametype, indent);
    put_same(p, "shape", entry, in->sameshape, indent);
    if (in->is_static != LN_DESC_ABSENT)
        ln_text_printf(text, "%*sln_opck_tensor_%s(%s);\n", indent, "",
                       ln_gen_is_true(in->is_static) ? "isstatic" : "isnotstatic", entry);
}

static void put_in_variadic(printer *p, const ln_opdesc_tensor *in, const char *name)
{
    ln_gen_put(p, 4, "ln_tensor_entry *$_entry[LN_OP_MAX_VARIADIC];", name);
    ln_gen_put(p, 4, "int $_count = ln_op_find_variadic(op_arg, \"$\", $_entry);", name);
    ln_gen_put(p, 4, "if ($_count < 0)", name);
    ln_gen_put(p, 8, "return;", name);
    if (ln_snippet_mentions(p->scope.bytes, name)) {
        ln_gen_put(p, 4, "tl_tensor *$[LN_OP_MAX_VARIADIC];", name);
        ln_gen_put(p, 4, "for (int i = 0; i < $_count; i++)", name);
        ln_gen_put(p, 8, "$[i] = $_entry[i]->tensor;", name);
    }
    ln_gen_put(p, 4, "for (int i = 0; i < $_count; i++) {", name);
    char entry[256];
    snprintf(entry, sizeof entry, "%s_entry[i]", name);
    put_in_checks(p, in, entry, 8);
    ln_gen_put(p, 4, "}", name);
    ln_gen_put_checks(p, in->check, in->checks, 4);
}

// An output may be a view of it.
static bool is_owner(const printer *p, const char *name)
{
    for (size_t i = 0; i < p->op->out_count; i++)
        if (p->op->outs[i].owner && strcmp(p->op->outs[i].owner, name) == 0)
            return true;
    return false;
}

static bool has_checks(const ln_opdesc_tensor *in)
{
    return in->dtype || in->ndim || in->len || in->sametype || in->sameshape || in->check ||
           in->checks || in->is_static != LN_DESC_ABSENT;
}

static void put_in_single(printer *p, const ln_opdesc_tensor *in, const char *name)
{
    bool is_optional = ln_gen_is_true(in->is_optional);
    size_t index = (size_t)(in - p->op->ins);
    char entry[256];
    snprintf(entry, sizeof entry, "%s_entry", name);
    if (is_optional) {
        ln_text_printf(p->text,
                       "    ln_tensor_entry *%s;\n"
                       "    if (ln_op_optional_in(op_arg, %zu, &%s) != LN_OK)\n",
                       entry, index, entry);
    } else if (is_checked_when_fetched(in)) {
        ln_text_printf(p->text,
                       "    ln_tensor_entry *%s = ln_op_in_of(op_arg, %zu, %s, %s);\n"
                       "    if (!%s)\n",
                       entry, index, in->dtype ? in->dtype : "TL_DTYPE_INVALID",
                       in->ndim ? in->ndim : "-1", entry);
    } else {
        ln_text_printf(p->text,
                       "    ln_tensor_entry *%s = ln_op_in(op_arg, %zu);\n"
                       "    if (!%s)\n",
                       entry, index, entry);
    }
    ln_gen_put(p, 8, "return;", name);
    if (ln_gen_mentions_part(p->scope.bytes, name, "_list_entry")) {
        ln_gen_put(p, 4, "ln_tensor_list_entry *$_list_entry =", name);
        ln_gen_put(p, 8, "ln_tensor_list_find_by_arg_name(op_arg->tensors_in, \"$\");", name);
    }
    if (is_owner(p, name) || ln_gen_mentions_part(p->scope.bytes, name, "_name"))
        ln_gen_put(p, 4,
                   is_optional ? "const char *$_name = $_entry ? $_entry->name : NULL;"
                               : "const char *$_name = $_entry->name;",
                   name);
    if (ln_snippet_mentions(p->scope.bytes, name))
        ln_gen_put(p, 4,
                   is_optional ? "tl_tensor *$ = $_entry ? $_entry->tensor : NULL;"
                               : "tl_tensor *$ = $_entry->tensor;",
                   name);
    bool is_block = is_optional && has_checks(in);
    if (is_block)
        ln_gen_put(p, 4, "if ($_entry) {", name);
    put_in_checks(p, in, entry, is_block ? 8 : 4);
    ln_gen_put_checks(p, in->check, in->checks, is_block ? 8 : 4);
    if (is_block)
        ln_gen_put(p, 4, "}", name);
}

static void put_ins(printer *p)
{
    const ln_opdesc *op = p->op;
    if (!ln_gen_is_true(op->variable_length)) {
        ln_gen_put(p, 4, "if ($(op_arg, op_arg->info->ins) != LN_OK)",
                   ln_gen_is_true(op->any_dtype) ? "ln_op_check_ins_any" : "ln_op_check_ins");
        ln_gen_put(p, 8, "return;", "");
    }
    for (size_t i = 0; i < op->in_count; i++) {
        const ln_opdesc_tensor *in = &op->ins[i];
        ln_gen_put(p, 0, "", "");
        if (ln_gen_is_true(in->is_variadic))
            put_in_variadic(p, in, in->arg_name);
        else
            put_in_single(p, in, in->arg_name);
        ln_c_statements(p->text, in->custom, 4);
    }
}

// ---- Parameters ----

// A string that stands for a number must be a known one; the number is kept in the entry.
static void put_param_conversion(printer *p, const ln_opdesc_param *param)
{
    const char *name = param->arg_name;
    if (!param->from_func)
        return;
    if (ln_gen_is_array(param)) {
        ln_gen_put(p, 4, "for (int i = 0; i < $_entry->array_len; i++) {", name);
        ln_text_printf(p->text, "        if ((int)%s(%s_entry->value_array_string[i]) < 0) {\n",
                       param->from_func, name);
        ln_gen_put(p, 12, "ln_op_fail_unknown(op_arg, \"$\", $_entry->value_array_string[i]);",
                   name);
        ln_gen_put(p, 12, "return;", name);
        ln_gen_put(p, 8, "}", name);
        ln_gen_put(p, 4, "}", name);
        return;
    }
    ln_text_printf(
        p->text,
        "    if (ln_op_param_number(op_arg, %zu, (int)%s(%s_entry->value_string)) != LN_OK)\n",
        (size_t)(param - p->op->params), param->from_func, name);
    ln_gen_put(p, 8, "return;", name);
}

// Whether a parameter is fetched by a call that checks its length and that it is at least
// something.
static bool has_usual_bounds(const ln_opdesc_param *param)
{
    if (!ln_opdesc_is_whole(param) || !is_literal(param->bounds[LN_DESC_GE]))
        return false;
    if (param->bounds[LN_DESC_EQ] || param->bounds[LN_DESC_GT])
        return false; // those are checked before
    return ln_gen_is_array(param) ? is_literal(param->len) : !param->len;
}

static void put_param_bounds(printer *p, const ln_opdesc_param *param)
{
    static const char *const relations[] = {"eq", "gt", "ge", "lt", "le", "ne"};
    const char *array = ln_gen_is_array(param) ? "array_" : "";
    const bool is_done = has_usual_bounds(param);
    if (param->len && !is_done)
        ln_text_printf(p->text, "    ln_opck_param_array_len_eq(%s_entry, (int)(%s));\n",
                       param->arg_name, param->len);
    for (int i = 0; i < LN_DESC_BOUNDS; i++)
        if (param->bounds[i] && !(i == LN_DESC_GE && is_done))
            ln_text_printf(p->text, "    ln_opck_param_%s%s_%s(%s_entry, (%s));\n", array,
                           param->realtype, relations[i], param->arg_name, param->bounds[i]);
}

static void put_param(printer *p, const ln_opdesc_param *param)
{
    const char *name = param->arg_name;
    ln_gen_put(p, 0, "", "");
    const bool is_array = ln_gen_is_array(param);
    const size_t index = (size_t)(param - p->op->params);
    ln_text_printf(p->text, "    const ln_param_entry *%s_entry = ", name);
    if (has_usual_bounds(param))
        ln_text_printf(p->text, "ln_op_param_%s(op_arg, %zu, %s%s%s);\n",
                       is_array ? "array" : "from", index, is_array ? param->len : "",
                       is_array ? ", " : "", param->bounds[LN_DESC_GE]);
    else
        ln_text_printf(p->text, "ln_op_param%s(op_arg, %zu);\n",
                       ln_opdesc_is_whole(param) ? "_whole" : "", index);
    ln_gen_put(p, 4, "if (!$_entry)", name);
    ln_gen_put(p, 8, "return;", name);
    put_param_conversion(p, param);
    ln_gen_put_param_locals(p, param, p->scope.bytes);
    put_param_bounds(p, param);
    ln_gen_put_checks(p, param->check, param->checks, 4);
    ln_c_statements(p->text, param->custom, 4);
}

static void put_params(printer *p)
{
    const ln_opdesc *op = p->op;
    if (!ln_gen_is_true(op->variable_length)) {
        ln_gen_put(p, 0, "", "");
        ln_gen_put(p, 4, "if (ln_op_check_params(op_arg, op_arg->info->params) != LN_OK)", "");
        ln_gen_put(p, 8, "return;", "");
    }
    for (size_t i = 0; i < op->param_count; i++)
        put_param(p, &op->params[i]);
}

// ---- Outputs ----

static void put_shape(printer *p, const ln_opdesc_tensor *out)
{
    const char *name = out->arg_name;
    ln_gen_put(p, 0, "", "");
    ln_gen_put(p, 4, "int $_dims[TL_MAXDIM] = {0};", name);
    ln_text_printf(p->text, "    int %s_ndim = %s;\n", name, out->shape);
    ln_gen_put(p, 4, "if ($_ndim < 0) {", name);
    ln_gen_put(p, 8, "(void)ln_op_fail_recorded(op_arg);", name);
    ln_gen_put(p, 8, "return;", name);
    ln_gen_put(p, 4, "}", name);
}

static void put_dims(printer *p, const ln_opdesc_tensor *out)
{
    const char *name = out->arg_name;
    const ln_value *dims = out->dims;
    ln_text *text = p->text;
    if (dims && dims->kind == LN_VALUE_ARRAY) {
        ln_text_printf(text, "    int %s_dims[] = {", name);
        for (const ln_value *dim = dims->first; dim; dim = dim->next)
            ln_text_printf(text, dim->kind == LN_VALUE_STRING ? "%s(int)(%s)" : "%s%s",
                           dim == dims->first ? "" : ", ", dim->text);
        ln_text_puts(text, dims->count ? "};\n" : "0};\n");
    } else {
        ln_text_printf(text, "    int *%s_dims = %s;\n", name, dims ? dims->text : "NULL");
    }
    if (out->ndim)
        ln_text_printf(text, "    int %s_ndim = (int)(%s);\n", name, out->ndim);
    else
        ln_text_printf(text, "    int %s_ndim = %zu;\n", name, dims ? dims->count : 0);
}

// How many tensors a variadic output stands for is up to the operator, so checks may look at it.
static void put_out_counts(printer *p)
{
    for (size_t i = 0; i < p->op->out_count; i++) {
        const char *name = p->op->outs[i].arg_name;
        if (!ln_gen_is_true(p->op->outs[i].is_variadic))
            continue;
        ln_gen_put(p, 0, "", "");
        ln_gen_put(p, 4, "int $_count = ln_op_count_variadic_outs(op_arg, \"$\");", name);
        ln_gen_put(p, 4, "if ($_count < 0)", name);
        ln_gen_put(p, 8, "return;", name);
    }
}

// The owner's tensor name: from an input's argument name, or the expression as it is.
static void put_owner(printer *p, const char *owner)
{
    const ln_opdesc_tensor *in = owner ? ln_gen_find_in(p->op, owner) : NULL;
    if (in && ln_gen_is_true(in->is_variadic))
        ln_text_printf(p->text, "%s_entry[0]->name", owner);
    else
        ln_text_printf(p->text, in ? "%s_name" : "%s", owner ? owner : "NULL");
}

// The rest of a variadic output: all its tensors have one shape and dtype.
static void put_out_variadic(printer *p, const ln_opdesc_tensor *out)
{
    const char *name = out->arg_name;
    ln_gen_put(p, 4, "ln_tensor_entry *$_entry[LN_OP_MAX_VARIADIC];", name);
    ln_gen_put(p, 4, "if (ln_op_define_variadic(op_arg, \"$\", $_count, $_ndim, $_dims, $_dtype,",
               name);
    ln_text_printf(p->text, "            op_arg->info->outs[%zu].mtype, %d, ",
                   (size_t)(out - p->op->outs), ln_gen_is_true(out->is_static));
    put_owner(p, out->owner);
    ln_gen_put(p, 0, ", $_entry) != LN_OK)", name);
    ln_gen_put(p, 8, "return;", name);
}

static void put_out(printer *p, const ln_opdesc_tensor *out)
{
    const char *name = out->arg_name;
    ln_text *text = p->text;
    ln_gen_put(p, 0, "", "");
    if (!out->shape)
        put_dims(p, out);
    ln_text_printf(text, "    tl_dtype %s_dtype = %s;\n", name,
                   out->dtype ? out->dtype : "TL_DTYPE_INVALID");
    if (ln_gen_is_true(out->is_variadic)) {
        put_out_variadic(p, out);
        return;
    }
    ln_c_statements(text, out->custom, 4);
    ln_text_printf(text,
                   "    ln_tensor_entry *%s_entry =\n"
                   "        ln_op_out(op_arg, %zu, %s_ndim, %s_dims, %s_dtype, ",
                   name, (size_t)(out - p->op->outs), name, name, name);
    put_owner(p, out->owner);
    ln_text_puts(text, ");\n");
    if (ln_snippet_mentions(p->scope.bytes, name))
        ln_gen_put(p, 4, "tl_tensor *$ = $_entry ? $_entry->tensor : NULL;", name);
    ln_c_statements(text, out->cleanup, 4);
    ln_gen_put(p, 4, "if (!$_entry)", name);
    ln_gen_put(p, 8, "return;", name);
    if (out->len)
        ln_text_printf(text, "    ln_opck_tensor_len(%s_entry, (int)(%s));\n", name, out->len);
}

static void put_outs(printer *p)
{
    const ln_opdesc *op = p->op;
    if (!ln_gen_is_true(op->variable_length)) {
        ln_gen_put(p, 4, "if (ln_op_check_outs(op_arg, op_arg->info->outs) != LN_OK)", "");
        ln_gen_put(p, 8, "return;", "");
    }
    for (size_t i = 0; i < op->out_count; i++) {
        const char *name = op->outs[i].arg_name;
        bool has_name = ln_gen_mentions_part(p->scope.bytes, name, "_name");
        if (ln_gen_is_true(op->outs[i].is_variadic) ||
            !(has_name || ln_gen_mentions_part(p->scope.bytes, name, "_list_entry")))
            continue;
        ln_gen_put(p, 4, "ln_tensor_list_entry *$_list_entry =", name);
        ln_gen_put(p, 8, "ln_tensor_list_find_by_arg_name(op_arg->tensors_out, \"$\");", name);
        ln_gen_put(p, 4, "ln_opck_tensor_out_exist($_list_entry, \"$\");", name);
        if (has_name)
            ln_gen_put(p, 4, "const char *$_name = $_list_entry->name;", name);
    }
    for (size_t i = 0; i < op->out_count; i++)
        put_out(p, &op->outs[i]);
}

// ---- The private struct ----

static void put_priv_struct(printer *p)
{
    const ln_opdesc *op = p->op;
    ln_gen_put(p, 0, "struct @_priv {", "");
    for (size_t i = 0; i < op->in_count + op->out_count; i++) {
        bool is_in = i < op->in_count;
        const ln_opdesc_tensor *t = is_in ? &op->ins[i] : &op->outs[i - op->in_count];
        if (!ln_gen_is_kept(p, t->arg_name))
            continue;
        ln_gen_put(p, 4,
                   ln_gen_is_true(t->is_variadic) ? "ln_tensor_entry **$_entry;"
                                                  : "ln_tensor_entry *$_entry;",
                   t->arg_name);
        if (ln_gen_is_true(t->is_variadic)) {
            ln_gen_put(p, 4, "tl_tensor **$;", t->arg_name);
            ln_gen_put(p, 4, "int $_count;", t->arg_name);
        }
    }
    for (size_t i = 0; i < op->param_count; i++)
        if (ln_gen_is_kept(p, op->params[i].arg_name))
            ln_gen_put(p, 4, "const ln_param_entry *$_entry;", op->params[i].arg_name);
    for (size_t i = 0; i < op->priv_count; i++) {
        const char *type = op->privs[i].type;
        bool is_pointer = type[strlen(type) ? strlen(type) - 1 : 0] == '*';
        ln_text_printf(p->text, "    %s%s%s;\n", type, is_pointer ? "" : " ", op->privs[i].name);
    }
    ln_gen_put(p, 0, "};\n", "");
}

static void put_priv_fill(printer *p)
{
    const ln_opdesc *op = p->op;
    const ln_opdesc_tensor *variadic = ln_gen_variadic(op);
    ln_gen_put(p, 0, "", "");
    ln_gen_put(p, 4, "struct @_priv *priv = ln_op_priv(op_arg, sizeof *priv);", "");
    ln_gen_put(p, 4, "if (!priv)", "");
    ln_gen_put(p, 8, "return;", "");
    if (variadic && ln_gen_is_kept(p, variadic->arg_name)) {
        const char *name = variadic->arg_name;
        ln_gen_put(
            p, 4, "if (ln_op_keep_variadic($_entry, $_count, &priv->$_entry, &priv->$) != LN_OK) {",
            name);
        ln_gen_put(p, 8, "(void)ln_op_fail_recorded(op_arg);", "");
        ln_gen_put(p, 8, "return;", "");
        ln_gen_put(p, 4, "}", "");
        ln_gen_put(p, 4, "priv->$_count = $_count;", name);
    }
    for (size_t i = 0; i < op->in_count; i++)
        if (ln_gen_is_kept(p, op->ins[i].arg_name) && &op->ins[i] != variadic)
            ln_gen_put(p, 4, "priv->$_entry = $_entry;", op->ins[i].arg_name);
    for (size_t i = 0; i < op->out_count; i++)
        if (ln_gen_is_kept(p, op->outs[i].arg_name) && &op->outs[i] != variadic)
            ln_gen_put(p, 4, "priv->$_entry = $_entry;", op->outs[i].arg_name);
    for (size_t i = 0; i < op->param_count; i++)
        if (ln_gen_is_kept(p, op->params[i].arg_name))
            ln_gen_put(p, 4, "priv->$_entry = $_entry;", op->params[i].arg_name);
}

// ---- pre_run and check ----

static void put_prepare(printer *p)
{
    const ln_opdesc *op = p->op;
    ln_gen_put(p, 0, "static void @_prepare(ln_op_arg *op_arg, int is_check_only)\n{", "");
    ln_gen_put(p, 4, "op_arg->status = LN_OK;", "");
    put_ins(p);
    put_params(p);
    put_out_counts(p);
    if (op->check || op->checks || op->custom)
        ln_gen_put(p, 0, "", "");
    ln_gen_put_checks(p, op->check, op->checks, 4);
    ln_c_statements(p->text, op->custom, 4);
    for (size_t i = 0; i < op->out_count; i++)
        if (op->outs[i].shape)
            put_shape(p, &op->outs[i]);
    ln_gen_put(p, 0, "\n    if (is_check_only)", "");
    ln_gen_put(p, 8, "return;\n", "");
    put_outs(p);
    if (ln_gen_has_priv(p))
        put_priv_fill(p);
    ln_gen_put(p, 0, "}\n", "");

    ln_gen_put(p, 0, "static void @_check(ln_op_arg *op_arg)\n{", "");
    ln_gen_put(p, 4, "@_prepare(op_arg, 1);\n}\n", "");
    ln_gen_put(p, 0, "static void @_post_run(ln_op_arg *op_arg);\n", "");
    ln_gen_put(p, 0, "static void @_pre_run(ln_op_arg *op_arg)\n{", "");
    ln_gen_put(p, 4, "@_prepare(op_arg, 0);", "");
    ln_gen_put(p, 4, "if (op_arg->status != LN_OK)", "");
    ln_gen_put(p, 8, "@_post_run(op_arg);\n}\n", "");
}

const ln_opdesc *ln_opdesc_base(const ln_opdesc_set *set, const ln_opdesc *op)
{
    if (strcmp(op->arch, "none") == 0)
        return NULL;
    for (const ln_opdesc *base = set->first; base; base = base->next) {
        size_t len = strlen(base->optype);
        if (ln_opdesc_is_generated(base) && strcmp(base->arch, "none") == 0 &&
            strncmp(op->optype, base->optype, len) == 0 && op->optype[len] == '_' &&
            strcmp(op->optype + len + 1, op->arch) == 0)
            return base;
    }
    return NULL;
}

static void put_functions(printer *p)
{
    if (ln_gen_has_priv(p))
        put_priv_struct(p);
    put_prepare(p);
    ln_opdesc_put_life(p);
}

static void put_op(printer *p)
{
    const ln_opdesc *op = p->op;
    bool is_call = ln_opdesc_is_call(op);
    if (!is_call) {
        ln_gen_scope_of_prepare(&p->scope, op);
        ln_gen_scope_of_life(&p->life, op);
    }
    if (p->scope.status != LN_OK || p->life.status != LN_OK)
        p->text->status = LN_NO_MEMORY;
    ln_text_printf(p->text, "// ---- %s ----\n\n", op->optype);
    ln_opdesc_put_tables(p);
    if (!is_call)
        put_functions(p);
    ln_opdesc_put_proto(p);
    ln_text_deinit(&p->scope);
    ln_text_deinit(&p->life);
}

// ---- Files ----

static void put_include(ln_text *text, const char *header)
{
    ln_text_printf(text, header[0] == '<' ? "#include %s\n" : "#include \"%s\"\n", header);
}

// Every header once, in the order in which it is first named.
static void put_includes(const ln_value *include, ln_text *text)
{
    bool is_list = include && include->kind == LN_VALUE_ARRAY;
    const ln_value *first = is_list ? include->first : include;
    for (const ln_value *header = first; header; header = is_list ? header->next : NULL) {
        char line[512];
        snprintf(line, sizeof line, header->text[0] == '<' ? "#include %s\n" : "#include \"%s\"\n",
                 header->text);
        if (text->bytes && !strstr(text->bytes, line))
            put_include(text, header->text);
    }
}

static void put_all_includes(const ln_opdesc *op, ln_text *text)
{
    put_includes(op->file_include, text);
    put_includes(op->include, text);
}

void ln_opdesc_print_code(const ln_opdesc_set *set, const char *title, ln_text *text)
{
    ln_text_puts(text, "// Generated from ");
    ln_c_comment(text, title);
    ln_text_puts(text,
                 " by lightnet-gen. Change the description, not this file.\n// clang-format off\n\n"
                 "#include <string.h>\n\n"
                 "#include <lightnet/allocator.h>\n"
                 "#include <lightnet/call.h>\n"
                 "#include <lightnet/op.h>\n"
                 "#include <lightnet/op_info.h>\n"
                 "#include <lightnet/op_support.h>\n"
                 "#include <lightnet/opck.h>\n");
    for (const ln_opdesc *op = set->first; op; op = op->next)
        if (ln_opdesc_is_generated(op))
            put_all_includes(op, text);
    ln_text_puts(text, "\n");
    ln_opdesc_put_prototypes(set, NULL, text);
    for (const ln_opdesc *op = set->first; op; op = op->next)
        if (ln_opdesc_is_generated(op))
            put_op(&(printer){.op = op, .text = text});
}

void ln_opdesc_put_head(const ln_opdesc_set *set, const char *arch, ln_text *text)
{
    ln_text_printf(text,
                   "// The operators of arch '%s'. Made by lightnet-gen from their descriptions: "
                   "change those, not this file.\n\n"
                   "#include <lightnet/call.h>\n"
                   "#include <lightnet/op_support.h>\n"
                   "#include \"ir/op_rows.h\"\n"
                   "#include \"op/types.h\"\n",
                   arch);
    for (const ln_opdesc *op = set->first; op; op = op->next)
        if (ln_opdesc_is_generated(op) && strcmp(op->arch, arch) == 0)
            put_all_includes(op, text);
    ln_text_puts(text, "\n");
    ln_opdesc_put_prototypes(set, arch, text);
}

void ln_opdesc_print_table(const ln_opdesc_set *set, const char *arch, ln_text *text)
{
    ln_text_printf(text,
                   "// The operators of arch '%s'. Generated by lightnet-gen.\n\n"
                   "#include <lightnet/op.h>\n\n",
                   arch);
    for (const ln_opdesc *op = set->first; op; op = op->next)
        if (ln_opdesc_is_generated(op) && strcmp(op->arch, arch) == 0)
            ln_text_printf(text, "extern ln_op ln_opimpl_%s;\n", op->optype);
    ln_text_printf(text,
                   "\nextern ln_op *ln_arch_ops_%s[];\n"
                   "ln_op *ln_arch_ops_%s[] = {\n",
                   arch, arch);
    for (const ln_opdesc *op = set->first; op; op = op->next)
        if (ln_opdesc_is_generated(op) && strcmp(op->arch, arch) == 0)
            ln_text_printf(text, "    &ln_opimpl_%s,\n", op->optype);
    ln_text_puts(text, "    NULL,\n};\n");
}
