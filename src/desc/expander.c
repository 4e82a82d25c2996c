// SPDX-License-Identifier: Apache-2.0
// Optimizer descriptions of the first LightNet to text of rules.
//
// There, the rules of an operator type are tried in order and the first whose conditions hold is
// applied; so are `lower` statements. A condition is brought into disjunctive normal form, and each
// of its terms gives one statement.

#include <lightnet/expander.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <lightnet/allocator.h>

#include "base/text.h"
#include "base/value.h"

#define MAX_TERMS   16  // of a condition in normal form
#define MAX_TEXT    512 // bytes of a term
#define MAX_NESTING 16  // brackets within each other

// ---- Conditions ----

// Terms of which one has to hold; each is conditions of a rule, joined by ", ". No term: nothing
// holds. An empty term: everything does.
typedef struct terms {
    char text[MAX_TERMS][MAX_TEXT];
    size_t count;
} terms;

typedef struct parser {
    const char *at;
    ln_place place;
    int depth;
} parser;

static ln_status refuse(const parser *p, const char *what, const char *reason)
{
    return ln_fail_at(p->place, LN_UNSUPPORTED, "condition '%.100s': %s", what, reason);
}

static void skip_blanks(parser *p)
{
    p->at += strspn(p->at, " \t\r\n");
}

static bool take(parser *p, const char *sign)
{
    skip_blanks(p);
    size_t len = strlen(sign);
    if (strncmp(p->at, sign, len) != 0)
        return false;
    p->at += len;
    return true;
}

// Both have to hold: each term of one with each of the other.
static ln_status add_and(const parser *p, terms *left, const terms *right)
{
    if (left->count * right->count > MAX_TERMS)
        return refuse(p, p->at, "it has too many alternatives");
    terms *both = ln_alloc(sizeof *both);
    if (!both)
        return LN_NO_MEMORY;
    bool fits = true;
    for (size_t i = 0; i < left->count; i++) {
        for (size_t k = 0; k < right->count; k++) {
            const char *a = left->text[i], *b = right->text[k];
            int len =
                snprintf(both->text[both->count++], MAX_TEXT, "%s%s%s", a, *a && *b ? ", " : "", b);
            fits = fits && len < MAX_TEXT;
        }
    }
    *left = *both;
    ln_free(both);
    return fits ? LN_OK : refuse(p, p->at, "it is too long");
}

static ln_status add_or(const parser *p, terms *left, const terms *right)
{
    if (left->count + right->count > MAX_TERMS)
        return refuse(p, p->at, "it has too many alternatives");
    memcpy(left->text[left->count], right->text, right->count * sizeof right->text[0]);
    left->count += right->count;
    return LN_OK;
}

// The text up to the next sign that is not within square brackets, without blanks around it.
static ln_status take_operand(parser *p, char operand[MAX_TEXT])
{
    skip_blanks(p);
    const char *start = p->at;
    int brackets = 0;
    while (*p->at && (brackets > 0 || !strchr("&|()<>=!", *p->at))) {
        brackets += (*p->at == '[') - (*p->at == ']');
        p->at++;
    }
    size_t len = (size_t)(p->at - start);
    while (len > 0 && strchr(" \t\r\n", start[len - 1]))
        len--;
    if (len == 0 || len >= MAX_TEXT)
        return ln_fail_at(p->place, LN_SYNTAX, "expected a symbol at '%.40s' of the condition",
                          start);
    memcpy(operand, start, len);
    operand[len] = '\0';
    if (strncmp(p->at, "=>", 2) == 0)
        return refuse(p, operand,
                      "who reads a tensor cannot be asked in a `lower` statement; it can in the "
                      "pattern of a rule (docs/rules.md)");
    return LN_OK;
}

static const char *take_comparison(parser *p)
{
    static const char *const signs[] = {"==", "!=", "<=", ">=", "<", ">"};
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
        if (take(p, signs[i]))
            return signs[i];
    return NULL;
}

static bool is_word(const char *word)
{
    return *word && word[strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
                                      "0123456789")] == '\0';
}

// self.ins[NAME].FIELD, or without .FIELD, which then is "".
static bool split_input(const char *operand, char name[MAX_TEXT], const char **out_field)
{
    static const char start[] = "self.ins[";
    if (strncmp(operand, start, sizeof start - 1) != 0)
        return false;
    const char *first = operand + sizeof start - 1, *end = strchr(first, ']');
    if (!end || (end[1] && end[1] != '.'))
        return false;
    memcpy(name, first, (size_t)(end - first));
    name[end - first] = '\0';
    *out_field = end[1] ? end + 2 : "";
    return is_word(name);
}

