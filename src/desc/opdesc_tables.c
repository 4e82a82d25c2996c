// SPDX-License-Identifier: Apache-2.0
// The tables of one operator: argument names, facts, default values, and the prototype.

#include "desc/opdesc_print.h"

#include <string.h>

#include <lightnet/allocator.h>

#include "desc/csnippet.h"

// ---- Default values ----

// The numbers of `value` (a number, or an array of them) saturated to `type`, in braces if many.
static void put_numbers(ln_text *text, const ln_value *value, const char *type)
{
    bool is_list = value->kind == LN_VALUE_ARRAY;
    const ln_value *first = is_list ? value->first : value;
    for (const ln_value *item = first; item; item = is_list ? item->next : NULL) {
        char digits[32];
        double number = item->number;
        bool is_int = strcmp(type, "int") == 0;
        if (is_int)
            number = number > 2147483647.0    ? 2147483647.0
                     : number < -2147483648.0 ? -2147483648.0
                                              : (double)(long long)number;
        ln_number_print(number, digits);
        bool is_least = is_int && number == -2147483648.0;
        bool is_whole = !strpbrk(digits, ".e");
        ln_text_puts(text, item == first ? "" : ", ");
        if (is_least)
            ln_text_puts(text, "-2147483647 - 1");
        else if (is_int)
            ln_text_puts(text, digits);
        else
            ln_text_printf(text, "(%s)%s%s", type, digits, is_whole ? ".0" : "");
    }
}

static void put_number_default(const printer *p, const ln_opdesc_param *param)
{
    static const char *const types[] = {"double", "float", "int"};
    const ln_value *value = param->default_value;
    const char *optype = p->op->optype, *name = param->arg_name;
    bool is_list = value->kind == LN_VALUE_ARRAY;
    for (size_t i = 0; i < 3 && is_list; i++) {
        ln_text_printf(p->text, "static %s %s_%s_%ss[] = {", types[i], optype, name, types[i]);
        put_numbers(p->text, value, types[i]);
        ln_text_puts(p->text, value->count ? "};\n" : "0};\n");
    }
    ln_text_printf(p->text, "static const ln_param_entry %s_%s_default = {\n", optype, name);
    ln_text_printf(p->text, "    .arg_name = %s_%s_name,\n    .type = %s,\n    .array_len = %zu,\n",
                   optype, name, param->ptype, value->count);
    for (size_t i = 0; i < 3; i++) {
        if (is_list) {
            ln_text_printf(p->text, "    .value_array_%s = %s_%s_%ss,\n", types[i], optype, name,
                           types[i]);
        } else {
            ln_text_printf(p->text, "    .value_%s = ", types[i]);
            put_numbers(p->text, value, types[i]);
            ln_text_puts(p->text, ",\n");
        }
    }
    ln_text_puts(p->text, "};\n");
}

static void put_string_default(const printer *p, const ln_opdesc_param *param)
{
    const ln_value *value = param->default_value;
    const char *optype = p->op->optype, *name = param->arg_name;
    bool is_list = value->kind == LN_VALUE_ARRAY;
    size_t i = 0;
    for (const ln_value *item = is_list ? value->first : value; item;
         item = is_list ? item->next : NULL, i++) {
        ln_text_printf(p->text, "static char %s_%s_string%zu[] = ", optype, name, i);
        ln_c_string(p->text, item->text);
        ln_text_puts(p->text, ";\n");
    }
    if (is_list) {
        ln_text_printf(p->text, "static char *%s_%s_strings[] = {", optype, name);
        for (size_t k = 0; k < value->count; k++)
            ln_text_printf(p->text, "%s_%s_string%zu, ", optype, name, k);
        ln_text_puts(p->text, "NULL};\n");
    }
    ln_text_printf(p->text, "static const ln_param_entry %s_%s_default = {\n", optype, name);
    ln_text_printf(p->text, "    .arg_name = %s_%s_name,\n    .type = %s,\n    .array_len = %zu,\n",
                   optype, name, param->ptype, value->count);
    ln_text_printf(p->text,
                   is_list ? "    .value_array_string = %s_%s_strings,\n};\n"
                           : "    .value_string = %s_%s_string0,\n};\n",
                   optype, name);
}

