// SPDX-License-Identifier: Apache-2.0
// One token ahead, one function for each rule of the grammar, no recursion.

#include "serial/il/il_parse.h"

#include <stdio.h>
#include <string.h>

#include <lightnet/allocator.h>

#include "serial/il/il_preprocess.h"

typedef struct parser {
    ln_il_preprocessor pp;
    ln_document *document;
    ln_il_token token;   // the next one
    ln_il_names optypes; // `number`: operators of this type so far
    ln_il_names names;   // names of operators; `item`: the operator's node
    ln_il_names args;    // `number`: the last operator that has the argument, counted from 1
    size_t op_count;
} parser;

static ln_status advance(parser *p)
{
    return ln_il_preprocessor_next(&p->pp, &p->token);
}

static ln_status take(parser *p, char c, bool *out_is_here)
{
    *out_is_here = ln_il_is(&p->token, c);
    return *out_is_here ? advance(p) : LN_OK;
}

static ln_status expect(parser *p, char c, const char *what)
{
    return ln_il_is(&p->token, c) ? advance(p) : ln_il_fail_expected(&p->token, what);
}

// Appends `child` and returns the failure of making it, if there was one.
static ln_status append(ln_value *parent, const char *key, ln_value *child)
{
    return child ? ln_value_append_literal(parent, key, child) : ln_error_status();
}

// ---- Strings ----

static bool read_hex4(const char *p, const char *end, unsigned *out_code)
{
    static const char digits[] = "0123456789abcdef";
    *out_code = 0;
    if (end - p < 4)
        return false;
    for (int i = 0; i < 4; i++) {
        char c = p[i] >= 'A' && p[i] <= 'F' ? (char)(p[i] - 'A' + 'a') : p[i];
        const char *digit = memchr(digits, c, 16);
        if (!digit)
            return false;
        *out_code = *out_code * 16 + (unsigned)(digit - digits);
    }
    return true;
}

static size_t put_utf8(unsigned code, char *out)
{
    size_t len = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char marks[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = len; i-- > 1; code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)(marks[len] | code);
    return len;
}

// \uXXXX, in pairs beyond U+FFFF; `*inout_p` stands after the 'u'.
static ln_status decode_unicode(const ln_il_token *token, const char **inout_p, const char *end,
                                char *out, size_t *inout_len)
{
    const char *p = *inout_p;
    unsigned code, low;
    if (!read_hex4(p, end, &code) || code == 0)
        return ln_il_fail(token, LN_SYNTAX,
                          "in this string, \\u needs four hexadecimal digits that are not all 0");
    p += 4;
    if (code >= 0xd800 && code <= 0xdfff) {
        bool is_pair = code <= 0xdbff && end - p >= 6 && p[0] == '\\' && p[1] == 'u' &&
                       read_hex4(p + 2, end, &low) && low >= 0xdc00 && low <= 0xdfff;
        if (!is_pair)
            return ln_il_fail(
                token, LN_SYNTAX,
                "in this string, \\u%04x is half of a pair whose other half is missing", code);
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        p += 6;
    }
    *inout_len += put_utf8(code, out + *inout_len);
    *inout_p = p;
    return LN_OK;
}

// The content of a string token. A decoded string is never longer than its spelling.
static ln_status decode_string(parser *p, const char **out_text, size_t *out_len)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const ln_il_token *token = &p->token;
    const char *s = token->text + 1, *end = token->text + token->len - 1;
    char *text = ln_document_alloc(p->document, token->len);
    size_t len = 0;
    if (!text)
        return LN_NO_MEMORY;
    while (s < end) {
        if (*s != '\\') {
            text[len++] = *s++;
            continue;
        }
        char c = s[1]; // the token ends with a quote, so there is one
        s += 2;
        const char *known = memchr(from, c, sizeof from - 1);
        if (known)
            text[len++] = to[known - from];
        else if (c == 'u')
            LN_TRY(decode_unicode(token, &s, end, text, &len));
        else
            return ln_il_fail(token, LN_SYNTAX,
                              "in this string, '\\%c' means nothing; a backslash "
                              "is written \\\\",
                              c > ' ' && c < 0x7f ? c : '?');
    }
    text[len] = '\0';
    *out_text = text;
    *out_len = len;
    return LN_OK;
}