typedef struct comparison {
    char name[MAX_TEXT];
    const char *field;
    const char *sign; // NULL: the symbol alone
    const char *value;
    const char *whole;
} comparison;

static ln_status print_flag(const parser *p, const comparison *c, char *term)
{
    bool is_one = !c->sign || strcmp(c->value, "1") == 0 || strcmp(c->value, "true") == 0 ||
                  strcmp(c->value, "LN_TRUE") == 0;
    bool is_zero = c->sign && (strcmp(c->value, "0") == 0 || strcmp(c->value, "false") == 0 ||
                               strcmp(c->value, "LN_FALSE") == 0);
    bool is_equal = !c->sign || strcmp(c->sign, "==") == 0;
    if ((!is_one && !is_zero) || (!is_equal && strcmp(c->sign, "!=") != 0))
        return refuse(p, c->whole, "'isstatic' is true or false");
    snprintf(term, MAX_TEXT, "%sstatic(%.100s)", is_one == is_equal ? "" : "not ", c->name);
    return LN_OK;
}

static ln_status print_word(const parser *p, const comparison *c, char *term)
{
    bool is_equal = c->sign && strcmp(c->sign, "==") == 0;
    if (!c->sign || (!is_equal && strcmp(c->sign, "!=") != 0) || !is_word(c->value))
        return refuse(p, c->whole, "a type is compared with a word, by == or !=");
    snprintf(term, MAX_TEXT, "%sdtype(%.100s, %.100s)", is_equal ? "" : "not ", c->name, c->value);
    return LN_OK;
}

// Tensors of arch `none` have no memory yet; those of `cpu` and `ref` will be in main memory.
static ln_status print_memory(const parser *p, const comparison *c, char *term)
{
    if (c->sign && strcmp(c->sign, "==") == 0 && strcmp(c->value, "LN_MEM_CPU") == 0) {
        *term = '\0';
        return LN_OK;
    }
    return refuse(p, c->whole,
                  "archs of this library are asked what they take; memory types are "
                  "no condition of a rule");
}

static ln_status print_rank(const parser *p, const comparison *c, char *term)
{
    bool is_equal = c->sign && strcmp(c->sign, "==") == 0;
    bool is_number = c->value[0] && !c->value[strspn(c->value, "0123456789")];
    if (!c->sign || (!is_equal && strcmp(c->sign, "!=") != 0) || !is_number)
        return refuse(p, c->whole,
                      "a `lower` statement compares 'ndim' with a number, by == or !=");
    snprintf(term, MAX_TEXT, "%srank(%.100s, %.40s)", is_equal ? "" : "not ", c->name, c->value);
    return LN_OK;
}

static ln_status print_comparison(const parser *p, const comparison *c, char *term)
{
    if (strcmp(c->field, "isstatic") == 0)
        return print_flag(p, c, term);
    if (strcmp(c->field, "dtype") == 0)
        return print_word(p, c, term);
    if (strcmp(c->field, "mtype") == 0)
        return print_memory(p, c, term);
    if (strcmp(c->field, "ndim") == 0)
        return print_rank(p, c, term);
    return refuse(p, c->whole,
                  "a `lower` statement asks for 'dtype', 'ndim' and 'isstatic' of an "
                  "input; a rule can ask for dimensions (docs/rules.md)");
}

static ln_status parse_comparison(parser *p, terms *out)
{
    char left[MAX_TEXT], right[MAX_TEXT] = "";
    const char *start = p->at;
    LN_TRY(take_operand(p, left));
    comparison c = {.sign = take_comparison(p), .value = right, .whole = start};
    if (c.sign)
        LN_TRY(take_operand(p, right));
    if (!split_input(left, c.name, &c.field))
        return refuse(p, left,
                      "a `lower` statement asks about inputs of the operator only; what the "
                      "new type does not take by its own checks is left to the next");
    out->count = 1;
    return print_comparison(p, &c, out->text[0]);
}

static ln_status parse_or(parser *p, terms *out);

static ln_status parse_factor(parser *p, terms *out)
{
    if (!take(p, "("))
        return parse_comparison(p, out);
    if (++p->depth > MAX_NESTING)
        return refuse(p, p->at, "it is nested too deeply");
    LN_TRY(parse_or(p, out));
    p->depth--;
    return take(p, ")")
               ? LN_OK
               : ln_fail_at(p->place, LN_SYNTAX, "a bracket of the condition is not closed");
}

