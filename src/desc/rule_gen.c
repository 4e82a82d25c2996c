// SPDX-License-Identifier: Apache-2.0
// Prints the text of rules as string literals, one for a line of the file, and an index of the
// rules by the type of the root.

#include "desc/rule_gen.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <lightnet/allocator.h>

#include "desc/cident.h"
#include "desc/csnippet.h"

// The length of the line without its comment and the blanks in front of that. A # in a string
// begins none.
static size_t code_len(const char *line, size_t len)
{
    size_t end = 0;
    bool is_string = false;
    for (; end < len && (is_string || line[end] != '#'); end++) {
        if (is_string && line[end] == '\\' && end + 1 < len)
            end++;
        else if (line[end] == '"')
            is_string = !is_string;
    }
    while (end > 0 && strchr(" \t\r", line[end - 1]))
        end--;
    return end;
}

// The line as the library has it.
static void add_line(ln_text *code, const char *line, size_t len)
{
    size_t skipped = strspn(line, " \t"), end = code_len(line, len);
    skipped = skipped < end ? skipped : end;
    ln_text_append(code, line + skipped, end - skipped);
    ln_text_puts(code, "\n");
}

static ln_status strip(const char *rules, char **out_code)
{
    ln_text code = {0};
    while (*rules) {
        size_t len = strcspn(rules, "\n");
        add_line(&code, rules, len);
        rules += len + (rules[len] == '\n');
    }
    return ln_text_take(&code, out_code, NULL);
}

static void put_text(ln_text *text, size_t number, const char *code)
{
    ln_text_printf(text, "static const char text%zu[] =\n", number);
    while (*code) {
        size_t len = strcspn(code, "\n") + 1;
        ln_text line = {0};
        ln_text_append(&line, code, len);
        ln_text_indent(text, 4);
        ln_c_string(text, line.bytes);
        ln_text_puts(text, "\n");
        if (line.status != LN_OK)
            text->status = line.status;
        ln_text_deinit(&line);
        code += len;
    }
    ln_text_puts(text, "    \"\";\n\n");
}

// ---- The index ----

typedef struct entry {
    const char *root; // "": a `lower` statement
    size_t at, len, text;
    int line;
    ln_rule_stage stage;
} entry;

static int compare_entries(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    int order = strcmp(x->root, y->root);
    if (order == 0)
        order = (x->text > y->text) - (x->text < y->text);
    return order ? order : (x->line > y->line) - (x->line < y->line);
}

static const char *find_line(const char *code, int line)
{
    while (--line > 0)
        code += strcspn(code, "\n") + 1;
    return code;
}

static bool begins_statement(const char *line)
{
    static const char *const words[] = {"rule ", "lower ", "into ", "before ", "after "};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strncmp(line, words[i], strlen(words[i])) == 0)
            return true;
    return false;
}

// Finds the statement's bytes: whole lines, up to the next statement.
static ln_status measure(const ln_rule_text *texts, const char *file, entry *e)
{
    while (file && strcmp(texts[e->text].file, file) != 0)
        e->text++;
    const char *code = texts[e->text].text, *from = find_line(code, e->line), *to = from;
    if (!begins_statement(from))
        return LN_FAIL(LN_SYNTAX, "%s:%d: a statement begins its line", texts[e->text].file,
                       e->line);
    do
        to += strcspn(to, "\n") + 1;
    while (*to && !begins_statement(to));
    e->at = (size_t)(from - code);
    e->len = (size_t)(to - from);
    return LN_OK;
}

// The text that has the `lower` statement of that line; statements of a set are in order.
static size_t text_of_lower(const ln_rule_text *texts, size_t first, int line)
{
    while (texts[first].file &&
           strncmp(find_line(texts[first].text, line), "lower ", strlen("lower ")) != 0)
        first++;
    return first;
}

static ln_status list_entries(const ln_rule_text *texts, const ln_rule_set *set, entry *entries)
{
    size_t count = 0, text = 0;
    for (size_t i = 0; i < set->rule_count; i++) {
        const ln_rule *rule = &set->rules[i];
        entries[count] =
            (entry){.root = rule->pattern[0].optype, .line = rule->line, .stage = rule->stage};
        LN_TRY(measure(texts, rule->file, &entries[count++]));
    }
    for (size_t i = 0; i < set->lower_count; i++) {
        text = text_of_lower(texts, text, set->lowers[i].line);
        entries[count] = (entry){.root = "", .line = set->lowers[i].line, .text = text};
        LN_TRY(measure(texts, NULL, &entries[count++]));
    }
    qsort(entries, count, sizeof *entries, compare_entries);
    return LN_OK;
}

// Rows of one rule whose roots are alike have one entry.
static size_t merge_entries(entry *entries, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || compare_entries(&entries[kept - 1], &entries[i]) != 0)
            entries[kept++] = entries[i];
    return kept;
}

