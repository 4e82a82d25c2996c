// SPDX-License-Identifier: Apache-2.0
// Writes the rows that ir/op_rows.c reads: what an operator has of its own, or in other words than
// the operator of arch `none` that it is a variant of.

#include "desc/opdesc_rows.h"

#include <string.h>

#include <lightnet/allocator.h>

#include "desc/csnippet.h"
#include "desc/opdesc_gen.h"
#include "desc/opdesc_print.h"

typedef struct row_printer {
    const ln_opdesc_set *set;
    const char *arch;
    ln_text *text; // arrays that rows point to, printed once each, come before the rows
    ln_text rows;
    char **arrays; // what was printed between `static const` and `;`, but the name
    size_t array_count;
    ln_status status;
} row_printer;

// ---- Comparing with the base ----

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_value(const ln_value *a, const ln_value *b)
{
    ln_text a_text = {0}, b_text = {0};
    ln_value_print(a, &a_text);
    ln_value_print(b, &b_text);
    bool is_same = a_text.status == LN_OK && b_text.status == LN_OK && !a == !b &&
                   (!a || same_text(a_text.bytes, b_text.bytes));
    ln_text_deinit(&a_text);
    ln_text_deinit(&b_text);
    return is_same;
}

// The memory of a variant's inputs and outputs; NULL: each has its own.
static const char *memory_of(const ln_opdesc *op)
{
    const ln_opdesc_tensor *first = op->in_count > 0    ? &op->ins[0]
                                    : op->out_count > 0 ? &op->outs[0]
                                                        : NULL;
    return first && strcmp(first->mtype, "LN_MEM_NONE") != 0 ? first->mtype : NULL;
}

// Documentation apart; `mtype` is that of all arguments of `a`, or NULL.
static bool same_args(const ln_opdesc_tensor *a, size_t a_count, const ln_opdesc_tensor *b,
                      size_t b_count, const char *mtype)
{
    bool is_same = a_count == b_count;
    for (size_t i = 0; is_same && i < a_count; i++)
        is_same = same_text(a[i].arg_name, b[i].arg_name) &&
                  ln_opdesc_flags(&a[i]) == ln_opdesc_flags(&b[i]) &&
                  same_text(a[i].types, b[i].types) && same_text(a[i].sametype, b[i].sametype) &&
                  same_text(a[i].mtype, mtype ? mtype : b[i].mtype);
    return is_same;
}

static bool same_params(const ln_opdesc *a, const ln_opdesc *b)
{
    bool is_same = a->param_count == b->param_count;
    for (size_t i = 0; is_same && i < a->param_count; i++) {
        const ln_opdesc_param *p = &a->params[i], *q = &b->params[i];
        is_same = same_text(p->arg_name, q->arg_name) && same_text(p->ptype, q->ptype) &&
                  p->is_required == q->is_required &&
                  strcmp(ln_opdesc_wholeness(p), ln_opdesc_wholeness(q)) == 0 &&
                  same_value(p->default_value, q->default_value);
    }
    return is_same;
}

static bool same_places(const ln_opdesc *a, const ln_opdesc *b)
{
    bool is_same = a->out_count == b->out_count;
    for (size_t i = 0; is_same && i < a->out_count; i++) {
        const ln_opdesc_tensor *p = &a->outs[i], *q = &b->outs[i];
        is_same = same_text(p->arg_name, q->arg_name) && same_value(p->inplace, q->inplace) &&
                  same_value(p->inplace_first, q->inplace_first) &&
                  same_text(p->part_of, q->part_of) && same_text(p->joins, q->joins) &&
                  same_text(p->owner, q->owner);
    }
    return is_same;
}

// ---- Arrays ----