typedef ln_status parse_part(parser *p, terms *out);
typedef ln_status join_parts(const parser *p, terms *left, const terms *right);

static ln_status parse_chain(parser *p, terms *out, const char *sign, parse_part *part,
                             join_parts *join)
{
    LN_TRY(part(p, out));
    while (take(p, sign)) {
        terms *right = ln_alloc(sizeof *right);
        ln_status status = right ? part(p, right) : LN_NO_MEMORY;
        if (status == LN_OK)
            status = join(p, out, right);
        ln_free(right);
        LN_TRY(status);
    }
    return LN_OK;
}

static ln_status parse_and(parser *p, terms *out)
{
    return parse_chain(p, out, "&&", parse_factor, add_and);
}

static ln_status parse_or(parser *p, terms *out)
{
    return parse_chain(p, out, "||", parse_and, add_or);
}

// ---- Members ----

typedef struct entry {
    const char *optype;
    const ln_value *rule; // the one that is read
    ln_text *text;
} entry;

static ln_status need(const ln_value *object, const char *key, ln_value_kind kind,
                      const ln_value **out_member)
{
    const ln_value *member = ln_value_get(object, key);
    *out_member = member;
    if (!member)
        return ln_fail_at(object->place, LN_INVALID, "\"%s\" is missing", key);
    if (member->kind != kind)
        return ln_fail_at(member->place, LN_INVALID, "\"%s\" is %s", key,
                          ln_value_kind_text(member->kind));
    return LN_OK;
}

static ln_status refuse_code(const ln_value *object)
{
    static const char *const keys[] = {"head", "custom_before", "custom_after"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const ln_value *code = ln_value_get(object, keys[i]);
        if (code && code->kind == LN_VALUE_STRING && code->text[strspn(code->text, " \t\r\n")])
            return ln_fail_at(code->place, LN_UNSUPPORTED,
                              "\"%s\" is C; rules have none: write an arch with `ep_funcs` "
                              "(docs/own-operator.md)",
                              keys[i]);
    }
    return LN_OK;
}

static void print_comment(ln_text *text, const char *comment)
{
    ln_text_puts(text, "# ");
    for (; *comment; comment++)
        ln_text_append(text, *comment == '\n' ? " " : comment, 1);
    ln_text_puts(text, "\n");
}

// ---- Rules ----

// The conditions of a rule, of which one has to hold; none: it always applies.
static ln_status read_conditions(const ln_value *rule, terms *out)
{
    const ln_value *list;
    LN_TRY(need(rule, "cond", LN_VALUE_ARRAY, &list));
    out->count = list->count == 0;
    out->text[0][0] = '\0';
    for (const ln_value *cond = list->first; cond; cond = cond->next) {
        if (cond->kind != LN_VALUE_STRING)
            return ln_fail_at(cond->place, LN_INVALID, "a condition is a string");
        parser p = {.at = cond->text, .place = cond->place};
        terms *one = ln_alloc(sizeof *one);
        ln_status status = one ? parse_or(&p, one) : LN_NO_MEMORY;
        skip_blanks(&p);
        if (status == LN_OK && *p.at)
            status = ln_fail_at(p.place, LN_SYNTAX, "the condition ends before '%.40s'", p.at);
        if (status == LN_OK)
            status = add_or(&p, out, one);
        ln_free(one);
        LN_TRY(status);
    }
    return LN_OK;
}

static ln_status read_replacement(const entry *e, const char **out_type)
{
    const ln_value *list;
    LN_TRY(need(e->rule, "replace", LN_VALUE_ARRAY, &list));
    if (list->count == 0)
        return ln_fail_at(
            list->place, LN_UNSUPPORTED,
            "%s is removed, which leaves those that read its output without a tensor; "
            "a rule says what they read then: y = %s(x) => y = x",
            e->optype, e->optype);
    const ln_value *type = list->first;
    if (type->kind != LN_VALUE_STRING)
        return ln_fail_at(type->place, LN_INVALID, "a replacement is a string");
    if (list->count > 1 || !is_word(type->text))
        return ln_fail_at(
            list->place, LN_UNSUPPORTED,
            "%s becomes %zu operator%s with arguments of their own; a `lower` statement "
            "changes the type alone: write an arch with `ep_funcs`, or one operator "
            "(docs/own-operator.md)",
            e->optype, list->count, list->count == 1 ? "" : "s");
    *out_type = type->text;
    return LN_OK;
}