static void put_bool_default(const printer *p, const ln_opdesc_param *param)
{
    const ln_value *value = param->default_value;
    const char *optype = p->op->optype, *name = param->arg_name;
    bool is_list = value->kind == LN_VALUE_ARRAY;
    if (is_list) {
        ln_text_printf(p->text, "static ln_bool %s_%s_bools[] = {", optype, name);
        for (const ln_value *item = value->first; item; item = item->next)
            ln_text_puts(p->text, item->boolean ? "1, " : "0, ");
        ln_text_puts(p->text, "0};\n");
    }
    ln_text_printf(p->text, "static const ln_param_entry %s_%s_default = {\n", optype, name);
    ln_text_printf(p->text, "    .arg_name = %s_%s_name,\n    .type = %s,\n    .array_len = %zu,\n",
                   optype, name, param->ptype, value->count);
    if (is_list)
        ln_text_printf(p->text, "    .value_array_bool = %s_%s_bools,\n};\n", optype, name);
    else
        ln_text_printf(p->text, "    .value_bool = %d,\n};\n", value->boolean);
}

static void put_default(const printer *p, const ln_opdesc_param *param)
{
    ln_text_printf(p->text, "static char %s_%s_name[] = \"%s\";\n", p->op->optype, param->arg_name,
                   param->arg_name);
    if (strstr(param->ptype, "NUMBER"))
        put_number_default(p, param);
    else if (strstr(param->ptype, "STRING"))
        put_string_default(p, param);
    else
        put_bool_default(p, param);
    ln_text_puts(p->text, "\n");
}

// ---- Facts ----

#define FLAG_COUNT 7

static const char *const flag_names[FLAG_COUNT] = {
    "LN_ARG_OPTIONAL",  "LN_ARG_VARIADIC",   "LN_ARG_SCRATCH", "LN_ARG_STATIC",
    "LN_ARG_ATTRIBUTE", "LN_ARG_SHAPE_ONLY", "LN_ARG_WEIGHT"};

unsigned ln_opdesc_flags(const ln_opdesc_tensor *t)
{
    const ln_desc_flag flags[FLAG_COUNT] = {t->is_optional, t->is_variadic,  t->is_scratch,
                                            t->is_static,   t->is_attribute, t->is_shape_only,
                                            t->is_weight};
    unsigned bits = 0;
    for (unsigned i = 0; i < FLAG_COUNT; i++)
        bits |= (unsigned)(flags[i] == LN_DESC_TRUE) << i;
    return bits;
}

static void put_flags(ln_text *text, const ln_opdesc_tensor *t)
{
    unsigned bits = ln_opdesc_flags(t);
    bool is_any = false;
    for (unsigned i = 0; i < FLAG_COUNT; i++)
        if (bits >> i & 1) {
            ln_text_printf(text, "%s%s", is_any ? " | " : "", flag_names[i]);
            is_any = true;
        }
    ln_text_puts(text, is_any ? "" : "0");
}

void ln_opdesc_put_args(ln_text *text, const ln_opdesc *op, const ln_opdesc_tensor *tensors,
                        size_t count, bool has_prose)
{
    for (size_t i = 0; i < count; i++) {
        ln_text_printf(text, "    {\"%s\", ", tensors[i].arg_name);
        ln_c_string(text, !has_prose ? NULL : tensors[i].doc ? tensors[i].doc : "");
        ln_text_puts(text, ", ");
        put_flags(text, &tensors[i]);
        ln_text_printf(text, ", %s", tensors[i].mtype);
        if (ln_opdesc_is_call(op)) {
            ln_text_printf(text, ", %s, ", tensors[i].types ? tensors[i].types : "0");
            ln_c_string(text, tensors[i].sametype);
        } else {
            ln_text_puts(text, ", 0, NULL");
        }
        ln_text_puts(text, "},\n");
    }
    ln_text_puts(text, "    {NULL, NULL, 0, LN_MEM_NONE, 0, NULL},\n");
}