static ln_value *new_string(parser *p, const char *text, size_t len, ln_place place)
{
    ln_value *value = ln_value_new(p->document, LN_VALUE_STRING, place);
    if (value) {
        value->text = text;
        value->text_len = len;
    }
    return value;
}

// A word or a string as a new string node; consumes the token.
static ln_status read_text(parser *p, ln_value **out_value)
{
    const char *text = NULL;
    size_t len = p->token.len;
    if (p->token.kind == LN_IL_STRING) {
        LN_TRY(decode_string(p, &text, &len));
    } else {
        text = ln_document_strdup(p->document, p->token.text, len);
        if (!text)
            return LN_NO_MEMORY;
    }
    *out_value = new_string(p, text, len, p->token.place);
    return *out_value ? advance(p) : ln_error_status();
}

// Wherever a name stands, a string may stand as well, for names that are no words.
static ln_status read_name(parser *p, const char *what, ln_value **out_value)
{
    const ln_il_token token = p->token;
    if (token.kind != LN_IL_NAME && token.kind != LN_IL_STRING)
        return ln_il_fail_expected(&token, what);
    if (token.kind == LN_IL_STRING && token.len == 2)
        return ln_il_fail(&token, LN_SYNTAX, "expected %s, found an empty string", what);
    return read_text(p, out_value);
}

// ---- Values ----

static ln_status read_number(parser *p, ln_value **out_value)
{
    ln_il_token token = p->token;
    bool is_negative = ln_il_is(&token, '-');
    if (is_negative || ln_il_is(&token, '+')) {
        LN_TRY(advance(p));
        if (p->token.kind != LN_IL_NUMBER || *p->token.text == '-')
            return ln_il_fail_expected(&p->token, "a number after the sign");
    }
    char spelling[LN_VALUE_MAX_DIGITS + 4];
    double number;
    LN_TRY(ln_il_token_number(&p->token, is_negative, spelling, &number));
    ln_value *value = ln_value_new(p->document, LN_VALUE_NUMBER, token.place);
    if (!value)
        return ln_error_status();
    value->number = number;
    value->text_len = strlen(spelling);
    value->text = ln_document_strdup(p->document, spelling, value->text_len);
    if (!value->text)
        return LN_NO_MEMORY;
    *out_value = value;
    return advance(p);
}

static ln_status read_scalar(parser *p, const char *what, ln_value **out_value)
{
    const ln_il_token token = p->token;
    if (token.kind == LN_IL_NUMBER || ln_il_is(&token, '-') || ln_il_is(&token, '+'))
        return read_number(p, out_value);
    bool is_true = ln_il_is_name(&token, "true");
    if (is_true || ln_il_is_name(&token, "false")) {
        *out_value = ln_value_new_bool(p->document, is_true, token.place);
        return *out_value ? advance(p) : ln_error_status();
    }
    if (ln_il_is_name(&token, "null")) {
        *out_value = ln_value_new(p->document, LN_VALUE_NULL, token.place);
        return *out_value ? advance(p) : ln_error_status();
    }
    if (token.kind != LN_IL_NAME && token.kind != LN_IL_STRING)
        return ln_il_fail_expected(&token, what);
    return read_text(p, out_value);
}

// `[a, b, c,]`
static ln_status read_array(parser *p, ln_value **out_value)
{
    ln_value *array = ln_value_new(p->document, LN_VALUE_ARRAY, p->token.place);
    if (!array)
        return ln_error_status();
    *out_value = array;
    LN_TRY(advance(p));
    for (;;) {
        bool is_end;
        LN_TRY(take(p, ']', &is_end));
        if (is_end)
            return LN_OK;
        if (ln_il_is(&p->token, '['))
            return ln_il_fail(&p->token, LN_SYNTAX, "an array cannot hold an array");
        ln_value *element;
        LN_TRY(read_scalar(p, "an element of the array or ']'", &element));
        LN_TRY(append(array, NULL, element));
        if (ln_il_is(&p->token, ','))
            LN_TRY(advance(p));
        else if (!ln_il_is(&p->token, ']'))
            return ln_il_fail_expected(&p->token, "',' or ']' in the array");
    }
}

static ln_status read_param_value(parser *p, ln_value **out_value)
{
    if (ln_il_is(&p->token, '['))
        return read_array(p, out_value);
    return read_scalar(p, "the value of the parameter", out_value);
}

// ---- Operators ----