// Whether the rule only says that the operator stays, or that nothing takes it. A lowered operator
// is no operator of arch `none`, so no `lower` statement applies to it.
static ln_status read_end(const entry *e, const terms *conditions, bool *out_is_end)
{
    const ln_value *match = ln_value_get(e->rule, "match"), *err = ln_value_get(e->rule, "err");
    *out_is_end = err || (match && match->kind == LN_VALUE_BOOL && !match->boolean);
    if (!*out_is_end)
        return LN_OK;
    bool is_always = conditions->count == 1 && !conditions->text[0][0];
    if (!is_always && e->rule->next)
        return ln_fail_at(e->rule->place, LN_UNSUPPORTED,
                          "%s is %s under a condition and replaced otherwise; `lower` statements "
                          "only say what replaces it: put the opposite condition to the next rule",
                          e->optype, err ? "refused" : "left as it is");
    ln_text_printf(e->text, "# %s: %s\n", e->optype,
                   err ? "what no statement above takes is refused" : "left as it is");
    return LN_OK;
}

static ln_status print_rule(const entry *e, const terms *conditions)
{
    bool is_end;
    LN_TRY(refuse_code(e->rule));
    LN_TRY(read_end(e, conditions, &is_end));
    const ln_value *warning = ln_value_get(e->rule, "warn");
    if (warning && warning->kind == LN_VALUE_STRING)
        print_comment(e->text, warning->text);
    const char *type = NULL;
    if (is_end)
        return LN_OK;
    LN_TRY(read_replacement(e, &type));
    for (size_t i = 0; i < conditions->count; i++)
        ln_text_printf(e->text, "lower %s => %s%s%s\n", e->optype, type,
                       conditions->text[i][0] ? " where " : "", conditions->text[i]);
    return LN_OK;
}

static ln_status print_entry(const ln_value *value, ln_text *text)
{
    const ln_value *optype, *rules;
    LN_TRY(need(value, "optype", LN_VALUE_STRING, &optype));
    LN_TRY(need(value, "rules", LN_VALUE_ARRAY, &rules));
    LN_TRY(refuse_code(value));
    if (!is_word(optype->text))
        return ln_fail_at(optype->place, LN_INVALID, "'%.60s' is no operator type", optype->text);
    terms *conditions = ln_alloc(sizeof *conditions);
    if (!conditions)
        return LN_NO_MEMORY;
    ln_status status = LN_OK;
    for (const ln_value *rule = rules->first; rule && status == LN_OK; rule = rule->next) {
        entry e = {.optype = optype->text, .rule = rule, .text = text};
        conditions->count = 0;
        status = read_conditions(rule, conditions);
        if (status == LN_OK)
            status = print_rule(&e, conditions);
    }
    ln_free(conditions);
    return status;
}

// ---- The whole ----

static ln_status print_all(const ln_value *root, ln_text *text)
{
    const ln_value *name, *ops;
    LN_TRY(need(root, "name", LN_VALUE_STRING, &name));
    LN_TRY(need(root, "ops", LN_VALUE_ARRAY, &ops));
    LN_TRY(refuse_code(root));
    char head[160];
    snprintf(head, sizeof head, "Expander '%.100s'.", name->text);
    print_comment(text, head);
    for (const ln_value *op = ops->first; op; op = op->next)
        LN_TRY(print_entry(op, text));
    return text->status;
}

int ln_expander_probe(const char *text, size_t len)
{
    for (size_t i = 0; text && i < len; i++) {
        if (text[i] == '{')
            return 1;
        if (text[i] == '/' && i + 1 < len && text[i + 1] == '/') // a comment, in easy JSON only
            return 1;
        if (!strchr(" \t\r\n", text[i]) || !text[i])
            return 0;
    }
    return 0;
}

ln_status ln_expander_to_rules(const char *text, size_t len, const char *file, char **out_rules)
{
    if (out_rules)
        *out_rules = NULL;
    if (!text || !file || !out_rules)
        return LN_FAIL(LN_INVALID, "converting a description needs its text, a name and a result");
    ln_document *document;
    LN_TRY(ln_document_parse(text, len, file, LN_DIALECT_EASY, &document));
    ln_text rules = {0};
    ln_status status = print_all(ln_document_root(document), &rules);
    ln_document_destroy(document);
    if (status != LN_OK) {
        ln_text_deinit(&rules);
        return status;
    }
    size_t rules_len;
    return ln_text_take(&rules, out_rules, &rules_len);
}
