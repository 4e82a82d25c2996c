// SPDX-License-Identifier: Apache-2.0
// Markdown documentation of operators.

#include <string.h>
#include <strings.h>

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

static void put_code(ln_text *text, const char *code)
{
    ln_text_puts(text, "`");
    put_cell(text, code);
    ln_text_puts(text, "`");
}

// ---- Facts: what stands between commas ----

static void begin_fact(ln_text *text, bool *inout_has_facts)
{
    ln_text_puts(text, *inout_has_facts ? ", " : "");
    *inout_has_facts = true;
}

// The length of `x` in "x->member", or 0 if `expression` is something else.
static size_t owner_length(const char *expression, const char *member)
{
    size_t len =
        strspn(expression, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
    if (strncmp(expression + len, "->", 2) != 0 || strcmp(expression + len + 2, member) != 0)
        return 0;
    return len;
}

// "x->dims[1]" as "dimension 1 of `x`", and true; else false, and nothing is put.
static bool put_dimension(ln_text *text, const char *before, const char *expression)
{
    char member[] = "dims[0]";
    for (char digit = '0'; digit < '8'; digit++) {
        member[5] = digit;
        size_t len = owner_length(expression, member);
        if (len > 0) {
            ln_text_printf(text, "%sdimension %c of `%.*s`", before, digit, (int)len, expression);
            return true;
        }
    }
    return false;
}

static void put_expression(ln_text *text, const char *expression)
{
    if (put_dimension(text, "", expression))
        return;
    if (expression[strspn(expression, "-.0123456789")] == '\0')
        ln_text_puts(text, expression);
    else
        put_code(text, expression);
}

// "rank 4", "rank of `x`" for "x->ndim", "rank `expression`".
static void put_fact(ln_text *text, bool *inout_has_facts, const char *what, const char *member,
                     const char *expression)
{
    if (!expression)
        return;
    begin_fact(text, inout_has_facts);
    ln_text_printf(text, "%s ", what);
    size_t len = owner_length(expression, member);
    if (len > 0)
        ln_text_printf(text, "of `%.*s`", (int)len, expression);
    else if (!put_dimension(text, "as ", expression))
        put_expression(text, expression);
}

static void put_relation(ln_text *text, bool *inout_has_facts, const char *relation,
                         const char *name)
{
    if (!name)
        return;
    begin_fact(text, inout_has_facts);
    ln_text_puts(text, relation);
    put_code(text, name);
}

static void put_flag(ln_text *text, bool *inout_has_facts, bool is_set, const char *word)
{
    if (!is_set)
        return;
    begin_fact(text, inout_has_facts);
    ln_text_puts(text, word);
}

static void put_places(ln_text *text, bool *inout_has_facts, const ln_opdesc_tensor *t)
{
    const ln_value *names = t->inplace ? t->inplace : t->inplace_first;
    bool is_list = names && names->kind == LN_VALUE_ARRAY;
    for (const ln_value *in = is_list ? names->first : names; in; in = is_list ? in->next : NULL)
        put_relation(text, inout_has_facts, "may overwrite ", in->text);
    put_relation(text, inout_has_facts, "may be in ", t->part_of);
    put_relation(text, inout_has_facts, "may hold ", t->joins);
}

static void put_facts(ln_text *text, const ln_opdesc_tensor *t)
{
    bool has_facts = false;
    put_flag(text, &has_facts, t->is_optional == LN_DESC_TRUE, "optional");
    put_flag(text, &has_facts, t->is_scratch == LN_DESC_TRUE, "workspace");
    put_flag(text, &has_facts, t->is_static == LN_DESC_TRUE, "static");
    put_flag(text, &has_facts, t->is_static == LN_DESC_FALSE, "not static");
    put_flag(text, &has_facts, t->is_attribute == LN_DESC_TRUE, "attribute in ONNX");
    put_flag(text, &has_facts, t->is_shape_only == LN_DESC_TRUE, "shape only");
    put_flag(text, &has_facts, t->is_weight == LN_DESC_TRUE, "weight");
    put_relation(text, &has_facts, "type in ", t->types);
    put_fact(text, &has_facts, "type", "dtype", t->dtype);
    put_relation(text, &has_facts, "type of ", t->sametype);
    put_fact(text, &has_facts, "rank", "ndim", t->ndim);
    put_relation(text, &has_facts, "shape of ", t->sameshape);
    put_fact(text, &has_facts, "length", "len", t->len);
    put_relation(text, &has_facts, "elements of ", t->owner);
    put_places(text, &has_facts, t);
    ln_text_puts(text, has_facts ? " | " : "| ");
}

// ---- Tables ----

static void put_tensors(ln_text *text, const char *heading, const ln_opdesc_tensor *tensors,
                        size_t count)
{
    if (count == 0)
        return;
    ln_text_printf(text, "\n| %s | %s | meaning |\n|---|---|---|\n", heading,
                   strcmp(heading, "input") == 0 ? "must be" : "is");
    for (size_t i = 0; i < count; i++) {
        const ln_opdesc_tensor *t = &tensors[i];
        ln_text_printf(text, "| `%s%s` | ", t->arg_name,
                       t->is_variadic == LN_DESC_TRUE ? "1, ..." : "");
        put_facts(text, t);
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
            ln_text_puts(text, is_number && param->realtype ? param->realtype : names[i][1]);
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
        if (param->len) {
            ln_text_puts(text, " of length ");
            put_expression(text, param->len);
        }
        const char *separator = strstr(param->ptype, "ARRAY") ? ", each " : " ";
        for (int bound = 0; bound < LN_DESC_BOUNDS; bound++)
            if (param->bounds[bound]) {
                ln_text_printf(text, "%s%s", separator, bounds[bound]);
                put_expression(text, param->bounds[bound]);
                separator = " and ";
            }
        ln_text_puts(text, " | ");
        if (param->default_value) {
            ln_text json = {0};
            ln_value_print(param->default_value, &json);
            put_code(text, json.bytes ? json.bytes : "");
            ln_text_puts(text, " ");
            if (json.status != LN_OK && text->status == LN_OK)
                text->status = json.status;
            ln_text_deinit(&json);
        }
        if (op->infer && !param->default_value)
            ln_text_puts(text, param->is_required == LN_DESC_TRUE ? "required " : "none ");
        ln_text_puts(text, "| ");
        put_cell(text, param->doc);
        ln_text_puts(text, " |\n");
    }
}

// Of ONNX: the domain, and the operator sets in which a form of the operator came.
static void put_since(ln_text *text, const ln_opdesc *op)
{
    if (!op->since || !op->since->first)
        return;
    ln_text_printf(text, "\nIn ONNX: `%s`, opset ", op->domain ? op->domain : "ai.onnx");
    for (const ln_value *since = op->since->first; since; since = since->next) {
        ln_text_puts(text, since == op->since->first ? "" : ", ");
        ln_value_print(since, text);
    }
    ln_text_puts(text, ".\n");
}

static void put_op(ln_text *text, const ln_opdesc *op)
{
    ln_text_printf(text, "\n## %s\n\n", op->optype);
    if (op->doc)
        ln_text_printf(text, "%s\n", op->doc);
    if (strcmp(op->arch, "none") != 0)
        ln_text_printf(text, "\nRuns on arch `%s`.\n", op->arch);
    put_since(text, op);
    put_tensors(text, "input", op->ins, op->in_count);
    put_tensors(text, "output", op->outs, op->out_count);
    put_params(text, op);
    if (op->dtypes)
        ln_text_printf(text, "\nElement types: %s\n", op->dtypes);
    if (op->nan)
        ln_text_printf(text, "\nNaN and infinity: %s\n", op->nan);
    if (op->commutes && op->infer)
        ln_text_puts(text,
                     "\nThe first two inputs may change places where no bit changes by it.\n");
    else if (op->commutes)
        ln_text_printf(text, "\nThe first two inputs may change places if `%s`.\n", op->commutes);
    if (op->macs && !op->infer)
        ln_text_printf(text, "\nMultiply-accumulates of a run: `%s`.\n", op->macs);
    if (op->example) {
        size_t len = strlen(op->example);
        bool is_ended = len > 0 && op->example[len - 1] == '\n';
        ln_text_printf(text, "\n```il\n%s%s```\n", op->example, is_ended ? "" : "\n");
    }
}

// ---- The page ----

static bool is_documented(const ln_opdesc *op)
{
    return op->tensors_in && op->tensors_out && op->is_base != LN_DESC_TRUE;
}

// The file's name without folder and ending.
static void put_family(ln_text *text, const char *file)
{
    const char *slash = strrchr(file, '/');
    const char *name = slash ? slash + 1 : file;
    ln_text_append(text, name, strcspn(name, "."));
}

// As a heading is called in links.
static void put_anchor(ln_text *text, const char *heading)
{
    for (const char *c = heading; *c; c++)
        ln_text_printf(text, "%c", *c >= 'A' && *c <= 'Z' ? *c - 'A' + 'a' : *c);
}

// Headings that differ in case only are numbered in links.
static void put_link_number(ln_text *text, const ln_opdesc_set *set, const ln_opdesc *op)
{
    int before = 0;
    for (const ln_opdesc *other = set->first; other != op; other = other->next)
        before += is_documented(other) && strcasecmp(other->optype, op->optype) == 0;
    if (before > 0)
        ln_text_printf(text, "-%d", before);
}

// A row for each file of descriptions.
static void put_contents(ln_text *text, const ln_opdesc_set *set)
{
    const char *family = NULL;
    ln_text_puts(text, "\n| family | operators |\n|---|---|\n");
    for (const ln_opdesc *op = set->first; op; op = op->next) {
        if (!is_documented(op))
            continue;
        const char *file = op->source->place.file ? op->source->place.file : "";
        if (!family || strcmp(family, file) != 0) {
            ln_text_puts(text, family ? " |\n| " : "| ");
            put_family(text, file);
            ln_text_puts(text, " | ");
        } else {
            ln_text_puts(text, ", ");
        }
        ln_text_printf(text, "[%s](#", op->optype);
        put_anchor(text, op->optype);
        put_link_number(text, set, op);
        ln_text_puts(text, ")");
        family = file;
    }
    ln_text_puts(text, family ? " |\n" : "");
}

void ln_opdesc_print_docs(const ln_opdesc_set *set, ln_text *text)
{
    ln_text_puts(
        text,
        "# Operators\n\n"
        "Generated from the operator descriptions. *Type* is the type of the elements, *rank* the "
        "number of dimensions, which are\ncounted from 0, *length* the number of elements; "
        "*static* is what is computed once, when a model is loaded. What *may overwrite*\nan "
        "input, are in it or hold it, does so only where memory is planned so. A parameter with a "
        "default may be left out.\nOperators of ONNX have its names; *shape only* is an input whose "
        "elements are not looked at.\nExpressions are those of "
        "[op-description.md](op-description.md).\n");
    put_contents(text, set);
    for (const ln_opdesc *op = set->first; op; op = op->next)
        if (is_documented(op))
            put_op(text, op);
}
