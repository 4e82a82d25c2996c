// SPDX-License-Identifier: Apache-2.0
// The functions of an operator's life after pre_run: what they look at comes out of the private
// struct, declared where the snippet mentions it.

#include "desc/opdesc_print.h"

#include <string.h>

#include "desc/cident.h"
#include "desc/csnippet.h"

// Declares what `snippet` mentions, out of the private struct. Returns whether it used `priv`.
static bool put_life_locals(printer *p, const char *snippet, const ln_opdesc_tensor *t,
                            bool is_test)
{
    const char *name = t->arg_name;
    bool is_variadic = ln_gen_is_true(t->is_variadic);
    bool uses_tensor = ln_snippet_mentions(snippet, name);
    bool uses_entry = ln_gen_mentions_part(snippet, name, "_entry");
    bool uses_name = ln_gen_mentions_part(snippet, name, "_name");
    bool uses_count = is_variadic && ln_gen_mentions_part(snippet, name, "_count");
    if (is_test)
        return uses_tensor || uses_entry || uses_name || uses_count;
    const char *tensor = is_variadic ? "tl_tensor **$ = priv->$;"
                         : ln_gen_is_true(t->is_optional)
                             ? "tl_tensor *$ = priv->$_entry ? priv->$_entry->tensor : NULL;"
                             : "tl_tensor *$ = priv->$_entry->tensor;";
    if (uses_entry)
        ln_gen_put(p, 4,
                   is_variadic ? "ln_tensor_entry **$_entry = priv->$_entry;"
                               : "ln_tensor_entry *$_entry = priv->$_entry;",
                   name);
    if (uses_name && !is_variadic)
        ln_gen_put(p, 4,
                   ln_gen_is_true(t->is_optional)
                       ? "const char *$_name = priv->$_entry ? priv->$_entry->name : NULL;"
                       : "const char *$_name = priv->$_entry->name;",
                   name);
    if (uses_tensor)
        ln_gen_put(p, 4, tensor, name);
    if (uses_count)
        ln_gen_put(p, 4, "int $_count = priv->$_count;", name);
    return true;
}

static bool param_is_mentioned(const char *snippet, const char *name)
{
    return ln_snippet_mentions(snippet, name) || ln_gen_mentions_part(snippet, name, "_entry") ||
           ln_gen_mentions_part(snippet, name, "_len");
}

static bool uses_priv(printer *p, const char *snippet)
{
    const ln_opdesc *op = p->op;
    bool is_used = ln_snippet_mentions(snippet, "priv");
    for (size_t i = 0; i < op->in_count; i++)
        is_used = is_used || put_life_locals(p, snippet, &op->ins[i], true);
    for (size_t i = 0; i < op->out_count; i++)
        is_used = is_used || put_life_locals(p, snippet, &op->outs[i], true);
    for (size_t i = 0; i < op->param_count; i++)
        is_used = is_used || param_is_mentioned(snippet, op->params[i].arg_name);
    return is_used;
}

static void put_all_life_locals(printer *p, const char *snippet)
{
    const ln_opdesc *op = p->op;
    for (size_t i = 0; i < op->in_count; i++)
        put_life_locals(p, snippet, &op->ins[i], false);
    for (size_t i = 0; i < op->out_count; i++)
        put_life_locals(p, snippet, &op->outs[i], false);
    for (size_t i = 0; i < op->param_count; i++) {
        const char *name = op->params[i].arg_name;
        if (param_is_mentioned(snippet, name))
            ln_gen_put(p, 4, "const ln_param_entry *$_entry = priv->$_entry;", name);
        ln_gen_put_param_locals(p, &op->params[i], snippet);
    }
}

// The private struct, if `snippet` needs it, or a mark that the argument is not used.
static void put_priv_local(printer *p, const char *snippet, const char *if_none)
{
    if (uses_priv(p, snippet)) {
        ln_gen_put(p, 4, "struct @_priv *priv = op_arg->priv;", "");
        ln_gen_put(p, 4, "if (!priv)", "");
        ln_gen_put(p, 8, if_none, "");
        put_all_life_locals(p, snippet);
    } else if (!ln_snippet_mentions(snippet, "op_arg")) {
        ln_gen_put(p, 4, "(void)op_arg;", "");
    }
}

