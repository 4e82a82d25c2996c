// SPDX-License-Identifier: Apache-2.0
// Printing rules as C. Parts are printed before what points to them: values, statements, rules.
//
// Every static array has a name with the rule's number and the statement's, such as p0_1_ins: the
// inputs of statement 1 in the pattern of rule 0. Empty arrays are NULL.

#include "desc/rule_gen.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <lightnet/allocator.h>

#include "base/pack.h"
#include "base/value.h"
#include "desc/cident.h"
#include "desc/csnippet.h"
#include "desc/rule_pack.h"

#define PREFIX_BYTES 64

// ", .MEMBER = PREFIX_SUFFIX, .COUNT_MEMBER = n" unless there are none.
static void put_array_ref(ln_text *text, const char *member, const char *count_member,
                          const char *prefix, const char *suffix, size_t count)
{
    if (count > 0)
        ln_text_printf(text, ", .%s = %s_%s, .%s = %zu", member, prefix, suffix, count_member,
                       count);
}

// ---- Values ----

static void put_number(ln_text *text, double number)
{
    char digits[32];
    ln_number_print(number, digits);
    // An integer constant has no minus zero.
    ln_text_puts(text, number == 0 && signbit(number) ? "-0.0" : digits);
}

// `array` names the elements, or the steps, that were printed before.
static void put_value(ln_text *text, const ln_rule_value *value, const char *array)
{
    switch (value->kind) {
    case LN_RULE_NUMBER:
        ln_text_puts(text, "{.kind = LN_RULE_NUMBER, .number = ");
        put_number(text, value->number);
        break;
    case LN_RULE_STRING:
        ln_text_puts(text, "{.kind = LN_RULE_STRING, .string = ");
        ln_c_string(text, value->string);
        break;
    case LN_RULE_BOOL:
        ln_text_printf(text, "{.kind = LN_RULE_BOOL, .boolean = %s",
                       value->boolean ? "true" : "false");
        break;
    case LN_RULE_ARRAY:
        ln_text_puts(text, "{.kind = LN_RULE_ARRAY");
        if (value->count > 0)
            ln_text_printf(text, ", .elements = %s, .count = %zu", array, value->count);
        break;
    case LN_RULE_NAME:
        ln_text_printf(text, "{.kind = LN_RULE_NAME, .name = %d", value->name);
        break;
    case LN_RULE_EXPR:
        ln_text_printf(text, "{.kind = LN_RULE_EXPR, .code = %s, .count = %zu", array,
                       value->count);
        break;
    case LN_RULE_ABSENT: ln_text_puts(text, "{.kind = LN_RULE_ABSENT"); break;
    }
    ln_text_puts(text, "}");
}

// What the values point to was printed before, under names that begin with `prefix`.
static void put_values(ln_text *text, const char *name, const ln_rule_value *values, size_t count,
                       const char *prefix)
{
    char inner[PREFIX_BYTES + 64];
    ln_text_printf(text, "static const ln_rule_value %s[] = {\n", name);
    for (size_t i = 0; i < count; i++) {
        snprintf(inner, sizeof inner, "%s%zu", prefix, i);
        ln_text_indent(text, 4);
        put_value(text, &values[i], inner);
        ln_text_puts(text, ",\n");
    }
    ln_text_puts(text, "};\n");
}

static void put_steps(ln_text *text, const char *name, const ln_rule_step *steps, size_t count)
{
    static const char *const kinds[] = {"NUMBER", "STRING", "BOOL", "VALUE",
                                        "TENSOR", "ARRAY",  "CALL"};
    ln_text_printf(text, "static const ln_rule_step %s[] = {\n", name);
    for (size_t i = 0; i < count; i++) {
        const ln_rule_step *step = &steps[i];
        ln_text_printf(text, "    {LN_RULE_STEP_%s, ", kinds[step->kind]);
        if (step->kind == LN_RULE_STEP_CALL)
            ln_text_printf(text, "LN_RULE_FUNCTION_%s, ",
                           ln_rule_function_name((ln_rule_function)step->index));
        else
            ln_text_printf(text, "%d, ", step->index);
        put_number(text, step->number);
        ln_text_puts(text, ", ");
        ln_c_string(text, step->string);
        ln_text_puts(text, "},\n");
    }
    ln_text_puts(text, "};\n");
}

// The arrays that `values` point to, named <prefix>0, <prefix>1, ...
static void put_inner(ln_text *text, const char *prefix, size_t i, const ln_rule_value *value)
{
    char name[PREFIX_BYTES + 64];
    snprintf(name, sizeof name, "%s%zu", prefix, i);
    if (value->kind == LN_RULE_ARRAY && value->count > 0)
        put_values(text, name, value->elements, value->count, "");
    if (value->kind == LN_RULE_EXPR)
        put_steps(text, name, value->code, value->count);
}

// ---- `lower` statements ----

static void put_conditions(ln_text *text, size_t number, const ln_rule_condition *conditions,
                           size_t count)
{
    char name[PREFIX_BYTES], inner[PREFIX_BYTES];
    if (count == 0)
        return;
    for (size_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "l%zu_%zu_args", number, i);
        snprintf(inner, sizeof inner, "l%zu_%zu_array", number, i);
        for (size_t j = 0; j < conditions[i].arg_count; j++)
            put_inner(text, inner, j, &conditions[i].args[j]);
        put_values(text, name, conditions[i].args, conditions[i].arg_count, inner);
    }
    ln_text_printf(text, "static const ln_rule_condition l%zu_conditions[] = {\n", number);
    for (size_t i = 0; i < count; i++)
        ln_text_printf(text, "    {LN_RULE_PREDICATE_%s, %s, l%zu_%zu_args, %zu},\n",
                       ln_rule_predicate_name(conditions[i].predicate),
                       conditions[i].is_negated ? "true" : "false", number, i,
                       conditions[i].arg_count);
    ln_text_puts(text, "};\n");
}