static void put_arg_infos(const printer *p, const char *suffix, const ln_opdesc_tensor *tensors,
                          size_t count)
{
    ln_text_printf(p->text, "static const ln_arg_info %s_%s[] = {\n", p->op->optype, suffix);
    ln_opdesc_put_args(p->text, p->op, tensors, count, true);
    ln_text_puts(p->text, "};\n\n");
}

static void put_param_infos(const printer *p)
{
    ln_text *text = p->text;
    ln_text_printf(text, "static const ln_param_info %s_params[] = {\n", p->op->optype);
    for (size_t i = 0; i < p->op->param_count; i++) {
        const ln_opdesc_param *param = &p->op->params[i];
        ln_text json = {0};
        ln_value_print(param->default_value, &json);
        ln_text_printf(text, "    {\"%s\", ", param->arg_name);
        ln_c_string(text, param->doc ? param->doc : "");
        ln_text_printf(text, ", %s, ", param->ptype);
        ln_c_string(text, json.bytes);
        if (param->default_value)
            ln_text_printf(text, ", &%s_%s_default", p->op->optype, param->arg_name);
        else
            ln_text_puts(text, ", NULL");
        ln_text_printf(text, ", %d, %s},\n", param->is_required == LN_DESC_TRUE,
                       ln_opdesc_wholeness(param));
        if (json.status != LN_OK && text->status == LN_OK)
            text->status = json.status;
        ln_text_deinit(&json);
    }
    ln_text_puts(text, "    {NULL, NULL, LN_PARAM_INVALID, NULL, NULL, 0, 0},\n};\n\n");
}

// A variadic argument's first name stands for all of them.
static void put_tensor_names(const printer *p, const char *suffix, const ln_opdesc_tensor *tensors,
                             size_t count)
{
    ln_text_printf(p->text, "static const char *%s_%s_arg_names[] = {", p->op->optype, suffix);
    for (size_t i = 0; i < count; i++)
        ln_text_printf(p->text, "\"%s%s\", ", tensors[i].arg_name,
                       tensors[i].is_variadic == LN_DESC_TRUE ? "1" : "");
    ln_text_puts(p->text, "NULL};\n");
}

static bool is_view(const ln_opdesc *op)
{
    return ln_opdesc_is_call(op) && op->out_count > 0 && op->outs[0].owner;
}

bool ln_opdesc_has_places(const ln_opdesc *op)
{
    bool has_any = false;
    for (size_t i = 0; i < op->out_count; i++)
        has_any = has_any || op->outs[i].inplace || op->outs[i].inplace_first ||
                  op->outs[i].part_of || op->outs[i].joins || is_view(op);
    return has_any;
}

static void put_place(ln_text *text, const char *out, const char *in, const char *kind)
{
    if (in)
        ln_text_printf(text, "    {\"%s\", \"%s\", LN_PLACE_%s},\n", out, in, kind);
}

static void put_places_over(ln_text *text, const char *out, const ln_value *names, const char *kind)
{
    bool is_list = names && names->kind == LN_VALUE_ARRAY;
    for (const ln_value *in = is_list ? names->first : names; in; in = is_list ? in->next : NULL)
        put_place(text, out, in->text, kind);
}

void ln_opdesc_put_places(ln_text *text, const ln_opdesc *op)
{
    for (size_t i = 0; i < op->out_count; i++) {
        const ln_opdesc_tensor *out = &op->outs[i];
        put_places_over(text, out->arg_name, out->inplace, "OVER");
        put_places_over(text, out->arg_name, out->inplace_first, "OVER_FIRST");
        put_place(text, out->arg_name, out->part_of, "INSIDE");
        put_place(text, out->arg_name, out->joins, "AROUND");
        put_place(text, out->arg_name, is_view(op) ? out->owner : NULL, "VIEW");
    }
    ln_text_puts(text, "    {NULL, NULL, LN_PLACE_OVER},\n");
}

