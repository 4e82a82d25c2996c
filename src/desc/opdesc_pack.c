// SPDX-License-Identifier: Apache-2.0
// Writes the records that ir/packed_ops.c reads.
//
// Constants that only C knows, such as dtypes and memory types, are collected in an array, and
// records hold their index; so are functions, in the order in which they are asked for.

#include "desc/opdesc_pack.h"

#include <string.h>

#include <lightnet/allocator.h>

#include "base/pack.h"
#include "desc/csnippet.h"
#include "desc/opdesc_gen.h"
#include "desc/opdesc_print.h"
#include "desc/packed_format.h"

#define MAX_CONSTANTS 256

typedef struct packer {
    const ln_opdesc_set *set;
    const char *arch;
    ln_text raw;
    ln_text functions; // elements of the array
    const char *constants[MAX_CONSTANTS];
    size_t constant_count;
    ln_status status;
} packer;

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

static unsigned flags_of(const ln_opdesc_tensor *t)
{
    const ln_desc_flag flags[] = {t->is_optional,  t->is_variadic,   t->is_scratch, t->is_static,
                                  t->is_attribute, t->is_shape_only, t->is_weight};
    unsigned bits = 0;
    for (unsigned i = 0; i < sizeof flags / sizeof flags[0]; i++)
        bits |= (unsigned)(flags[i] == LN_DESC_TRUE) << i;
    return bits;
}

// Memory types apart; those of `a` are those of `b`, or all alike.
static bool same_args(const ln_opdesc_tensor *a, size_t a_count, const ln_opdesc_tensor *b,
                      size_t b_count)
{
    if (a_count != b_count)
        return false;
    bool is_same_mtype = true, is_one_mtype = true;
    for (size_t i = 0; i < a_count; i++) {
        if (!same_text(a[i].arg_name, b[i].arg_name) || !same_text(a[i].doc, b[i].doc) ||
            flags_of(&a[i]) != flags_of(&b[i]) || !same_text(a[i].types, b[i].types) ||
            !same_text(a[i].sametype, b[i].sametype))
            return false;
        is_same_mtype = is_same_mtype && same_text(a[i].mtype, b[i].mtype);
        is_one_mtype = is_one_mtype && same_text(a[i].mtype, a[0].mtype);
    }
    return is_same_mtype || is_one_mtype;
}

static bool same_params(const ln_opdesc *a, const ln_opdesc *b)
{
    bool is_same = a->param_count == b->param_count;
    for (size_t i = 0; is_same && i < a->param_count; i++) {
        const ln_opdesc_param *p = &a->params[i], *q = &b->params[i];
        is_same = same_text(p->arg_name, q->arg_name) && same_text(p->doc, q->doc) &&
                  same_text(p->ptype, q->ptype) && p->is_required == q->is_required &&
                  ln_opdesc_is_whole(p) == ln_opdesc_is_whole(q) &&
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
                  same_text(p->part_of, q->part_of) && same_text(p->joins, q->joins);
    }
    return is_same;
}

static bool same_rest(const ln_opdesc *a, const ln_opdesc *b)
{
    return same_text(a->author, b->author) && same_text(a->example, b->example) &&
           same_text(a->dtypes, b->dtypes) && same_text(a->nan, b->nan) &&
           same_text(a->domain, b->domain) && !(a->rtol < b->rtol) && !(a->rtol > b->rtol);
}

static unsigned same_parts(const ln_opdesc *op, const ln_opdesc *base)
{
    if (!base)
        return 0;
    unsigned same = 0;
    if (same_text(op->doc, base->doc))
        same |= LN_PACKED_SAME_DOC;
    if (same_args(op->ins, op->in_count, base->ins, base->in_count))
        same |= LN_PACKED_SAME_INS;
    if (same_args(op->outs, op->out_count, base->outs, base->out_count))
        same |= LN_PACKED_SAME_OUTS;
    if (same_params(op, base))
        same |= LN_PACKED_SAME_PARAMS;
    if (same_places(op, base))
        same |= LN_PACKED_SAME_PLACES;
    if (same_value(op->since, base->since))
        same |= LN_PACKED_SAME_SINCE;
    if (same_rest(op, base))
        same |= LN_PACKED_SAME_REST;
    return same;
}

// ---- Records ----

