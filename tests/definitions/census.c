// SPDX-License-Identifier: Apache-2.0
// Says, for prove.py, what there is to prove of definitions, and what a model has of it. A
// definition is a rule into the core of an operator that arch `ref` has no function for.
//
//     census definitions        a line for each operator: its rules, each with what it passes on,
//                               parameters, inputs and outputs
//     census models <LIST       for each path of the list, what its operators of such types have
//     census accepted <LIST     for each "PATH<tab>OPTYPE": the element types that the operator
//     takes
//                               in the place of those that it has there
//
// Fields are divided by tabs, words in them by spaces.

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lightnet/lightnet.h>
#include <lightnet/op_info.h>
#include <lightnet/optimize.h>

#include "desc/rule.h"
#include "ir/context.h"
#include "pass/pass.h"

extern const ln_rule_set ln_rules_core;

static ln_rule_set *core_rules;

static bool is_defined(const char *optype)
{
    return ln_rule_set_has_root(core_rules, optype) &&
           !ln_pass_has_variant(ln_arch_find("ref"), optype);
}

// ---- Definitions ----

static void print_value(const ln_param_entry *p)
{
    switch (p->type) {
    case LN_PARAM_STRING: printf("%s", p->value_string); break;
    case LN_PARAM_NUMBER: printf("%g", p->value_double); break;
    case LN_PARAM_BOOL: printf("%s", p->value_bool ? "true" : "false"); break;
    case LN_PARAM_ARRAY_NUMBER:
        for (int i = 0; i < p->array_len; i++)
            printf("%s%g", i ? "," : "", p->value_array_double[i]);
        break;
    case LN_PARAM_ARRAY_STRING:
        for (int i = 0; i < p->array_len; i++)
            printf("%s%s", i ? "," : "", p->value_array_string[i]);
        break;
    default: printf("?"); break;
    }
}

// What a rule passes on: parameters that its pattern binds to a name, or that its result copies.
static void print_passed_params(const ln_rule *rule, const ln_op_info *info)
{
    const ln_rule_op *root = &rule->pattern[0];
    bool copies = false;
    for (size_t i = 0; i < rule->result_count; i++)
        copies = copies || rule->result[i].params_from == 0;
    for (const ln_param_info *p = info->params; p && p->arg_name; p++) {
        bool is_named = false, is_bound = false;
        for (size_t i = 0; i < root->param_count; i++) {
            if (strcmp(root->params[i].arg_name, p->arg_name) != 0)
                continue;
            is_named = true;
            is_bound = is_bound || root->params[i].value.kind == LN_RULE_NAME;
        }
        if (strcmp(p->arg_name, "since") != 0 && (is_bound || (copies && !is_named)))
            printf(",%s", p->arg_name);
    }
}

// And inputs that may be left out.
static void print_passed_inputs(const ln_rule *rule, const ln_op_info *info)
{
    const ln_rule_op *root = &rule->pattern[0];
    const ln_arg_info *in = info->ins;
    for (size_t i = 0; i < root->in_count; i++) {
        const char *name = root->ins[i].arg_name;
        if (!name && in && in->arg_name)
            name = in->arg_name;
        if (in && in->arg_name)
            in++;
        if (name && root->ins[i].is_maybe)
            printf(",%s", name);
    }
}

static int print_rules(const char *optype, const ln_op_info *info)
{
    const ln_rule *rules;
    size_t count;
    int failures = 0;
    if (ln_rule_set_read_root(core_rules, optype, &rules, &count) != LN_OK)
        return 1;
    for (size_t i = 0; i < count; i++) {
        if (rules[i].stage != LN_RULE_TO_CORE || strcmp(rules[i].pattern[0].optype, optype) != 0)
            continue;
        printf(" %s", rules[i].name);
        print_passed_params(&rules[i], info);
        print_passed_inputs(&rules[i], info);
        if (rules[i].pattern_count != 1) {
            fprintf(stderr, "rule %s matches %zu operators: it is no definition\n", rules[i].name,
                    rules[i].pattern_count);
            failures++;
        }
    }
    return failures;
}

// "A B? C..." of ones that may be left out, and of those without end.
static void print_args(const ln_arg_info *args)
{
    for (; args && args->arg_name; args++)
        printf(" %s%s%s", args->arg_name, args->flags & LN_ARG_VARIADIC ? "..." : "",
               args->flags & LN_ARG_OPTIONAL ? "?" : "");
}

static void print_definition(const ln_op *op, int *failures)
{
    const ln_op_info *info = op->op_arg->info;
    printf("%s\t", op->op_arg->optype);
    *failures += print_rules(op->op_arg->optype, info);
    printf("\t");
    for (const ln_param_info *p = info->params; p && p->arg_name; p++)
        if (strcmp(p->arg_name, "since") != 0)
            printf(" %s", p->arg_name);
    printf("\t");
    print_args(info->ins);
    printf("\t");
    print_args(info->outs);
    printf("\n");
}

static int print_definitions(void)
{
    int failures = 0;
    const ln_op *op;
    for (size_t i = 0; (op = ln_op_find_at(i)); i++)
        if (is_defined(op->op_arg->optype))
            print_definition(op, &failures);
    return failures;
}

// ---- Models ----

static bool is_same(const ln_param_entry *a, const ln_param_entry *b)
{
    if (!b || a->type != b->type || a->array_len != b->array_len)
        return false;
    switch (a->type) {
    case LN_PARAM_STRING: return strcmp(a->value_string, b->value_string) == 0;
    case LN_PARAM_NUMBER: return memcmp(&a->value_double, &b->value_double, sizeof(double)) == 0;
    case LN_PARAM_BOOL: return !a->value_bool == !b->value_bool;
    default: return a->array_len == 0;
    }
}