// Prints `static const TYPE t<number>[] = {BODY};` unless one like it is there. Returns the number.
static size_t put_array(row_printer *p, const char *type, ln_text *body)
{
    ln_text array = {0};
    ln_text_printf(&array, "%s t[] = {\n%s}", type, body->bytes ? body->bytes : "");
    if (body->status != LN_OK || array.status != LN_OK)
        p->status = LN_NO_MEMORY;
    ln_text_deinit(body);
    size_t i = 0;
    while (p->status == LN_OK && i < p->array_count && strcmp(p->arrays[i], array.bytes) != 0)
        i++;
    char **arrays = p->arrays;
    if (p->status == LN_OK && i == p->array_count)
        arrays = ln_realloc(p->arrays, (i + 1) * sizeof *arrays);
    if (!arrays)
        p->status = LN_NO_MEMORY;
    if (p->status != LN_OK || i < p->array_count) {
        ln_text_deinit(&array);
        return i;
    }
    p->arrays = arrays;
    ln_text_printf(p->text, "static const %s t%zu[] = {\n%s", type, i,
                   strchr(array.bytes, '\n') + 1);
    ln_text_puts(p->text, ";\n\n");
    p->status = ln_text_take(&array, &p->arrays[i], NULL);
    p->array_count += p->status == LN_OK;
    return i;
}

static size_t put_args(row_printer *p, const ln_opdesc *op, const ln_opdesc_tensor *args,
                       size_t count)
{
    ln_text body = {0};
    ln_opdesc_put_args(&body, op, args, count, false);
    return put_array(p, "ln_arg_info", &body);
}

// ir/op_rows.c reads strings of defaults without escapes.
static bool has_escapes(const ln_value *value)
{
    bool is_list = value && value->kind == LN_VALUE_ARRAY, has_any = false;
    for (const ln_value *item = is_list ? value->first : value; item;
         item = is_list ? item->next : NULL)
        has_any = has_any || (item->kind == LN_VALUE_STRING && strpbrk(item->text, "\"\\\n"));
    return has_any;
}

static size_t put_params(row_printer *p, const ln_opdesc *op)
{
    ln_text body = {0};
    for (size_t i = 0; i < op->param_count; i++) {
        const ln_opdesc_param *param = &op->params[i];
        ln_text json = {0};
        ln_value_print(param->default_value, &json);
        ln_text_printf(&body, "    {\"%s\", ", param->arg_name);
        ln_c_string(&body, json.bytes);
        ln_text_printf(&body, ", %s, %s, %s},\n", param->ptype,
                       param->is_required == LN_DESC_TRUE ? "true" : "false",
                       ln_opdesc_wholeness(param));
        if (json.status != LN_OK)
            p->status = json.status;
        if (has_escapes(param->default_value))
            p->status = LN_FAIL(LN_INVALID, "'%s': the default of '%s' needs escapes", op->optype,
                                param->arg_name);
        ln_text_deinit(&json);
    }
    ln_text_puts(&body, "    {NULL, NULL, LN_PARAM_INVALID, false, LN_NOT_WHOLE},\n");
    return put_array(p, "ln_param_row", &body);
}

static size_t put_places(row_printer *p, const ln_opdesc *op)
{
    ln_text body = {0};
    ln_opdesc_put_places(&body, op);
    return put_array(p, "ln_place_info", &body);
}

static size_t put_since(row_printer *p, const ln_opdesc *op)
{
    ln_text body = {0};
    ln_opdesc_put_since(&body, op);
    return put_array(p, "int", &body);
}

// ---- Functions ----

// A member of a struct, unless it is that of the base. What a base has cannot be left out.
static void put_member(row_printer *p, ln_text *text, const ln_opdesc *op, const char *member,
                       const char *name, const char *base_name)
{
    if (base_name && !name)
        p->status = LN_FAIL(LN_INVALID, "'%s' has no '%s', but its base has", op->optype, member);
    else if (name && !same_text(name, base_name))
        ln_text_printf(text, ".%s = %s, ", member, name);
}

// ---- Facts ----