// One of the three sections between the parentheses.
typedef struct section {
    const char *key;       // of the list in the operator
    const char *value_key; // of what stands right of '='
    char end;
    const char *what_arg;
    const char *what_end;
} section;

static const section sections[] = {
    {"tensors_in", "name", '|', "an input 'argument = tensor' or '|'",
     "',' or '|' after the input"},
    {"tensors_out", "name", '|', "an output 'argument = tensor' or '|'",
     "',' or '|' after the output"},
    {"params", "value", ')', "a parameter 'name = value' or ')'", "',' or ')' after the parameter"},
};

static ln_status check_arg_is_new(parser *p, const ln_il_token *token, const ln_value *arg_name)
{
    ln_il_name *entry = ln_il_names_add(&p->args, p->pp.arena, arg_name->text, arg_name->text_len);
    if (!entry)
        return LN_NO_MEMORY;
    if (entry->number == p->op_count)
        return ln_il_fail(token, LN_SYNTAX, "this operator has the argument '%.100s' twice",
                          arg_name->text);
    entry->number = p->op_count;
    return LN_OK;
}

// `arg = tensor` or `param = value`
static ln_status read_arg(parser *p, const section *s, ln_value *list)
{
    const ln_il_token token = p->token;
    ln_value *arg_name, *value;
    LN_TRY(read_name(p, s->what_arg, &arg_name));
    LN_TRY(check_arg_is_new(p, &token, arg_name));
    LN_TRY(expect(p, '=', "'=' after the name of the argument"));
    if (s->end == '|')
        LN_TRY(read_name(p, "the name of a tensor", &value));
    else
        LN_TRY(read_param_value(p, &value));

    ln_value *arg = ln_value_new(p->document, LN_VALUE_OBJECT, token.place);
    LN_TRY(append(list, NULL, arg));
    LN_TRY(append(arg, "arg_name", arg_name));
    return append(arg, s->value_key, value);
}

// `a = b, c = d |`
static ln_status read_section(parser *p, const section *s, ln_value *op)
{
    ln_value *list = ln_value_new(p->document, LN_VALUE_ARRAY, p->token.place);
    LN_TRY(append(op, s->key, list));
    for (;;) {
        bool is_end;
        LN_TRY(take(p, s->end, &is_end));
        if (is_end)
            return LN_OK;
        LN_TRY(read_arg(p, s, list));
        if (ln_il_is(&p->token, ','))
            LN_TRY(advance(p));
        else if (!ln_il_is(&p->token, s->end))
            return ln_il_fail_expected(&p->token, s->what_end);
    }
}

// Operators are numbered within their type whether they have a name of their own or not, so that
// naming one does not rename others.
static ln_status name_op(parser *p, const ln_value *optype, ln_value **inout_name)
{
    ln_il_name *entry = ln_il_names_add(&p->optypes, p->pp.arena, optype->text, optype->text_len);
    if (!entry)
        return LN_NO_MEMORY;
    size_t number = entry->number++;
    if (*inout_name)
        return LN_OK;
    char digits[24];
    int digit_count = snprintf(digits, sizeof digits, "%zu", number);
    size_t len = optype->text_len + (size_t)digit_count;
    char *text = ln_document_alloc(p->document, len + 1);
    if (!text)
        return LN_NO_MEMORY;
    memcpy(text, optype->text, optype->text_len);
    memcpy(text + optype->text_len, digits, (size_t)digit_count + 1);
    *inout_name = new_string(p, text, len, optype->place);
    return *inout_name ? LN_OK : ln_error_status();
}

static ln_status check_name_is_new(parser *p, const ln_il_token *token, ln_value *name)
{
    ln_il_name *entry = ln_il_names_add(&p->names, p->pp.arena, name->text, name->text_len);
    if (!entry)
        return LN_NO_MEMORY;
    const ln_value *first = entry->item;
    if (first)
        return ln_il_fail(token, LN_SYNTAX, "operator name '%.100s' is taken at %s:%d:%d",
                          name->text, first->place.file, first->place.line, first->place.column);
    entry->item = name;
    return LN_OK;
}