static bool is_default(const ln_op_info *info, const ln_param_entry *p)
{
    for (const ln_param_info *i = info->params; i && i->arg_name; i++)
        if (strcmp(i->arg_name, p->arg_name) == 0)
            return i->default_entry && is_same(p, i->default_entry);
    return true;
}

static ln_status print_ops(ln_context *graph, void *user)
{
    const ln_op *op;
    int count = 0;
    LN_LIST_FOREACH (op, graph->ops)
        count += op->op_arg->tensors_in && op->op_arg->tensors_out;
    LN_LIST_FOREACH (op, graph->ops) {
        const ln_op_arg *arg = op->op_arg;
        if (!is_defined(arg->optype))
            continue;
        printf("%s\t%d\t%s\t", (const char *)user, count, arg->optype);
        const ln_tensor_list_entry *in;
        LN_LIST_FOREACH (in, arg->tensors_in) {
            const ln_tensor_entry *entry = ln_tensor_table_find(graph->tensor_table, in->name);
            printf(" %s=%s%s", in->arg_name, tl_dtype_name(entry->tensor->dtype),
                   entry->is_input ? "" : "*");
        }
        printf("\t");
        const ln_param_entry *p;
        LN_LIST_FOREACH (p, arg->params) {
            if (is_default(arg->info, p) || strcmp(p->arg_name, "since") == 0)
                continue;
            printf(" %s=", p->arg_name);
            print_value(p);
        }
        printf("\n");
    }
    return LN_OK;
}

static int print_model(char *path)
{
    ln_context *ctx = ln_context_create();
    ln_status status = ctx ? ln_context_init(ctx, path) : LN_NO_MEMORY;
    if (status == LN_OK) {
        (void)print_ops(ctx, path);
        (void)ln_context_each_graph(ctx, print_ops, path);
    }
    ln_context_free(ctx);
    return 0; // what cannot be read proves nothing
}

// ---- Element types ----

// `text` with type `to` for `from` in the operators that begin a model; the caller frees it.
static char *retype(const char *text, const char *from, const char *to)
{
    char *out = calloc(2 * strlen(text) + 1, 1), *end = out;
    size_t from_len = strlen(from);
    for (const char *line = text; *line;) {
        size_t len = strcspn(line, "\n") + 1;
        bool begins = strncmp(line, "input(", 6) == 0 || strstr(line, ": input(") < line + len;
        begins = begins && memmem(line, len, "input(", 6);
        const char *at = begins ? memmem(line, len, from, from_len) : NULL;
        if (at && at[from_len] == ',')
            end += sprintf(end, "%.*s%s%.*s", (int)(at - line), line, to,
                           (int)(line + len - at - (ptrdiff_t)from_len), at + from_len);
        else
            end += sprintf(end, "%.*s", (int)len, line);
        line += len - (line[len - 1] == '\0');
    }
    return out;
}

static bool is_accepted(const char *text)
{
    ln_optimize_options options = ln_optimize_options_default();
    options.stays_as_read = 1;
    ln_context *ctx = ln_context_create();
    ln_status status =
        ctx ? ln_context_init_mem(ctx, text, strlen(text), "model.net") : LN_NO_MEMORY;
    if (status == LN_OK)
        status = ln_context_compile_with(ctx, "ref", &options);
    ln_context_free(ctx);
    return status == LN_OK;
}

static const char *first_type(const ln_context *ctx, const char *optype)
{
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops)
        if (strcmp(op->op_arg->optype, optype) == 0 && op->op_arg->tensors_in) {
            const ln_tensor_list_entry *in = op->op_arg->tensors_in->data;
            return tl_dtype_name(ln_tensor_table_find(ctx->tensor_table, in->name)->tensor->dtype);
        }
    return NULL;
}

static int print_accepted(char *line)
{
    char *optype = strchr(line, '\t');
    if (!optype)
        return 1;
    *optype++ = '\0';
    ln_context *ctx = ln_context_create();
    char *text = NULL;
    size_t byte_count;
    ln_status status = ctx ? ln_context_init(ctx, line) : LN_NO_MEMORY;
    if (status == LN_OK)
        status = ln_context_write(ctx, "il", &text, &byte_count);
    const char *from = status == LN_OK ? first_type(ctx, optype) : NULL;
    printf("%s\t", optype);
    for (int t = 0; from && t < TL_DTYPE_SIZE; t++) {
        if (t == TL_STRING || t == TL_OBJECT) // come in the run, and are refused there
            continue;
        char *typed = retype(text, from, tl_dtype_name((tl_dtype)t));
        if (is_accepted(typed))
            printf(" %s", tl_dtype_name((tl_dtype)t));
        free(typed);
    }
    printf("\n");
    ln_free(text);
    ln_context_free(ctx);
    return from == NULL;
}

int main(int argc, char **argv)
{
    const char *what = argc == 2 ? argv[1] : "";
    char line[8192];
    int failures = 0;
    if (ln_arch_init() != LN_OK || ln_rule_set_open(&ln_rules_core, &core_rules) != LN_OK)
        return 2;
    if (strcmp(what, "definitions") == 0)
        failures = print_definitions();
    while (strcmp(what, "definitions") != 0 && fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        failures += strcmp(what, "models") == 0 ? print_model(line) : print_accepted(line);
    }
    ln_rule_set_destroy(core_rules);
    ln_arch_cleanup();
    return failures > 0;
}