static void pack_constant(packer *p, const char *expression)
{
    size_t i = 0;
    while (i < p->constant_count && strcmp(p->constants[i], expression) != 0)
        i++;
    if (i == MAX_CONSTANTS) {
        p->status = LN_FAIL(LN_LIMIT, "more than %d different constants", MAX_CONSTANTS);
        return;
    }
    p->constants[i] = expression;
    if (i == p->constant_count)
        p->constant_count++;
    ln_pack_uint(&p->raw, i);
}

static void pack_args(packer *p, const ln_opdesc *op, const ln_opdesc_tensor *args, size_t count)
{
    bool is_call = ln_opdesc_is_call(op);
    ln_pack_uint(&p->raw, count);
    for (size_t i = 0; i < count; i++) {
        ln_pack_string(&p->raw, args[i].arg_name);
        ln_pack_string(&p->raw, args[i].doc ? args[i].doc : "");
        ln_pack_uint(&p->raw, flags_of(&args[i]));
        pack_constant(p, args[i].mtype);
        pack_constant(p, is_call && args[i].types ? args[i].types : "0");
        ln_pack_string(&p->raw, is_call ? args[i].sametype : NULL);
    }
}

static void pack_mtype(packer *p, const ln_opdesc_tensor *args, const ln_opdesc_tensor *base,
                       size_t count)
{
    bool is_same = true;
    for (size_t i = 0; i < count; i++)
        is_same = is_same && strcmp(args[i].mtype, base[i].mtype) == 0;
    ln_pack_uint(&p->raw, !is_same);
    if (!is_same)
        pack_constant(p, args[0].mtype);
}

static void pack_default(packer *p, const ln_opdesc_param *param)
{
    const ln_value *value = param->default_value;
    bool is_list = value->kind == LN_VALUE_ARRAY;
    ln_pack_uint(&p->raw, value->count);
    for (const ln_value *item = is_list ? value->first : value; item;
         item = is_list ? item->next : NULL) {
        if (strstr(param->ptype, "NUMBER"))
            ln_pack_number(&p->raw, item->number);
        else if (strstr(param->ptype, "STRING"))
            ln_pack_string(&p->raw, item->text);
        else if (strstr(param->ptype, "BOOL"))
            ln_pack_uint(&p->raw, item->boolean);
    }
}

static void pack_params(packer *p, const ln_opdesc *op)
{
    ln_pack_uint(&p->raw, op->param_count);
    for (size_t i = 0; i < op->param_count; i++) {
        const ln_opdesc_param *param = &op->params[i];
        ln_text json = {0};
        ln_value_print(param->default_value, &json);
        ln_pack_string(&p->raw, param->arg_name);
        ln_pack_string(&p->raw, param->doc ? param->doc : "");
        pack_constant(p, param->ptype);
        ln_pack_uint(&p->raw, (param->is_required == LN_DESC_TRUE) | ln_opdesc_is_whole(param)
                                                                         << 1);
        ln_pack_string(&p->raw, json.bytes);
        if (param->default_value)
            pack_default(p, param);
        if (json.status != LN_OK && p->status == LN_OK)
            p->status = json.status;
        ln_text_deinit(&json);
    }
}

// Returns 1, or 0 without an input. `p` NULL only counts.
static size_t pack_place(packer *p, const char *out, const char *in, const char *kind)
{
    if (in && p) {
        ln_pack_string(&p->raw, out);
        ln_pack_string(&p->raw, in);
        pack_constant(p, kind);
    }
    return in ? 1 : 0;
}

static size_t pack_places_over(packer *p, const char *out, const ln_value *names, const char *kind)
{
    bool is_list = names && names->kind == LN_VALUE_ARRAY;
    size_t count = 0;
    for (const ln_value *in = is_list ? names->first : names; in; in = is_list ? in->next : NULL)
        count += pack_place(p, out, in->text, kind);
    return count;
}

static size_t pack_each_place(packer *p, const ln_opdesc *op)
{
    size_t count = 0;
    for (size_t i = 0; i < op->out_count; i++) {
        const ln_opdesc_tensor *out = &op->outs[i];
        count += pack_places_over(p, out->arg_name, out->inplace, "LN_PLACE_OVER");
        count += pack_places_over(p, out->arg_name, out->inplace_first, "LN_PLACE_OVER_FIRST");
        count += pack_place(p, out->arg_name, out->part_of, "LN_PLACE_INSIDE");
        count += pack_place(p, out->arg_name, out->joins, "LN_PLACE_AROUND");
    }
    return count;
}