// `conv2d(` or `name: conv2d(`
static ln_status read_head(parser *p, ln_value **out_name, ln_value **out_optype)
{
    const ln_il_token first = p->token;
    bool has_name;
    *out_name = NULL;
    LN_TRY(read_name(p, "the type of an operator", out_optype));
    LN_TRY(take(p, ':', &has_name));
    if (has_name) {
        *out_name = *out_optype;
        LN_TRY(read_name(p, "the type of the operator after its name", out_optype));
    }
    LN_TRY(name_op(p, *out_optype, out_name));
    LN_TRY(check_name_is_new(p, &first, *out_name));
    return expect(p, '(',
                  has_name ? "'(' after the type of the operator"
                           : "'(' after the type of the operator, or ':' after its name");
}

static ln_status read_op(parser *p, ln_value *ops)
{
    p->op_count++;
    ln_value *op = ln_value_new(p->document, LN_VALUE_OBJECT, p->token.place);
    ln_value *name, *optype;
    LN_TRY(append(ops, NULL, op));
    LN_TRY(read_head(p, &name, &optype));
    LN_TRY(append(op, "name", name));
    LN_TRY(append(op, "optype", optype));
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++)
        LN_TRY(read_section(p, &sections[i], op));
    return p->token.kind == LN_IL_END ? LN_OK : expect(p, ';', "';' after the operator");
}

static bool is_word_next(const parser *p, const char *word)
{
    return p->token.kind == LN_IL_NAME && p->token.len == strlen(word) &&
           memcmp(p->token.text, word, p->token.len) == 0;
}

static bool is_block_next(const parser *p)
{
    return is_word_next(p, "graph") || is_word_next(p, "info");
}

// Statements up to `}`, or up to the end of the text.
static ln_status read_ops(parser *p, ln_value *ops, bool is_graph)
{
    while (p->token.kind != LN_IL_END && !(is_graph && ln_il_is(&p->token, '}'))) {
        bool is_empty;
        LN_TRY(take(p, ';', &is_empty));
        if (is_empty)
            continue;
        if (!is_graph && is_block_next(p))
            return LN_OK;
        LN_TRY(read_op(p, ops));
    }
    return LN_OK;
}

// `graph NAME { statements }`; names and numbers of operators are the graph's own.
static ln_status read_graph(parser *p, ln_value *graphs)
{
    ln_value *graph = ln_value_new(p->document, LN_VALUE_OBJECT, p->token.place);
    ln_value *ops = ln_value_new(p->document, LN_VALUE_ARRAY, p->token.place), *name = NULL;
    LN_TRY(append(graphs, NULL, graph));
    LN_TRY(advance(p));
    LN_TRY(read_name(p, "the name of a graph", &name));
    LN_TRY(append(graph, "name", name));
    LN_TRY(append(graph, "ops", ops));
    LN_TRY(expect(p, '{', "'{' after the name of the graph"));
    p->optypes = p->names = (ln_il_names){0};
    LN_TRY(read_ops(p, ops, true));
    return expect(p, '}', "'}' at the end of the graph");
}

// Keys and values in turn, as pairs.
static ln_status read_properties(parser *p, ln_value *info, const ln_value *list)
{
    ln_value *rows = ln_value_new(p->document, LN_VALUE_ARRAY, list->place), *row = NULL;
    LN_TRY(append(info, "properties", rows));
    for (const ln_value *text = list->first; text; text = text->next) {
        if (text->kind != LN_VALUE_STRING || (!row && !text->next))
            return ln_fail_at(text->place, LN_SYNTAX,
                              "expected properties as texts, a key and its value in turn");
        bool is_key = !row;
        if (is_key)
            LN_TRY(
                append(rows, NULL, row = ln_value_new(p->document, LN_VALUE_ARRAY, text->place)));
        LN_TRY(append(row, NULL, new_string(p, text->text, text->text_len, text->place)));
        if (!is_key)
            row = NULL;
    }
    return LN_OK;
}

static ln_status read_info_member(parser *p, ln_value *info)
{
    const ln_il_token token = p->token;
    ln_value *key, *value;
    LN_TRY(read_name(p, "the name of a text, or '}'", &key));
    if (ln_value_get(info, key->text))
        return ln_il_fail(&token, LN_SYNTAX, "the metadata have '%.100s' twice", key->text);
    LN_TRY(expect(p, '=', "'=' after the name of the text"));
    LN_TRY(read_param_value(p, &value));
    if (strcmp(key->text, "properties") == 0 && value->kind == LN_VALUE_ARRAY)
        LN_TRY(read_properties(p, info, value));
    else
        LN_TRY(append(info, key->text, value));
    bool is_here;
    LN_TRY(take(p, ';', &is_here));
    return is_here || ln_il_is(&p->token, '}')
               ? LN_OK
               : ln_il_fail_expected(&p->token, "';' or '}' after the text");
}

