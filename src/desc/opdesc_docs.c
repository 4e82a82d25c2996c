// SPDX-License-Identifier: Apache-2.0
// Markdown documentation of operators.

#include <string.h>

#include "desc/opdesc_gen.h"

// `s` in a table cell: line ends and bars would end the row or the cell.
static void put_cell(ln_text *text, const char *s)
{
    for (const char *p = s ? s : ""; *p; p++) {
        if (*p == '|')
            ln_text_puts(text, "\\|");
        else
            ln_text_append(text, *p == '\n' ? " " : p, 1);
    }
}

static void put_words(ln_text *text, const char *label, const char *value)
{
    if (!value)
        return;
    ln_text_printf(text, "%s`", label);
    put_cell(text, value);
    ln_text_puts(text, "` ");
}

static void put_places(ln_text *text, const ln_opdesc_tensor *t)
{
    bool is_list = t->inplace && t->inplace->kind == LN_VALUE_ARRAY;
    for (const ln_value *in = is_list ? t->inplace->first : t->inplace; in;
         in = is_list ? in->next : NULL)
        put_words(text, "may overwrite ", in->text);
    put_words(text, "may lie in ", t->part_of);
    put_words(text, "may hold ", t->joins);
}

static void put_tensors(ln_text *text, const char *heading, const ln_opdesc_tensor *tensors,
                        size_t count)
{
    if (count == 0)
        return;
    ln_text_printf(text, "\n| %s | constraints | meaning |\n|---|---|---|\n", heading);
    for (size_t i = 0; i < count; i++) {
        const ln_opdesc_tensor *t = &tensors[i];
        ln_text_printf(text, "| `%s%s` | ", t->arg_name,
                       t->is_variadic == LN_DESC_TRUE ? "1, ..." : "");
        ln_text_puts(text, t->is_optional == LN_DESC_TRUE ? "optional " : "");
        ln_text_puts(text, t->is_scratch == LN_DESC_TRUE ? "workspace " : "");
        ln_text_puts(text, t->is_static == LN_DESC_TRUE    ? "static "
                           : t->is_static == LN_DESC_FALSE ? "not static "
                                                           : "");
        put_words(text, "", t->dtype);
        put_words(text, "rank ", t->ndim);
        put_words(text, "length ", t->len);
        put_words(text, "dtype of ", t->sametype);
        put_words(text, "shape of ", t->sameshape);
        put_words(text, "data of ", t->owner);
        put_places(text, t);
        ln_text_puts(text, "| ");
        put_cell(text, t->doc);
        ln_text_puts(text, " |\n");
    }
}

// "LN_PARAM_ARRAY_NUMBER" of int is "int array".
static void put_ptype(ln_text *text, const ln_opdesc_param *param)
{
    static const char *const names[][2] = {
        {"STRING", "string"}, {"NUMBER", "number"}, {"BOOL", "bool"}, {"NULL", "null"}};
    bool is_number = strstr(param->ptype, "NUMBER") != NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strstr(param->ptype, names[i][0]))
            ln_text_puts(text, is_number ? param->realtype : names[i][1]);
    ln_text_puts(text, strstr(param->ptype, "ARRAY") ? " array" : "");
}

static void put_params(ln_text *text, const ln_opdesc *op)
{
    static const char *const bounds[] = {"= ", "> ", ">= ", "< ", "<= ", "not "};
    if (op->param_count == 0)
        return;
    ln_text_puts(text, "\n| parameter | type | default | meaning |\n|---|---|---|---|\n");
    for (size_t i = 0; i < op->param_count; i++) {
        const ln_opdesc_param *param = &op->params[i];
        ln_text_printf(text, "| `%s` | ", param->arg_name);
        put_ptype(text, param);
        put_words(text, " of length ", param->len);
        for (int bound = 0; bound < LN_DESC_BOUNDS; bound++)
            if (param->bounds[bound]) {
                ln_text_printf(text, " %s", bounds[bound]);
                put_cell(text, param->bounds[bound]);
            }
        ln_text_puts(text, " | ");
        if (param->default_value) {
            ln_text json = {0};
            ln_value_print(param->default_value, &json);
            put_words(text, "", json.bytes);
            if (json.status != LN_OK && text->status == LN_OK)
                text->status = json.status;
            ln_text_deinit(&json);
        }
        ln_text_puts(text, "| ");
        put_cell(text, param->doc);
        ln_text_puts(text, " |\n");
    }
}

static void put_op(ln_text *text, const ln_opdesc *op)
{
    ln_text_printf(text, "\n## %s\n\n", op->optype);
    if (op->doc)
        ln_text_printf(text, "%s\n", op->doc);
    if (strcmp(op->arch, "none") != 0)
        ln_text_printf(text, "\nRuns on arch `%s`.\n", op->arch);
    put_tensors(text, "input", op->ins, op->in_count);
    put_tensors(text, "output", op->outs, op->out_count);
    put_params(text, op);
    if (op->dtypes)
        ln_text_printf(text, "\nElement types: %s\n", op->dtypes);
    if (op->nan)
        ln_text_printf(text, "\nNaN and infinity: %s\n", op->nan);
    if (op->commutes)
        ln_text_printf(text, "\nThe first two inputs may change places if `%s`\n", op->commutes);
    if (op->price)
        ln_text_printf(text, "\nPrice in multiply-accumulates: `%s`\n", op->price);
    if (op->example) {
        size_t len = strlen(op->example);
        bool is_ended = len > 0 && op->example[len - 1] == '\n';
        ln_text_printf(text, "\n```\n%s%s```\n", op->example, is_ended ? "" : "\n");
    }
}

void ln_opdesc_print_docs(const ln_opdesc_set *set, ln_text *text)
{
    ln_text_puts(text, "# Operators\n\n"
                       "Generated from the operator descriptions; the language of the tables is "
                       "explained in op-description.md.\n");
    for (const ln_opdesc *op = set->first; op; op = op->next)
        if (op->tensors_in && op->tensors_out && op->param_values)
            put_op(text, op);
}
