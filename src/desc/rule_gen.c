// SPDX-License-Identifier: Apache-2.0
// Prints the text of rules as string literals, one for a line of the file.

#include "desc/rule_gen.h"

#include <stdbool.h>
#include <stdint.h>
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

static void put_line(ln_text *text, const char *line, size_t len)
{
    size_t skipped = strspn(line, " \t"), end = code_len(line, len);
    skipped = skipped < end ? skipped : end;
    ln_text code = {0};
    ln_text_append(&code, line + skipped, end - skipped);
    ln_text_puts(&code, "\n");
    ln_text_indent(text, 4);
    ln_c_string(text, code.bytes);
    ln_text_puts(text, "\n");
    if (code.status != LN_OK)
        text->status = code.status;
    ln_text_deinit(&code);
}

static void put_text(ln_text *text, size_t number, const char *rules)
{
    ln_text_printf(text, "static const char text%zu[] =\n", number);
    while (*rules) {
        size_t len = strcspn(rules, "\n");
        put_line(text, rules, len);
        rules += len + (rules[len] == '\n');
    }
    ln_text_puts(text, "    \"\";\n\n");
}

void ln_rule_print_code(const ln_rule_text *texts, const char *name, ln_text *text)
{
    ln_text_puts(text, "// Rewrite rules, made by lightnet-gen. Do not edit.\n\n"
                       "#include \"desc/rule.h\"\n\n");
    size_t count = 0;
    for (; texts[count].file; count++)
        put_text(text, count, texts[count].text);
    ln_text_puts(text, "static const ln_rule_text texts[] = {\n");
    for (size_t i = 0; i < count; i++) {
        ln_text_puts(text, "    {");
        ln_c_string(text, texts[i].file);
        ln_text_printf(text, ", text%zu},\n", i);
    }
    ln_text_puts(text, "    {NULL, NULL},\n};\n\n");
    ln_text_printf(text,
                   "extern const ln_rule_set ln_rules_%s;\n"
                   "const ln_rule_set ln_rules_%s = {\n    .file = ",
                   name, name);
    ln_c_string(text, count == 1 ? texts[0].file : name);
    ln_text_puts(text, ",\n    .texts = texts,\n};\n");
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

static ln_status generate(const char *name, const ln_rule_text *texts, char **out_text)
{
    const ln_rule_set own = {.file = name, .texts = texts};
    ln_rule_set *set;
    ln_text text = {0};
    LN_TRY(ln_rule_set_parse_own(&own, &set));
    ln_rule_set_destroy(set);
    ln_rule_print_code(texts, name, &text);
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
    ln_rule_text *texts = ln_alloc_array(path_count + 1, sizeof *texts);
    if (!texts)
        return LN_NO_MEMORY;
    ln_status status = read_texts(paths, path_count, texts);
    if (status == LN_OK)
        status = generate(name, texts, out_text);
    for (size_t i = 0; i < path_count; i++)
        ln_free((char *)(uintptr_t)texts[i].text);
    ln_free(texts);
    return status;
}