// `info { key = value; ... }`: the metadata of the model.
static ln_status read_info(parser *p, ln_value *root)
{
    ln_value *info = ln_value_new(p->document, LN_VALUE_OBJECT, p->token.place);
    if (ln_value_get(root, "info"))
        return ln_il_fail(&p->token, LN_SYNTAX, "a model has one block 'info'");
    LN_TRY(append(root, "info", info));
    LN_TRY(advance(p));
    LN_TRY(expect(p, '{', "'{' after 'info'"));
    while (!ln_il_is(&p->token, '}'))
        LN_TRY(read_info_member(p, info));
    return advance(p);
}

static ln_status read_block(parser *p, ln_value *root, ln_value **inout_graphs)
{
    if (is_word_next(p, "info"))
        return read_info(p, root);
    if (!is_word_next(p, "graph"))
        return ln_il_fail_expected(&p->token, "'graph': operators stand before all graphs");
    if (!*inout_graphs) {
        *inout_graphs = ln_value_new(p->document, LN_VALUE_ARRAY, p->token.place);
        LN_TRY(append(root, "graphs", *inout_graphs));
    }
    return read_graph(p, *inout_graphs);
}

static ln_status read_blocks(parser *p, ln_value *root)
{
    ln_value *graphs = NULL;
    while (p->token.kind != LN_IL_END) {
        bool is_empty;
        LN_TRY(take(p, ';', &is_empty));
        if (!is_empty)
            LN_TRY(read_block(p, root, &graphs));
    }
    return LN_OK;
}

static ln_status read_model(parser *p)
{
    ln_place start = {ln_document_file(p->document), 1, 1};
    ln_value *root = ln_value_new(p->document, LN_VALUE_OBJECT, start);
    ln_value *ops = root ? ln_value_new(p->document, LN_VALUE_ARRAY, start) : NULL;
    if (!ops)
        return ln_error_status();
    LN_TRY(append(root, "ops", ops));
    LN_TRY(advance(p));
    LN_TRY(read_ops(p, ops, false));
    LN_TRY(read_blocks(p, root));
    ln_document_set_root(p->document, root);
    return LN_OK;
}

// ---- Texts and files ----

static ln_status parse(const char *text, size_t len, const char *file, const char *folder,
                       const char *path, ln_document **out_document)
{
    ln_document *document;
    LN_TRY(ln_document_create(file, &document));
    parser *p = ln_alloc(sizeof *p); // large for a stack
    ln_status status = p ? LN_OK : LN_NO_MEMORY;
    if (status == LN_OK)
        status = ln_il_preprocessor_init(&p->pp, document, text, len, folder, path);
    if (status == LN_OK) {
        p->document = document;
        status = read_model(p);
        ln_il_preprocessor_deinit(&p->pp);
    }
    ln_free(p);
    if (status != LN_OK) {
        ln_document_destroy(document);
        return status;
    }
    *out_document = document;
    return LN_OK;
}

ln_status ln_il_parse(const char *text, size_t len, const char *file, const char *folder,
                      ln_document **out_document)
{
    *out_document = NULL;
    if (!text)
        return LN_FAIL(LN_INVALID, "no IL text to parse");
    return parse(text, len, file, folder, "", out_document);
}

ln_status ln_il_parse_file(const char *path, ln_document **out_document)
{
    *out_document = NULL;
    if (!path)
        return LN_FAIL(LN_INVALID, "no IL file to parse");
    char *text;
    size_t len;
    LN_TRY(ln_text_read_file(path, LN_IL_MAX_BYTES, &text, &len));
    if (strcmp(path, "-") == 0) {
        ln_status status = parse(text, len, "<stdin>", NULL, "", out_document);
        ln_free(text);
        return status;
    }
    const char *slash = strrchr(path, '/');
    size_t folder_len = slash ? (size_t)(slash - path) : 0;
    char *folder = !slash            ? ln_strdup(".")
                   : folder_len == 0 ? ln_strdup("/")
                                     : ln_strdup_printf("%.*s", (int)folder_len, path);
    ln_status status = folder
                           ? parse(text, len, path, folder, slash ? slash + 1 : path, out_document)
                           : LN_NO_MEMORY;
    ln_free(folder);
    ln_free(text);
    return status;
}
