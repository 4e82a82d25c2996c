// SPDX-License-Identifier: Apache-2.0
// Recursive descent over the grammar of docs/rules.md, without recursion: nothing nests deeper than
// an array. Here: the words that all parts take, a rule as a whole, and files.

#include "desc/rule.h"

#include <stdio.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/expander.h>

#include "desc/rule_parser.h"

// ---- Tokens ----

// The token, or what it stands for in this row.
static void substitute(ln_rule_parser *p)
{
    p->is_substituted = false;
    for (size_t i = 0; i < p->column_count && p->token.kind == LN_RULE_TOKEN_WORD; i++) {
        if (!ln_rule_same_word(p->token.text, p->columns[i]))
            continue;
        ln_place place = p->token.place;
        p->token = p->row[i];
        p->token.place = place;
        p->is_substituted = true;
        return;
    }
}

ln_status ln_rule_next(ln_rule_parser *p)
{
    LN_TRY(ln_rule_lex(&p->lexer, &p->token));
    substitute(p);
    return LN_OK;
}

static bool is_reserved(const char *word)
{
    static const char *const words[] = {"rule", "lower", "where",  "true", "false",
                                        "not",  "after", "before", "into", "absent"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (ln_rule_same_word(word, words[i]))
            return true;
    return false;
}

bool ln_rule_at_name(const ln_rule_parser *p)
{
    return p->token.kind == LN_RULE_TOKEN_WORD && !is_reserved(p->token.text);
}

bool ln_rule_at_keyword(const ln_rule_parser *p, const char *word)
{
    ln_rule_lexer ahead = p->lexer;
    ln_rule_token after;
    return ln_rule_at_word(p, word) && ln_rule_lex(&ahead, &after) == LN_OK &&
           after.kind == LN_RULE_TOKEN_WORD;
}

ln_status ln_rule_fail_expected(const ln_rule_parser *p, const char *what)
{
    const ln_rule_token *t = &p->token;
    switch (t->kind) {
    case LN_RULE_TOKEN_WORD:
        return ln_fail_at(t->place, LN_SYNTAX, "expected %s, found '%s'", what, t->text);
    case LN_RULE_TOKEN_NUMBER:
        return ln_fail_at(t->place, LN_SYNTAX, "expected %s, found a number", what);
    case LN_RULE_TOKEN_STRING:
        return ln_fail_at(t->place, LN_SYNTAX, "expected %s, found \"%s\"", what, t->text);
    case LN_RULE_TOKEN_ARROW:
        return ln_fail_at(t->place, LN_SYNTAX, "expected %s, found '=>'", what);
    case LN_RULE_TOKEN_SIGN:
        return ln_fail_at(t->place, LN_SYNTAX, "expected %s, found '%s'", what, t->text);
    case LN_RULE_TOKEN_END: break;
    }
    return ln_fail_at(t->place, LN_SYNTAX, "expected %s, found the end", what);
}

ln_status ln_rule_expect_sign(ln_rule_parser *p, char sign)
{
    char what[] = {'\'', sign, '\'', '\0'};
    return ln_rule_at_sign(p, sign) ? ln_rule_next(p) : ln_rule_fail_expected(p, what);
}

static ln_status expect_arrow(ln_rule_parser *p)
{
    return p->token.kind == LN_RULE_TOKEN_ARROW ? ln_rule_next(p)
                                                : ln_rule_fail_expected(p, "'=>'");
}

bool ln_rule_is_before_bracket(const ln_rule_parser *p)
{
    ln_rule_lexer ahead = p->lexer;
    ln_rule_token after;
    return !ln_rule_at_name(p) || (ln_rule_lex(&ahead, &after) == LN_OK &&
                                   after.kind == LN_RULE_TOKEN_SIGN && after.sign == '(');
}

// ---- Memory: everything lives in the arena in the end ----

const void *ln_rule_keep(ln_rule_parser *p, const void *items, size_t count, size_t size,
                         ln_status *status)
{
    *status = LN_OK;
    if (count == 0)
        return NULL;
    void *copy = ln_document_alloc(p->arena, count * size); // counts are below the limits
    if (copy)
        memcpy(copy, items, count * size);
    else
        *status = LN_NO_MEMORY;
    return copy;
}

ln_status ln_rule_take_text(ln_rule_parser *p, const char **out_text)
{
    *out_text = ln_document_strdup(p->arena, p->token.text, strlen(p->token.text));
    return *out_text ? ln_rule_next(p) : LN_NO_MEMORY;
}

ln_status ln_rule_take_name(ln_rule_parser *p, const char *what, const char **out_text)
{
    return ln_rule_at_name(p) ? ln_rule_take_text(p, out_text) : ln_rule_fail_expected(p, what);
}

ln_status ln_rule_check_room(const ln_rule_parser *p, size_t count, size_t limit, const char *what)
{
    if (count < limit)
        return LN_OK;
    return ln_fail_at(p->token.place, LN_LIMIT, "at most %zu %s are allowed", limit, what);
}

// ---- Names ----

static int find_name(const ln_rule_parser *p, const char *text)
{
    for (size_t i = 0; i < p->name_count; i++)
        if (ln_rule_same_word(p->names[i], text))
            return (int)i;
    return -1;
}

// The number of the name at the next token, which is new if it was not there.
ln_status ln_rule_take_known_or_new(ln_rule_parser *p, bool is_value, int *out_name)
{
    ln_rule_token token = p->token;
    int name = find_name(p, token.text);
    if (name >= 0 && p->infos[name].is_value != is_value)
        return ln_fail_at(token.place, LN_SYNTAX, "'%s' stands for a %s already", token.text,
                          is_value ? "tensor" : "parameter's value");
    if (name >= 0) {
        p->infos[name].is_used = true;
        *out_name = name;
        return ln_rule_next(p);
    }
    LN_TRY(ln_rule_check_room(p, p->name_count, LN_RULE_MAX_NAMES, "names in a rule"));
    name = (int)p->name_count;
    LN_TRY(ln_rule_take_text(p, &p->names[name]));
    p->infos[name] = (ln_rule_name){.is_value = is_value, .maker = -1};
    p->name_count++;
    *out_name = name;
    return LN_OK;
}

ln_status ln_rule_take_known(ln_rule_parser *p, bool is_value, int *out_name)
{
    ln_rule_token token = p->token;
    int name = ln_rule_at_name(p) ? find_name(p, token.text) : -1;
    if (!ln_rule_at_name(p))
        return ln_rule_fail_expected(p, is_value ? "a value" : "the name of a tensor");
    if (name < 0)
        return ln_fail_at(token.place, LN_SYNTAX, "'%s' is not bound: no statement before has it%s",
                          token.text,
                          is_value && strncmp(token.text, "TL_", strlen("TL_")) == 0
                              ? "; a word is compared in quotes"
                              : "");
    if (p->infos[name].is_over)
        return ln_fail_at(token.place, LN_SYNTAX, "'%s' is one of several in its statement only",
                          token.text);
    if (p->infos[name].is_value != is_value)
        return ln_fail_at(token.place, LN_SYNTAX, "'%s' stands for a %s, not for a %s", token.text,
                          is_value ? "tensor" : "parameter's value",
                          is_value ? "parameter's value" : "tensor");
    p->infos[name].is_used = true;
    *out_name = name;
    return ln_rule_next(p);
}

// ---- Rules ----

static bool is_read_by_pattern(const ln_rule_parser *p, int name)
{
    for (size_t i = 0; i < p->pattern_count; i++)
        for (size_t j = 0; j < p->pattern[i].in_count; j++)
            if (p->pattern[i].ins[j].name == name)
                return true;
    return false;
}

// What no operator of the pattern reads, somebody else does, or it is an output of the model.
static ln_status check_all_made(const ln_rule_parser *p, ln_place place)
{
    for (size_t i = 0; i < p->pattern_count; i++) {
        const ln_rule_op *op = &p->pattern[i];
        for (size_t j = 0; j < op->out_count && !op->is_kept; j++) {
            int name = op->outs[j].name;
            if (name >= 0 && !p->infos[name].is_made && !is_read_by_pattern(p, name))
                return ln_fail_at(place, LN_SYNTAX,
                                  i == 0 ? "the result does not make the root's output '%s'"
                                         : "the result does not make '%s', which no operator of "
                                           "the pattern reads",
                                  p->names[name]);
        }
    }
    return LN_OK;
}

// A new tensor that may be absent, `t?`, is where nobody reads it.
static ln_status check_new_read(const ln_rule_parser *p, ln_place place)
{
    for (size_t i = 0; i < p->name_count; i++)
        if (p->infos[i].is_made && p->infos[i].maker < 0 && !p->infos[i].is_read &&
            !p->infos[i].is_list)
            return ln_fail_at(
                place, LN_SYNTAX,
                "nobody reads '%s', which the result makes: it would become an output "
                "of the model",
                p->names[i]);
    return LN_OK;
}

// A parameter that is only named would be lost as if it were not.
static ln_status check_values_used(const ln_rule_parser *p, ln_place place)
{
    for (size_t i = 0; i < p->name_count; i++)
        if (p->infos[i].is_value && !p->infos[i].is_used)
            return ln_fail_at(
                place, LN_SYNTAX,
                "'%s' is bound to a parameter, and nothing uses it; leave the parameter out if "
                "params(..) copies it, and write any(PARAMETER) \"why\" if it may have any value",
                p->names[i]);
    return LN_OK;
}

static ln_status parse_tag(ln_rule_parser *p, ln_rule_tag *out_tag)
{
    if (!ln_rule_at_sign(p, '['))
        return ln_rule_fail_expected(p, "what the rewrite does to the numbers: [exact], [reorders] "
                                        "or [rounds]");
    LN_TRY(ln_rule_next(p));
    for (int i = 0; i < LN_RULE_TAG_COUNT; i++) {
        if (ln_rule_at_word(p, ln_rule_tag_name((ln_rule_tag)i))) {
            *out_tag = (ln_rule_tag)i;
            LN_TRY(ln_rule_next(p));
            return ln_rule_expect_sign(p, ']');
        }
    }
    return ln_rule_fail_expected(p, "a tag: exact, reorders or rounds");
}

// Makes room for one more; the array is freed by the caller of the parser.
static ln_status grow(ln_rule_parser *p, void **items, size_t count, size_t size, const char *what)
{
    LN_TRY(ln_rule_check_room(p, count, LN_RULE_MAX_RULES, what));
    if (count & (count - 1)) // not at a power of two: there is room
        return LN_OK;
    void *grown = ln_realloc(*items, (count ? 2 * count : 1) * size);
    if (!grown)
        return LN_NO_MEMORY;
    *items = grown;
    return LN_OK;
}

static ln_status keep_rule(ln_rule_parser *p, ln_rule *rule)
{
    rule->name_count = p->name_count;
    rule->pattern_count = p->pattern_count;
    rule->condition_count = p->condition_count;
    rule->result_count = p->result_count;
    KEEP(p, p->names, p->name_count, rule->names);
    KEEP(p, p->pattern, p->pattern_count, rule->pattern);
    KEEP(p, p->conditions, p->condition_count, rule->conditions);
    KEEP(p, p->result, p->result_count, rule->result);
    return LN_OK;
}

static ln_status fail_second(ln_place place, const ln_rule *first)
{
    if (strcmp(place.file, first->file) == 0)
        return ln_fail_at(place, LN_SYNTAX, "rule '%s' is there already, at line %d", first->name,
                          first->line);
    return ln_fail_at(place, LN_SYNTAX, "rule '%s' is there already, at %s:%d", first->name,
                      first->file, first->line);
}

// What follows the rule's name and tag.
static ln_status parse_body(ln_rule_parser *p, ln_place place, ln_rule rule)
{
    for (size_t i = 0; i < p->rule_count; i++)
        if (ln_rule_same_word(p->rules[i].name, rule.name))
            return fail_second(place, &p->rules[i]);
    LN_TRY(ln_rule_parse_pattern(p));
    LN_TRY(ln_rule_parse_where(p, false));
    LN_TRY(expect_arrow(p));
    do {
        LN_TRY(ln_rule_check_room(p, p->result_count, LN_RULE_MAX_STATEMENTS,
                                  "statements in a result"));
        LN_TRY(ln_rule_parse_statement(p, true, &p->result[p->result_count]));
        p->result_count++;
    } while (ln_rule_at_name(p));

    LN_TRY(ln_rule_mark_kept(p, place, &rule));
    LN_TRY(check_all_made(p, place));
    LN_TRY(check_new_read(p, place));
    LN_TRY(check_values_used(p, place));
    LN_TRY(ln_rule_check_measure(p, place, &rule));
    LN_TRY(keep_rule(p, &rule));
    LN_TRY(grow(p, (void **)&p->rules, p->rule_count, sizeof rule, "rules in a file"));
    p->rules[p->rule_count++] = rule;
    return LN_OK;
}

// ---- Rows: several rules of one text ----

// A position in the text, to which the parser comes back.
typedef struct mark {
    ln_rule_lexer lexer;
    ln_rule_token token;
} mark;

static mark here(const ln_rule_parser *p)
{
    return (mark){p->lexer, p->token};
}

static void go_to(ln_rule_parser *p, const mark *to)
{
    p->lexer = to->lexer;
    p->token = to->token;
    substitute(p);
}

// The words up to `in`.
static ln_status parse_columns(ln_rule_parser *p, size_t *out_count)
{
    *out_count = 0;
    do {
        LN_TRY(ln_rule_next(p)); // `for`, or a comma
        LN_TRY(ln_rule_check_room(p, *out_count, LN_RULE_MAX_COLUMNS, "columns of rows"));
        if (!ln_rule_at_name(p))
            return ln_rule_fail_expected(p, "the name of a column");
        snprintf(p->columns[(*out_count)++], LN_RULE_MAX_WORD, "%s", p->token.text);
        LN_TRY(ln_rule_next(p));
    } while (ln_rule_at_sign(p, ','));
    return ln_rule_at_word(p, "in") ? ln_rule_next(p) : ln_rule_fail_expected(p, "'in'");
}

// The words, strings and numbers of one row, and the comma after it; *out_is_last: there is none.
static ln_status parse_row(ln_rule_parser *p, size_t column_count, bool *out_is_last)
{
    for (size_t i = 0; i < column_count; i++) {
        ln_rule_token_kind kind = p->token.kind;
        if (kind != LN_RULE_TOKEN_WORD &&
            (i == 0 || (kind != LN_RULE_TOKEN_STRING && kind != LN_RULE_TOKEN_NUMBER)))
            return ln_rule_fail_expected(p, i == 0 ? "the word of a row"
                                                   : "a word, a string or a number of the row");
        p->row[i] = p->token;
        LN_TRY(ln_rule_next(p));
    }
    *out_is_last = !ln_rule_at_sign(p, ',');
    return *out_is_last ? LN_OK : ln_rule_next(p);
}

// A rule for each row, named after its first word.
static ln_status parse_rows(ln_rule_parser *p, ln_place place, ln_rule rule)
{
    char name[2 * LN_RULE_MAX_WORD];
    size_t column_count;
    bool is_last = false;
    LN_TRY(parse_columns(p, &column_count));
    mark row = here(p);
    while (!is_last)
        LN_TRY(parse_row(p, column_count, &is_last));
    mark body = here(p);
    for (is_last = false; !is_last;) {
        go_to(p, &row);
        LN_TRY(parse_row(p, column_count, &is_last));
        row = here(p);
        snprintf(name, sizeof name, "%s_%s", rule.name, p->row[0].text);
        ln_rule one = rule;
        one.name = ln_document_strdup(p->arena, name, strlen(name));
        if (!one.name)
            return LN_NO_MEMORY;
        p->column_count = column_count;
        go_to(p, &body);
        ln_status status = parse_body(p, place, one);
        p->column_count = 0;
        LN_TRY(status);
    }
    return LN_OK;
}

static ln_status parse_rule(ln_rule_parser *p)
{
    ln_rule rule = {.file = p->lexer.place.file, .line = p->token.place.line, .stage = p->stage};
    LN_TRY(ln_rule_next(p));
    ln_place place = p->token.place;
    LN_TRY(ln_rule_take_name(p, "the name of the rule", &rule.name));
    LN_TRY(parse_tag(p, &rule.tag));
    return ln_rule_at_keyword(p, "for") ? parse_rows(p, place, rule) : parse_body(p, place, rule);
}

static ln_status parse_lower(ln_rule_parser *p)
{
    ln_rule_lower lower = {.line = p->token.place.line};
    p->condition_count = 0;
    LN_TRY(ln_rule_next(p));
    if (ln_rule_at_sign(p, '*'))
        LN_TRY(ln_rule_next(p));
    else
        LN_TRY(ln_rule_take_name(p, "an operator type or '*'", &lower.from));
    if (ln_rule_at_sign(p, '['))
        LN_TRY(parse_tag(p, &lower.tag));
    LN_TRY(expect_arrow(p));

    lower.has_star = ln_rule_at_sign(p, '*');
    ln_place star = p->token.place;
    if (lower.has_star)
        LN_TRY(ln_rule_next(p));
    if (lower.has_star && (p->token.place.line != star.line ||
                           p->token.place.column != star.column + 1 || !ln_rule_at_name(p)))
        return ln_fail_at(star, LN_SYNTAX, "an ending follows '*' directly, as in '*_cpu'");
    if (!lower.has_star && !lower.from)
        return ln_rule_fail_expected(p, "'*' with an ending, as the statement is for any operator");
    ln_place place = p->token.place;
    LN_TRY(ln_rule_take_name(p, "an operator type", &lower.to));
    if (!lower.has_star && strcmp(lower.from, lower.to) == 0)
        return ln_fail_at(place, LN_SYNTAX, "'%s' would be lowered to itself", lower.to);

    LN_TRY(ln_rule_parse_where(p, true));
    if (ln_rule_at_sign(p, ';'))
        LN_TRY(ln_rule_next(p));
    lower.condition_count = p->condition_count;
    KEEP(p, p->conditions, p->condition_count, lower.conditions);
    LN_TRY(grow(p, (void **)&p->lowers, p->lower_count, sizeof lower, "lower statements"));
    p->lowers[p->lower_count++] = lower;
    return LN_OK;
}

// When the rules after it are tried.
static const struct {
    const char *first, *second, *expected;
    ln_rule_stage stage;
} stages[] = {
    {"into", "core", "'core' or 'onnx'", LN_RULE_TO_CORE},
    {"into", "onnx", "'core' or 'onnx'", LN_RULE_TO_ONNX},
    {"before", "expand", "'expand'", LN_RULE_BEFORE_EXPAND},
    {"after", "expand", "'expand'", LN_RULE_AFTER_EXPAND},
};

#define STAGE_COUNT (sizeof stages / sizeof stages[0])

// The first row of `stages` that begins with the word at hand; their count: none.
static size_t find_stage(const ln_rule_parser *p)
{
    size_t i = 0;
    while (i < STAGE_COUNT && !ln_rule_at_word(p, stages[i].first))
        i++;
    return i;
}

static ln_status parse_stage(ln_rule_parser *p, size_t row)
{
    size_t i = row;
    LN_TRY(ln_rule_next(p));
    while (i < STAGE_COUNT && (strcmp(stages[i].first, stages[row].first) != 0 ||
                               !ln_rule_at_word(p, stages[i].second)))
        i++;
    if (i == STAGE_COUNT)
        return ln_rule_fail_expected(p, stages[row].expected);
    p->stage = stages[i].stage;
    return ln_rule_next(p);
}

static ln_status parse_statement(ln_rule_parser *p)
{
    size_t stage = find_stage(p);
    if (stage < STAGE_COUNT)
        return parse_stage(p, stage);
    if (ln_rule_at_word(p, "rule"))
        return parse_rule(p);
    if (ln_rule_at_word(p, "lower"))
        return parse_lower(p);
    return ln_rule_fail_expected(p, "'rule', 'lower', 'into', 'after' or 'before'");
}

// Messages call the text `file`, which lasts as long as the arena.
static ln_status parse_text(ln_rule_parser *p, const char *text, size_t len, const char *file)
{
    p->lexer = (ln_rule_lexer){.at = text, .end = text + len, .place = {file, 1, 1}};
    p->stage = LN_RULE_BEFORE_EXPAND;
    LN_TRY(ln_rule_next(p));
    while (p->token.kind != LN_RULE_TOKEN_END)
        LN_TRY(parse_statement(p));
    return LN_OK;
}

static ln_status make_set(ln_rule_parser *p, ln_rule_set **out_set)
{
    ln_rule_set *set = ln_document_alloc(p->arena, sizeof *set);
    if (!set)
        return LN_NO_MEMORY;
    *set = (ln_rule_set){.file = ln_document_file(p->arena),
                         .rule_count = p->rule_count,
                         .lower_count = p->lower_count,
                         .arena = p->arena};
    KEEP(p, p->rules, p->rule_count, set->rules);
    KEEP(p, p->lowers, p->lower_count, set->lowers);
    *out_set = set;
    return LN_OK;
}

// Each of the texts, up to the one that is NULL. `file` is that of the set.
static ln_status parse_texts(ln_rule_parser *p, const ln_rule_text *texts)
{
    for (const ln_rule_text *t = texts; t && t->file; t++)
        LN_TRY(parse_text(p, t->text, strlen(t->text), t->file));
    return LN_OK;
}

// ---- Sets that the build has made ----

// What was parsed for a type of root.
typedef struct root_rules root_rules;
struct root_rules {
    const char *optype;
    const ln_rule *rules;
    size_t count;
    const root_rules *next;
};

struct ln_rule_reader {
    ln_rule_parser parser;
    const root_rules *first;
};

// The first entry whose root is not before `optype` in the alphabet.
static size_t find_entry(const ln_rule_set *set, const char *optype)
{
    size_t from = 0, to = set->entry_count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (strcmp(set->roots + set->entries[middle].root, optype) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static bool is_of_root(const ln_rule_set *set, size_t i, const char *optype)
{
    return i < set->entry_count && strcmp(set->roots + set->entries[i].root, optype) == 0;
}

// Parses the entries of a type of root, or the `lower` statements.
static ln_status parse_entries(const ln_rule_set *set, const char *optype)
{
    ln_rule_parser *p = &set->reader->parser;
    p->rule_count = p->lower_count = 0;
    for (size_t i = find_entry(set, optype); is_of_root(set, i, optype); i++) {
        const ln_rule_entry *e = &set->entries[i];
        const ln_rule_text *text = &set->texts[e->text];
        p->lexer = (ln_rule_lexer){.at = text->text + e->at,
                                   .end = text->text + e->at + e->len,
                                   .place = {text->file, e->line, 1}};
        p->stage = (ln_rule_stage)e->stage;
        LN_TRY(ln_rule_next(p));
        while (p->token.kind != LN_RULE_TOKEN_END)
            LN_TRY(parse_statement(p));
    }
    return LN_OK;
}

static void free_arrays(ln_rule_parser *p)
{
    ln_free(p->rules);
    ln_free(p->lowers);
    p->rules = NULL;
    p->lowers = NULL;
}

static ln_status open_set(ln_rule_set *set, ln_document *arena)
{
    set->arena = arena;
    set->reader = ln_document_alloc(arena, sizeof *set->reader);
    if (!set->reader)
        return LN_NO_MEMORY;
    memset(set->reader, 0, sizeof *set->reader);
    ln_rule_parser *p = &set->reader->parser;
    p->arena = arena;
    ln_status status = parse_entries(set, "");
    ln_status kept = LN_OK;
    set->lower_count = p->lower_count;
    if (status == LN_OK)
        set->lowers = ln_rule_keep(p, p->lowers, p->lower_count, sizeof *p->lowers, &kept);
    free_arrays(p);
    return status == LN_OK ? kept : status;
}

static ln_status read_root(const ln_rule_set *set, const char *optype, root_rules *root)
{
    ln_rule_parser *p = &set->reader->parser;
    ln_status kept = LN_OK, status = parse_entries(set, optype);
    root->count = p->rule_count;
    if (status == LN_OK)
        root->rules = ln_rule_keep(p, p->rules, p->rule_count, sizeof *p->rules, &kept);
    free_arrays(p);
    return status == LN_OK ? kept : status;
}

// ---- Public functions ----

ln_status ln_rule_set_open(const ln_rule_set *own, ln_rule_set **out_set)
{
    *out_set = NULL;
    ln_document *arena;
    LN_TRY(ln_document_create(own->file, &arena));
    ln_rule_set *set = ln_document_alloc(arena, sizeof *set);
    ln_status status = LN_NO_MEMORY;
    if (set) {
        *set = *own;
        status = open_set(set, arena);
    }
    if (status == LN_OK)
        *out_set = set;
    else
        ln_document_destroy(arena);
    return status;
}

ln_status ln_rule_set_read_root(const ln_rule_set *set, const char *optype,
                                const ln_rule **out_rules, size_t *out_count)
{
    *out_rules = set->rules;
    *out_count = set->rule_count;
    size_t i = find_entry(set, optype);
    if (!set->reader || !is_of_root(set, i, optype))
        return LN_OK;
    const char *spelled = set->roots + set->entries[i].root;
    const root_rules *known = set->reader->first;
    while (known && known->optype != spelled)
        known = known->next;
    if (!known) {
        root_rules *root = ln_document_alloc(set->arena, sizeof *root);
        if (!root)
            return LN_NO_MEMORY;
        *root = (root_rules){.optype = spelled, .next = set->reader->first};
        LN_TRY(read_root(set, optype, root));
        set->reader->first = known = root;
    }
    *out_rules = known->rules;
    *out_count = known->count;
    return LN_OK;
}

bool ln_rule_set_has_root(const ln_rule_set *set, const char *optype)
{
    for (size_t i = 0; i < set->rule_count; i++)
        if (strcmp(set->rules[i].pattern[0].optype, optype) == 0)
            return true;
    return is_of_root(set, find_entry(set, optype), optype);
}

bool ln_rule_set_has_stage(const ln_rule_set *set, ln_rule_stage stage)
{
    for (size_t i = 0; i < set->rule_count; i++)
        if (set->rules[i].stage == stage)
            return true;
    for (size_t i = find_entry(set, ""); i < set->entry_count; i++)
        if (set->entries[i].stage == stage && set->roots[set->entries[i].root])
            return true;
    return false;
}

// The set is called `file`, and so is `text`; without one, `texts` are parsed.
static ln_status parse_set(const char *file, const char *text, size_t len,
                           const ln_rule_text *texts, ln_rule_set **out_set)
{
    ln_rule_parser *p = ln_alloc(sizeof *p);
    if (!p)
        return LN_NO_MEMORY;
    ln_status status = ln_document_create(file, &p->arena);
    if (status == LN_OK)
        status =
            text ? parse_text(p, text, len, ln_document_file(p->arena)) : parse_texts(p, texts);
    if (status == LN_OK)
        status = make_set(p, out_set);
    if (status != LN_OK)
        ln_document_destroy(p->arena);
    ln_free(p->rules);
    ln_free(p->lowers);
    ln_free(p);
    return status;
}

ln_status ln_rule_set_parse(const char *text, size_t len, const char *file, ln_rule_set **out_set)
{
    *out_set = NULL;
    if (!text)
        return LN_FAIL(LN_INVALID, "no rules: the text is NULL");
    if (len > LN_RULE_MAX_BYTES)
        return LN_FAIL(LN_LIMIT, "%s: %zu bytes; rules have at most %d", file ? file : "rules", len,
                       LN_RULE_MAX_BYTES);
    return parse_set(file, text, len, NULL, out_set);
}

ln_status ln_rule_set_parse_texts(const char *file, const ln_rule_text *texts,
                                  ln_rule_set **out_set)
{
    *out_set = NULL;
    return parse_set(file, NULL, 0, texts, out_set);
}

ln_status ln_rule_text_read(const char *file, char **out_text, size_t *out_len)
{
    LN_TRY(ln_text_read_file(file, LN_RULE_MAX_BYTES, out_text, out_len));
    if (!ln_expander_probe(*out_text, *out_len))
        return LN_OK;
    char *description = *out_text;
    ln_status status = ln_expander_to_rules(description, *out_len, file, out_text);
    *out_len = *out_text ? strlen(*out_text) : 0;
    ln_free(description);
    return status;
}

ln_status ln_rule_set_read(const char *file, ln_rule_set **out_set)
{
    *out_set = NULL;
    char *text;
    size_t len;
    LN_TRY(ln_rule_text_read(file, &text, &len));
    ln_status status = ln_rule_set_parse(text, len, file, out_set);
    ln_free(text);
    return status;
}

void ln_rule_set_destroy(ln_rule_set *set)
{
    if (set)
        ln_document_destroy(set->arena);
}