static void put_lower(ln_text *text, size_t number, const ln_rule_lower *lower)
{
    char prefix[PREFIX_BYTES];
    snprintf(prefix, sizeof prefix, "l%zu", number);
    ln_text_puts(text, "    {.from = ");
    ln_c_string(text, lower->from);
    ln_text_puts(text, ", .to = ");
    ln_c_string(text, lower->to);
    ln_text_printf(text, ", .has_star = %s, .tag = LN_RULE_%s, .line = %d",
                   lower->has_star ? "true" : "false", ln_rule_tag_name(lower->tag), lower->line);
    put_array_ref(text, "conditions", "condition_count", prefix, "conditions",
                  lower->condition_count);
    ln_text_puts(text, "},\n");
}

// Returns how many there are.
static size_t put_lowers(ln_text *text, const ln_rule_set *const *sets, size_t set_count)
{
    size_t count = 0, lower = 0;
    for (size_t i = 0; i < set_count; i++)
        for (size_t j = 0; j < sets[i]->lower_count; j++)
            put_conditions(text, count++, sets[i]->lowers[j].conditions,
                           sets[i]->lowers[j].condition_count);
    if (count == 0)
        return 0;
    ln_text_puts(text, "static const ln_rule_lower lowers[] = {\n");
    for (size_t i = 0; i < set_count; i++)
        for (size_t j = 0; j < sets[i]->lower_count; j++)
            put_lower(text, lower++, &sets[i]->lowers[j]);
    ln_text_puts(text, "};\n\n");
    return count;
}

// ---- Rules ----

// Returns whether there are any.
static bool put_rules(ln_text *text, const ln_rule_set *const *sets, size_t set_count)
{
    ln_text raw = {0};
    size_t count = 0;
    for (size_t i = 0; i < set_count; i++)
        count += sets[i]->rule_count;
    if (count > 0) {
        ln_rule_pack(sets, set_count, &raw);
        ln_pack_print(&raw, "packed", text);
        ln_text_puts(text, "\n");
    }
    ln_text_deinit(&raw);
    return count > 0;
}

void ln_rule_print_code(const ln_rule_set *const *sets, size_t set_count, const char *name,
                        ln_text *text)
{
    ln_text_puts(text, "// Rewrite rules, made by lightnet-gen. Do not edit.\n\n"
                       "#include \"desc/rule.h\"\n\n");
    ln_text_printf(text, "extern const ln_rule_set ln_rules_%s;\n\n", name);
    size_t lower_count = put_lowers(text, sets, set_count);
    bool has_rules = put_rules(text, sets, set_count);
    ln_text_printf(text, "const ln_rule_set ln_rules_%s = {\n    .file = ", name);
    ln_c_string(text, set_count == 1 ? sets[0]->file : name);
    ln_text_puts(text, ",\n");
    if (has_rules)
        ln_text_puts(text, "    .packed = packed,\n");
    if (lower_count > 0)
        ln_text_printf(text, "    .lowers = lowers,\n    .lower_count = %zu,\n", lower_count);
    ln_text_puts(text, "};\n");
}

// ---- From files ----

// The folders above a source differ between machines; the generated text does not.
static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

// The rules of set `last` are in no set before.
static ln_status check_unique(ln_rule_set *const *sets, size_t last)
{
    for (size_t i = 0; i < sets[last]->rule_count; i++) {
        const ln_rule *rule = &sets[last]->rules[i];
        for (size_t s = 0; s < last; s++)
            for (size_t j = 0; j < sets[s]->rule_count; j++)
                if (strcmp(sets[s]->rules[j].name, rule->name) == 0)
                    return LN_FAIL(LN_SYNTAX, "%s:%d: rule '%s' is there already, at %s:%d",
                                   sets[last]->file, rule->line, rule->name, sets[s]->file,
                                   sets[s]->rules[j].line);
    }
    return LN_OK;
}

static ln_status generate(const char *name, const char *const *paths, size_t path_count,
                          ln_rule_set **sets, char **out_text)
{
    for (size_t i = 0; i < path_count; i++) {
        LN_TRY(ln_rule_set_read(paths[i], &sets[i]));
        sets[i]->file = base_name(sets[i]->file);
        LN_TRY(check_unique(sets, i));
    }
    ln_text text = {0};
    ln_rule_print_code((const ln_rule_set *const *)sets, path_count, name, &text);
    return ln_text_take(&text, out_text, NULL);
}

ln_status ln_rule_generate(const char *name, const char *const *paths, size_t path_count,
                           char **out_text)
{
    *out_text = NULL;
    if (!name || !ln_is_identifier(name))
        return LN_FAIL(LN_INVALID, "'%s' is no C identifier", name ? name : "");
    if (!paths || path_count == 0)
        return LN_FAIL(LN_INVALID, "no files with rules are given");
    ln_rule_set **sets = ln_alloc_array(path_count, sizeof *sets);
    if (!sets)
        return LN_NO_MEMORY;
    ln_status status = generate(name, paths, path_count, sets, out_text);
    for (size_t i = 0; i < path_count; i++)
        ln_rule_set_destroy(sets[i]);
    ln_free(sets);
    return status;
}