static void put_entries(ln_text *text, const entry *entries, size_t count)
{
    size_t root = 0;
    ln_text_puts(text, "static const char roots[] =\n");
    for (size_t i = 0; i < count; i++)
        if (i == 0 || strcmp(entries[i - 1].root, entries[i].root) != 0)
            ln_text_printf(text, "    \"%s\\0\"\n", entries[i].root);
    ln_text_puts(text, "    \"\";\n\nstatic const ln_rule_entry entries[] = {\n");
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && strcmp(entries[i - 1].root, entries[i].root) != 0)
            root += strlen(entries[i - 1].root) + 1;
        ln_text_printf(text, "    {%zu, %zu, %zu, %zu, %d, %d},\n", root, entries[i].at,
                       entries[i].len, entries[i].text, entries[i].line, (int)entries[i].stage);
    }
    ln_text_puts(text, "    {0, 0, 0, 0, 0, 0},\n};\n\n");
}

static ln_status put_index(ln_text *text, const ln_rule_text *texts, const ln_rule_set *set,
                           size_t *out_count)
{
    size_t count = set->rule_count + set->lower_count;
    entry *entries = ln_alloc_array(count + 1, sizeof *entries);
    if (!entries)
        return LN_NO_MEMORY;
    ln_status status = list_entries(texts, set, entries);
    if (status == LN_OK) {
        *out_count = merge_entries(entries, count);
        put_entries(text, entries, *out_count);
    }
    ln_free(entries);
    return status;
}

// `texts` are stripped.
static void put_set(ln_text *text, const ln_rule_text *texts, const char *name,
                    const ln_rule_set *set)
{
    size_t count = 0, entry_count = 0;
    ln_text_puts(text, "// Rewrite rules, made by lightnet-gen. Do not edit.\n\n"
                       "#include \"desc/rule.h\"\n\n");
    for (; texts[count].file; count++)
        put_text(text, count, texts[count].text);
    ln_text_puts(text, "static const ln_rule_text texts[] = {\n");
    for (size_t i = 0; i < count; i++) {
        ln_text_puts(text, "    {");
        ln_c_string(text, texts[i].file);
        ln_text_printf(text, ", text%zu},\n", i);
    }
    ln_text_puts(text, "    {NULL, NULL},\n};\n\n");
    ln_status status = put_index(text, texts, set, &entry_count);
    if (status != LN_OK)
        text->status = status;
    ln_text_printf(text,
                   "extern const ln_rule_set ln_rules_%s;\n"
                   "const ln_rule_set ln_rules_%s = {\n    .file = ",
                   name, name);
    ln_c_string(text, count == 1 ? texts[0].file : name);
    ln_text_printf(text,
                   ",\n    .texts = texts,\n    .entries = entries,\n    .entry_count = %zu,\n"
                   "    .roots = roots,\n};\n",
                   entry_count);
}

static ln_status print_stripped(const ln_rule_text *texts, const char *name, ln_text *text)
{
    ln_rule_set *set;
    LN_TRY(ln_rule_set_parse_texts(name, texts, &set));
    put_set(text, texts, name, set);
    ln_rule_set_destroy(set);
    return text->status;
}

static void free_texts(ln_rule_text *texts)
{
    for (ln_rule_text *t = texts; t && t->file; t++)
        ln_free((char *)(uintptr_t)t->text);
    ln_free(texts);
}

void ln_rule_print_code(const ln_rule_text *texts, const char *name, ln_text *text)
{
    size_t count = 0;
    while (texts[count].file)
        count++;
    ln_rule_text *stripped = ln_alloc_array(count + 1, sizeof *stripped);
    ln_status status = stripped ? LN_OK : LN_NO_MEMORY;
    for (size_t i = 0; i < count && status == LN_OK; i++) {
        char *code;
        status = strip(texts[i].text, &code);
        if (status == LN_OK)
            stripped[i] = (ln_rule_text){texts[i].file, code};
    }
    if (status == LN_OK)
        status = print_stripped(stripped, name, text);
    if (status != LN_OK)
        text->status = status;
    free_texts(stripped);
}

// ---- From files ----

// The folders above a source differ between machines; the generated text does not.
static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static ln_status read_texts(const char *const *paths, size_t path_count, ln_rule_text *texts)
{
    for (size_t i = 0; i < path_count; i++) {
        char *rules;
        size_t len;
        LN_TRY(ln_rule_text_read(paths[i], &rules, &len));
        texts[i] = (ln_rule_text){base_name(paths[i]), rules};
        if (strlen(rules) != len)
            return LN_FAIL(LN_SYNTAX, "%s has a NUL byte", paths[i]);
    }
    return LN_OK;
}

ln_status ln_rule_generate(const char *name, const char *const *paths, size_t path_count,
                           char **out_text)
{
    *out_text = NULL;
    if (!name || !ln_is_identifier(name))
        return LN_FAIL(LN_INVALID, "'%s' is no C identifier", name ? name : "");
    if (!paths || path_count == 0)
        return LN_FAIL(LN_INVALID, "no files with rules are given");
    ln_rule_text *texts = ln_alloc_array(path_count + 1, sizeof *texts);
    if (!texts)
        return LN_NO_MEMORY;
    ln_text text = {0};
    ln_status status = read_texts(paths, path_count, texts);
    if (status == LN_OK) {
        ln_rule_print_code(texts, name, &text);
        status = ln_text_take(&text, out_text, NULL);
    }
    free_texts(texts);
    return status;
}