static void pack_since(packer *p, const ln_opdesc *op)
{
    ln_pack_uint(&p->raw, op->since ? op->since->count : 0);
    for (const ln_value *v = op->since ? op->since->first : NULL; v; v = v->next)
        ln_pack_uint(&p->raw, (uint64_t)v->number);
}

static void pack_rest(packer *p, const ln_opdesc *op)
{
    const char *const words[] = {op->author, op->example, op->dtypes, op->nan, op->domain};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        ln_pack_string(&p->raw, words[i]);
    ln_pack_number(&p->raw, op->rtol);
}

// ---- Functions ----

// The names of functions in the order of LN_PACKED_FUNCTION_LIST; those that begin with `_` follow
// the operator's type. NULL: none.
static void name_functions(const ln_opdesc *op, const char *names[LN_PACKED_FUNCTION_COUNT])
{
    for (int i = 0; i < LN_PACKED_FUNCTION_COUNT; i++)
        names[i] = NULL;
    names[LN_PACKED_commutes] = op->commutes ? "_commutes" : NULL;
    names[LN_PACKED_is_random] = op->is_random;
    if (ln_opdesc_is_call(op)) {
        names[LN_PACKED_infer] = op->infer;
        names[LN_PACKED_compute] = op->compute;
        names[LN_PACKED_accepts] = op->accepts;
        names[LN_PACKED_prepare] = op->prepare;
        names[LN_PACKED_workspace] = op->workspace;
        names[LN_PACKED_call_macs] = op->macs;
        names[LN_PACKED_call_cost] = op->cost;
        return;
    }
    names[LN_PACKED_pre_run] = "_pre_run";
    names[LN_PACKED_static_run] = op->static_run ? "_static_run" : NULL;
    names[LN_PACKED_run] = op->run ? "_run" : NULL;
    names[LN_PACKED_post_run] = "_post_run";
    names[LN_PACKED_calc_offset] = !ln_c_is_blank(op->calc_offset) ? "_calc_offset" : NULL;
    names[LN_PACKED_check] = "_check";
    names[LN_PACKED_macs] = op->macs ? "_macs" : NULL;
    names[LN_PACKED_cost] = op->cost ? "_cost" : NULL;
}

// Whether a function of `op` is that of its base; `is_same_beginning` as ln_opdesc_shares_beginning
// says.
static bool is_shared(const ln_opdesc *op, const ln_opdesc *base, bool is_same_beginning, int kind)
{
    if (!base || ln_opdesc_is_call(op) != ln_opdesc_is_call(base))
        return false;
    bool is_call = ln_opdesc_is_call(op);
    switch (kind) {
    case LN_PACKED_is_random: return same_text(op->is_random, base->is_random);
    case LN_PACKED_infer: return same_text(op->infer, base->infer);
    case LN_PACKED_call_macs: return same_text(op->macs, base->macs);
    case LN_PACKED_call_cost: return same_text(op->cost, base->cost);
    case LN_PACKED_pre_run:
    case LN_PACKED_post_run:
    case LN_PACKED_check: return is_same_beginning;
    case LN_PACKED_macs: return is_same_beginning && same_text(op->macs, base->macs);
    case LN_PACKED_cost: return is_same_beginning && same_text(op->cost, base->cost);
    case LN_PACKED_calc_offset:
        return is_same_beginning && same_text(op->calc_offset, base->calc_offset);
    case LN_PACKED_commutes:
        return !is_call && is_same_beginning && same_text(op->commutes, base->commutes);
    default: return false;
    }
}

static void pack_functions(packer *p, const ln_opdesc *op, const ln_opdesc *base)
{
    const char *names[LN_PACKED_FUNCTION_COUNT];
    unsigned own = 0, shared = 0;
    bool is_same_beginning = ln_opdesc_shares_beginning(op, base);
    name_functions(op, names);
    for (int kind = 0; kind < LN_PACKED_FUNCTION_COUNT; kind++) {
        const char *name = names[kind];
        if (!name)
            continue;
        if (is_shared(op, base, is_same_beginning, kind)) {
            shared |= 1u << kind;
            continue;
        }
        own |= 1u << kind;
        ln_text_printf(&p->functions, "    (ln_packed_function)%s%s,\n",
                       name[0] == '_' ? op->optype : "", name);
    }
    unsigned form = ln_opdesc_is_call(op) ? LN_PACKED_CALL_FORM : 0;
    if (op->takes_workspace == LN_DESC_TRUE)
        form |= LN_PACKED_TAKES_WORKSPACE;
    if (op->any_address == LN_DESC_TRUE)
        form |= LN_PACKED_ANY_ADDRESS;
    ln_pack_uint(&p->raw, form);
    ln_pack_uint(&p->raw, own);
    ln_pack_uint(&p->raw, shared);
}