static void put_lists(row_printer *p, ln_text *facts, const ln_opdesc *op, const ln_opdesc *base)
{
    const char *mtype = base ? memory_of(op) : NULL;
    if (!base || !same_args(op->ins, op->in_count, base->ins, base->in_count, mtype))
        ln_text_printf(facts, ".ins = t%zu, ", put_args(p, op, op->ins, op->in_count));
    if (!base || !same_args(op->outs, op->out_count, base->outs, base->out_count, mtype))
        ln_text_printf(facts, ".outs = t%zu, ", put_args(p, op, op->outs, op->out_count));
    if (!base || !same_params(op, base))
        ln_text_printf(facts, ".params = t%zu, ", put_params(p, op));
    if (base ? !same_places(op, base) : ln_opdesc_has_places(op))
        ln_text_printf(facts, ".places = t%zu, ", put_places(p, op));
    if (base ? !same_value(op->since, base->since) : op->since != NULL)
        ln_text_printf(facts, ".since = t%zu, ", put_since(p, op));
    if (op->domain && !(base && same_text(op->domain, base->domain)))
        ln_text_printf(facts, ".domain = \"%s\", ", op->domain);
    if (mtype)
        ln_text_printf(&p->rows, "        .mtype = %s,\n", mtype);
}

// `members` end with ", "; they are freed.
static void put_struct(row_printer *p, const char *member, const char *type, ln_text *members)
{
    if (members->len > 0)
        ln_text_printf(&p->rows, "        .%s = &(const %s){%s},\n", member, type, members->bytes);
    if (members->status != LN_OK)
        p->status = members->status;
    ln_text_deinit(members);
}

static void put_facts(row_printer *p, const ln_opdesc *op, const ln_opdesc *base)
{
    static const ln_opdesc none;
    const ln_opdesc *from = base ? base : &none;
    ln_text facts = {0};
    put_lists(p, &facts, op, base);
    put_member(p, &facts, op, "infer", op->infer, from->infer);
    put_member(p, &facts, op, "call_macs", op->macs, from->macs);
    put_member(p, &facts, op, "call_cost", op->cost, from->cost);
    put_member(p, &facts, op, "commutes", op->commutes, from->commutes);
    put_member(p, &facts, op, "is_random", op->is_random, from->is_random);
    put_struct(p, "facts", "ln_op_facts", &facts);
}

static void put_number(row_printer *p, const char *member, double number)
{
    char digits[32];
    ln_number_print(number, digits);
    if (number > 0)
        ln_text_printf(&p->rows, "        .%s = %s,\n", member, digits);
}

static void put_function(row_printer *p, const char *member, const char *name)
{
    if (name)
        ln_text_printf(&p->rows, "        .%s = %s,\n", member, name);
}

static void put_row(row_printer *p, const ln_opdesc *op)
{
    const ln_opdesc *base = ln_opdesc_base(p->set, op);
    ln_text_printf(&p->rows, "    {\n        .optype = \"%s\",\n", op->optype);
    if (base)
        ln_text_printf(&p->rows, "        .base = \"%s\",\n", base->optype);
    put_facts(p, op, base);
    put_function(p, "accepts", op->accepts);
    put_function(p, "prepare", op->prepare);
    put_function(p, "workspace", op->workspace);
    put_function(p, "compute", op->compute);
    put_function(p, "calc_offset", op->calc_offset);
    put_number(p, "rtol", op->rtol);
    put_number(p, "step_cost", op->step_cost);
    if (op->any_address == LN_DESC_TRUE)
        ln_text_puts(&p->rows, "        .takes_any_address = true,\n");
    ln_text_puts(&p->rows, "    },\n");
}

// ---- An arch ----

static void put_set(row_printer *p)
{
    bool has_base = strcmp(p->arch, "none") != 0;
    ln_text_puts(p->text, "static const ln_op_row rows[] = {\n");
    ln_text_puts(p->text, p->rows.bytes ? p->rows.bytes : "");
    ln_text_puts(p->text, "    {.optype = NULL},\n};\n\n"
                          "static const ln_call_life call_life = {ln_call_pre_run, "
                          "ln_call_post_run, ln_call_check, ln_call_run, ln_call_macs, "
                          "ln_call_cost};\n\n");
    ln_text_printf(p->text,
                   "static char arch_name[] = \"%s\";\n\n"
                   "extern ln_op_rows %sln_ops_%s;\n"
                   "ln_op_rows ln_ops_%s = {\n"
                   "    .arch = arch_name,\n"
                   "    .rows = rows,\n"
                   "    .call_life = &call_life,\n%s};\n",
                   p->arch, has_base ? "ln_ops_none, " : "", p->arch, p->arch,
                   has_base ? "    .base = &ln_ops_none,\n" : "");
}