static void put_places(const printer *p)
{
    if (!ln_opdesc_has_places(p->op))
        return;
    ln_text_printf(p->text, "static const ln_place_info %s_places[] = {\n", p->op->optype);
    ln_opdesc_put_places(p->text, p->op);
    ln_text_puts(p->text, "};\n\n");
}

void ln_opdesc_put_since(ln_text *text, const ln_opdesc *op)
{
    for (const ln_value *v = op->since ? op->since->first : NULL; v; v = v->next)
        ln_text_printf(text, "%s, ", v->text);
    ln_text_puts(text, "0");
}

static void put_since(const printer *p)
{
    ln_text_printf(p->text, "static const int %s_since[] = {", p->op->optype);
    ln_opdesc_put_since(p->text, p->op);
    ln_text_puts(p->text, "};\n\n");
}

void ln_opdesc_put_tables(const printer *p)
{
    const ln_opdesc *op = p->op;
    put_arg_infos(p, "ins", op->ins, op->in_count);
    put_arg_infos(p, "outs", op->outs, op->out_count);
    put_places(p);
    for (size_t i = 0; i < op->param_count; i++)
        if (op->params[i].default_value)
            put_default(p, &op->params[i]);
    put_param_infos(p);
    if (ln_opdesc_is_call(op))
        put_since(p);
}

// ---- The prototype ----

static void put_words(ln_text *text, const char *member, const char *words)
{
    if (!words)
        return;
    ln_text_printf(text, "    .%s = ", member);
    ln_c_string(text, words);
    ln_text_puts(text, ",\n");
}

static void put_name(ln_text *text, const char *member, const char *name)
{
    if (name)
        ln_text_printf(text, "    .%s = %s,\n", member, name);
}

static void put_call(const printer *p)
{
    const ln_opdesc *op = p->op;
    ln_text_puts(p->text, "    .check = ln_call_check,\n    .macs = ln_call_macs,\n"
                          "    .cost = ln_call_cost,\n");
    put_name(p->text, "infer", op->infer);
    put_name(p->text, "compute", op->compute);
    put_name(p->text, "accepts", op->accepts);
    put_name(p->text, "call_macs", op->macs);
    put_name(p->text, "call_cost", op->cost);
    put_name(p->text, "prepare", op->prepare);
    put_name(p->text, "workspace", op->workspace);
    put_words(p->text, "domain", op->domain);
    ln_text_printf(p->text, "    .since = %s_since,\n", op->optype);
}