static void put_run(printer *p, const char *suffix, const char *snippet)
{
    if (!snippet)
        return;
    ln_text_printf(p->text, "static void %s_%s(ln_op_arg *op_arg)\n{\n", p->op->optype, suffix);
    if (ln_c_is_blank(snippet)) {
        ln_text_printf(p->text,
                       "    ln_op_fail(op_arg, LN_UNSUPPORTED, \"'%s' is not written yet\");\n",
                       suffix);
    } else {
        put_priv_local(p, snippet, "return;");
        ln_c_statements(p->text, snippet, 4);
    }
    ln_gen_put(p, 0, "}\n", "");
}

static void put_post_run(printer *p)
{
    const ln_opdesc *op = p->op;
    const ln_opdesc_tensor *variadic = ln_gen_variadic(op);
    ln_gen_put(p, 0, "static void @_post_run(ln_op_arg *op_arg)\n{", "");
    bool has_variadic = variadic && ln_gen_is_kept(p, variadic->arg_name);
    bool has_release = !ln_c_is_blank(op->post_run);
    if (ln_gen_has_priv(p) && (has_variadic || has_release)) {
        ln_gen_put(p, 4, "struct @_priv *priv = op_arg->priv;", "");
        ln_gen_put(p, 4, "if (priv) {", "");
        if (has_release)
            ln_gen_put(p, 8, "@_release(op_arg);", "");
        if (has_variadic) {
            ln_gen_put(p, 8, "ln_free(priv->$_entry);", variadic->arg_name);
            ln_gen_put(p, 8, "ln_free(priv->$);", variadic->arg_name);
        }
        ln_gen_put(p, 4, "}", "");
    } else if (has_release) {
        ln_gen_put(p, 4, "@_release(op_arg);", "");
    }
    ln_gen_put(p, 4, "ln_op_undo(op_arg);\n}\n", "");
}

static void put_calc_offset(printer *p)
{
    const char *snippet = p->op->calc_offset;
    if (ln_c_is_blank(snippet))
        return;
    ln_gen_put(p, 0, "static size_t @_calc_offset(ln_op_arg *op_arg, ln_tensor_entry *te)\n{", "");
    put_priv_local(p, snippet, "return 0;");
    if (!ln_snippet_mentions(snippet, "te"))
        ln_gen_put(p, 4, "(void)te;", "");
    if (ln_snippet_mentions(snippet, "return"))
        ln_c_statements(p->text, snippet, 4);
    else
        ln_text_printf(p->text, "    return (size_t)(%s);\n", snippet);
    ln_gen_put(p, 0, "}\n", "");
}

static void put_estimate(printer *p, const char *suffix, const char *snippet)
{
    if (!snippet)
        return;
    ln_text_printf(p->text, "static double %s_%s(ln_op_arg *op_arg)\n{\n", p->op->optype, suffix);
    put_priv_local(p, snippet, "return 0;");
    ln_text_printf(p->text, "    return (double)(%s);\n", snippet);
    ln_gen_put(p, 0, "}\n", "");
}

static void put_commutes(printer *p)
{
    if (!p->op->commutes)
        return;
    ln_gen_put(p, 0, "static int @_commutes(ln_op_arg *op_arg)\n{", "");
    put_priv_local(p, p->op->commutes, "return 0;");
    ln_text_printf(p->text, "    return (%s) ? 1 : 0;\n", p->op->commutes);
    ln_gen_put(p, 0, "}\n", "");
}

void ln_opdesc_put_life(printer *p)
{
    const ln_opdesc *op = p->op;
    put_run(p, "static_run", op->static_run);
    put_run(p, "run", op->run);
    if (!ln_c_is_blank(op->post_run))
        put_run(p, "release", op->post_run);
    put_post_run(p);
    put_calc_offset(p);
    put_estimate(p, "macs", op->macs);
    put_estimate(p, "cost", op->cost);
    put_commutes(p);
}