void ln_opdesc_print_rows(const ln_opdesc_set *set, const char *arch, ln_text *text)
{
    row_printer p = {.set = set, .arch = arch, .text = text};
    ln_opdesc_put_head(set, arch, text);
    for (const ln_opdesc *op = set->first; op && p.status == LN_OK; op = op->next)
        if (ln_opdesc_is_generated(op) && strcmp(op->arch, arch) == 0)
            put_row(&p, op);
    put_set(&p);
    if (p.status == LN_OK)
        p.status = p.rows.status;
    if (p.status != LN_OK && text->status == LN_OK)
        text->status = p.status;
    for (size_t i = 0; i < p.array_count; i++)
        ln_free(p.arrays[i]);
    ln_free(p.arrays);
    ln_text_deinit(&p.rows);
}

// ---- Prose ----

static bool says_the_same(const ln_opdesc *a, const ln_opdesc *b)
{
    bool is_same = a->in_count == b->in_count && a->out_count == b->out_count &&
                   a->param_count == b->param_count && same_text(a->doc, b->doc) &&
                   same_text(a->example, b->example) && same_text(a->dtypes, b->dtypes) &&
                   same_text(a->nan, b->nan);
    for (size_t i = 0; is_same && i < a->in_count; i++)
        is_same = same_text(a->ins[i].doc, b->ins[i].doc);
    for (size_t i = 0; is_same && i < a->out_count; i++)
        is_same = same_text(a->outs[i].doc, b->outs[i].doc);
    for (size_t i = 0; is_same && i < a->param_count; i++)
        is_same = same_text(a->params[i].doc, b->params[i].doc);
    return is_same;
}

static void put_words(ln_text *text, const char *member, const char *words)
{
    if (!words || !words[0])
        return;
    ln_text_printf(text, "        .%s = ", member);
    ln_c_string(text, words);
    ln_text_puts(text, ",\n");
}

static void put_docs_of(ln_text *text, const char *member, const ln_opdesc_tensor *args,
                        size_t count)
{
    if (count == 0)
        return;
    ln_text_printf(text, "        .%s = (const char *const[]){\n", member);
    for (size_t i = 0; i < count; i++) {
        ln_text_puts(text, "            ");
        ln_c_string(text, args[i].doc ? args[i].doc : "");
        ln_text_puts(text, ",\n");
    }
    ln_text_puts(text, "        },\n");
}

static void put_prose(ln_text *text, const ln_opdesc *op)
{
    ln_text_printf(text, "    {\n        .optype = \"%s\",\n", op->optype);
    put_words(text, "doc", op->doc);
    put_words(text, "example", op->example);
    put_words(text, "dtypes", op->dtypes);
    put_words(text, "nan", op->nan);
    put_docs_of(text, "ins", op->ins, op->in_count);
    put_docs_of(text, "outs", op->outs, op->out_count);
    if (op->param_count > 0)
        ln_text_puts(text, "        .params = (const char *const[]){\n");
    for (size_t i = 0; i < op->param_count; i++) {
        ln_text_puts(text, "            ");
        ln_c_string(text, op->params[i].doc ? op->params[i].doc : "");
        ln_text_puts(text, ",\n");
    }
    ln_text_puts(text, op->param_count > 0 ? "        },\n    },\n" : "    },\n");
}

void ln_opdesc_print_prose(const ln_opdesc_set *set, ln_text *text)
{
    ln_text_puts(text,
                 "// What descriptions of operators say to people. Made by lightnet-gen: change "
                 "those, not this file.\n\n"
                 "#include \"op_prose.h\"\n\n"
                 "const op_prose op_proses[] = {\n");
    for (const ln_opdesc *op = set->first; op; op = op->next) {
        const ln_opdesc *base = ln_opdesc_base(set, op);
        if (ln_opdesc_is_generated(op) && !(base && says_the_same(op, base)))
            put_prose(text, op);
    }
    ln_text_puts(text, "    {.optype = NULL},\n};\n");
}