static void put_info(const printer *p)
{
    const ln_opdesc *op = p->op;
    ln_text *text = p->text;
    char rtol[32];
    ln_number_print(op->rtol, rtol);
    ln_text_printf(
        text,
        "static const ln_op_info %s_info = {\n    .byte_count = sizeof(ln_op_info),\n    .doc = ",
        op->optype);
    ln_c_string(text, op->doc ? op->doc : "");
    ln_text_puts(text, ",\n    .author = ");
    ln_c_string(text, op->author);
    ln_text_puts(text, ",\n    .example = ");
    ln_c_string(text, op->example);
    ln_text_printf(text, ",\n    .ins = %s_ins,\n    .outs = %s_outs,\n    .params = %s_params,\n",
                   op->optype, op->optype, op->optype);
    if (ln_opdesc_is_call(op))
        put_call(p);
    else
        ln_text_printf(text, "    .check = %s_check,\n", op->optype);
    if (op->macs && !ln_opdesc_is_call(op))
        ln_text_printf(text, "    .macs = %s_macs,\n", op->optype);
    if (op->cost && !ln_opdesc_is_call(op))
        ln_text_printf(text, "    .cost = %s_cost,\n", op->optype);
    if (ln_opdesc_has_places(op))
        ln_text_printf(text, "    .places = %s_places,\n", op->optype);
    put_name(text, "open_run", op->compute && is_view(op) ? "ln_call_run" : NULL);
    if (op->commutes && ln_opdesc_is_call(op))
        put_name(text, "commutes", op->commutes);
    else if (op->commutes)
        ln_text_printf(text, "    .commutes = %s_commutes,\n", op->optype);
    put_name(text, "is_random", op->is_random);
    if (op->any_address == LN_DESC_TRUE)
        ln_text_puts(text, "    .takes_any_address = 1,\n");
    ln_text_printf(text, "    .rtol = %s,\n", rtol);
    if (op->step_cost > 0) {
        char step_cost[32];
        ln_number_print(op->step_cost, step_cost);
        ln_text_printf(text, "    .step_cost = %s,\n", step_cost);
    }
    put_words(text, "dtypes", op->dtypes);
    put_words(text, "nan", op->nan);
    ln_text_puts(text, "};\n\n");
}

static void put_function(const printer *p, const char *member, bool is_present)
{
    if (is_present)
        ln_text_printf(p->text, "    .%s = %s_%s,\n", member, p->op->optype, member);
}

void ln_opdesc_put_proto(const printer *p)
{
    const ln_opdesc *op = p->op;
    ln_text *text = p->text;
    const char *name = op->optype;
    put_tensor_names(p, "in", op->ins, op->in_count);
    put_tensor_names(p, "out", op->outs, op->out_count);
    ln_text_printf(text, "static const char *%s_param_arg_names[] = {", name);
    for (size_t i = 0; i < op->param_count; i++)
        ln_text_printf(text, "\"%s\", ", op->params[i].arg_name);
    ln_text_printf(text, "NULL};\nstatic const ln_param_type %s_param_ptypes[] = {", name);
    for (size_t i = 0; i < op->param_count; i++)
        ln_text_printf(text, "%s, ", op->params[i].ptype);
    ln_text_puts(text, "LN_PARAM_INVALID};\n\n");
    put_info(p);
    ln_text_printf(text,
                   "static char %s_optype[] = \"%s\";\n"
                   "static char %s_arch[] = \"%s\";\n"
                   "static ln_op_arg %s_op_arg = {\n"
                   "    .optype = %s_optype,\n"
                   "    .arch = %s_arch,\n"
                   "    .in_arg_names = %s_in_arg_names,\n"
                   "    .out_arg_names = %s_out_arg_names,\n"
                   "    .param_arg_names = %s_param_arg_names,\n"
                   "    .param_ptypes = %s_param_ptypes,\n"
                   "    .info = &%s_info,\n"
                   "};\n\n",
                   name, name, name, op->arch, name, name, name, name, name, name, name, name);
    ln_text_printf(text,
                   "extern ln_op ln_opimpl_%s;\n"
                   "ln_op ln_opimpl_%s = {\n"
                   "    .op_arg = &%s_op_arg,\n",
                   name, name, name);
    if (ln_opdesc_is_call(op)) {
        put_name(text, "pre_run", "ln_call_pre_run");
        bool is_static = op->out_count > 0 && op->outs[0].is_static == LN_DESC_TRUE;
        const char *run = op->compute && !is_view(op) ? "ln_call_run" : NULL;
        put_name(text, is_static ? "static_run" : "run", run);
        put_name(text, "post_run", "ln_call_post_run");
        put_name(text, "calc_offset", op->calc_offset);
    } else {
        put_function(p, "pre_run", true);
        put_function(p, "static_run", op->static_run);
        put_function(p, "run", op->run);
        put_function(p, "post_run", true);
        put_function(p, "calc_offset", !ln_c_is_blank(op->calc_offset));
    }
    ln_text_puts(text, "};\n\n");
}