// ---- Operators ----

static void pack_op(packer *p, const ln_opdesc *op)
{
    const ln_opdesc *base = ln_opdesc_base(p->set, op);
    unsigned same = same_parts(op, base);
    ln_pack_string(&p->raw, op->optype);
    ln_pack_string(&p->raw, base ? base->optype : NULL);
    ln_pack_uint(&p->raw, same);
    if (!(same & LN_PACKED_SAME_DOC))
        ln_pack_string(&p->raw, op->doc ? op->doc : "");
    if (same & LN_PACKED_SAME_INS)
        pack_mtype(p, op->ins, base->ins, op->in_count);
    else
        pack_args(p, op, op->ins, op->in_count);
    if (same & LN_PACKED_SAME_OUTS)
        pack_mtype(p, op->outs, base->outs, op->out_count);
    else
        pack_args(p, op, op->outs, op->out_count);
    if (!(same & LN_PACKED_SAME_PARAMS))
        pack_params(p, op);
    if (!(same & LN_PACKED_SAME_PLACES)) {
        ln_pack_uint(&p->raw, pack_each_place(NULL, op));
        pack_each_place(p, op);
    }
    if (!(same & LN_PACKED_SAME_SINCE))
        pack_since(p, op);
    if (!(same & LN_PACKED_SAME_REST))
        pack_rest(p, op);
    ln_pack_number(&p->raw, op->step_cost);
    pack_functions(p, op, base);
}

static bool is_packed(const packer *p, const ln_opdesc *op)
{
    return ln_opdesc_is_generated(op) && strcmp(op->arch, p->arch) == 0;
}

static void pack_ops(packer *p)
{
    // The order is that of `life` in ir/packed_ops.c.
    static const char *const call_form[] = {"pre_run", "post_run", "check", "macs", "cost", "run"};
    size_t count = 0, call_count = sizeof call_form / sizeof call_form[0];
    for (const ln_opdesc *op = p->set->first; op; op = op->next)
        count += is_packed(p, op);
    ln_pack_string(&p->raw, p->arch);
    ln_pack_uint(&p->raw, call_count);
    for (size_t i = 0; i < call_count; i++)
        ln_text_printf(&p->functions, "    (ln_packed_function)ln_call_%s,\n", call_form[i]);
    ln_pack_uint(&p->raw, count);
    for (const ln_opdesc *op = p->set->first; op; op = op->next)
        if (is_packed(p, op))
            pack_op(p, op);
}

static void print_tables(packer *p, ln_text *text)
{
    ln_text_puts(text, "static const uint64_t numbers[] = {\n");
    for (size_t i = 0; i < p->constant_count; i++)
        ln_text_printf(text, "    %s,\n", p->constants[i]);
    ln_text_puts(text, "};\n\nstatic const ln_packed_function functions[] = {\n");
    ln_text_puts(text, p->functions.bytes ? p->functions.bytes : "");
    ln_text_puts(text, "};\n\n");
    ln_pack_print(&p->raw, "packed", text);
    bool has_base = strcmp(p->arch, "none") != 0;
    ln_text_printf(text, "\nextern ln_packed_ops %sln_ops_%s;\n", has_base ? "ln_ops_none, " : "",
                   p->arch);
    ln_text_printf(text,
                   "ln_packed_ops ln_ops_%s = {\n"
                   "    .bytes = packed,\n"
                   "    .numbers = numbers,\n"
                   "    .functions = functions,\n%s};\n",
                   p->arch, has_base ? "    .base = &ln_ops_none,\n" : "");
}

void ln_opdesc_print_packed(const ln_opdesc_set *set, const char *arch, ln_text *text)
{
    packer p = {.set = set, .arch = arch};
    ln_opdesc_print_functions(set, arch, text);
    pack_ops(&p);
    print_tables(&p, text);
    ln_status status = p.status != LN_OK ? p.status : p.functions.status;
    if (status != LN_OK && text->status == LN_OK)
        text->status = status;
    ln_text_deinit(&p.functions);
    ln_text_deinit(&p.raw);
}
