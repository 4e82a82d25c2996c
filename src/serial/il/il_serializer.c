// SPDX-License-Identifier: Apache-2.0
// IL as a format: IL text becomes the model tree of JSON IR, and back.

#include <lightnet/il.h>
#include <lightnet/serializer.h>

#include <string.h>

#include "base/value.h"
#include "ir/context.h"
#include "serial/il/il_parse.h"
#include "serial/il/il_print.h"
#include "serial/model_tree.h"

// IL has no magic. A model starts with a comment, a directive, or a statement `name(`; JSON starts
// with a brace, binary formats hold zeros.
static int il_probe(const ln_serializer *serializer, const char *path, const char *bytes,
                    size_t byte_count)
{
    (void)serializer;
    size_t path_len = path ? strlen(path) : 0;
    if (path_len > 4 && strcmp(path + path_len - 4, ".net") == 0)
        return 70; // what looks like JSON is JSON, whatever its name
    size_t looked_at = byte_count < 4096 ? byte_count : 4096;
    int has_bar = 0, has_paren = 0;
    for (size_t i = 0; i < looked_at; i++) {
        if (bytes[i] == '\0')
            return 0;
        if (bytes[i] == '{' && !has_paren)
            return 0;
        has_paren |= bytes[i] == '(';
        has_bar |= bytes[i] == '|' && has_paren;
    }
    return has_bar ? 50 : has_paren ? 10 : 0;
}

static ln_status read_document(ln_serializer *serializer, ln_context *ctx, ln_document *document)
{
    ln_status status = ln_model_tree_read(serializer, ctx, document);
    ln_document_destroy(document);
    return status;
}

static ln_status il_load_file(ln_serializer *serializer, ln_context *ctx, const char *path)
{
    ln_document *document;
    LN_TRY(ln_il_parse_file(path, &document));
    return read_document(serializer, ctx, document);
}

static ln_status il_load_mem(ln_serializer *serializer, ln_context *ctx, const char *bytes,
                             size_t byte_count, const char *name)
{
    ln_document *document;
    LN_TRY(ln_il_parse(bytes, byte_count, name, NULL, &document));
    return read_document(serializer, ctx, document);
}

static ln_status il_write(ln_serializer *serializer, const ln_context *ctx, char **out_bytes,
                          size_t *out_byte_count)
{
    (void)serializer;
    if (!ctx->ops)
        return LN_FAIL(LN_UNSUPPORTED, "a model without operators is an empty text in IL, "
                                       "which no reader would know; write JSON");
    ln_document *document;
    LN_TRY(ln_model_tree_make(ctx, 0, &document)); // IL has no words for a plan
    ln_text text = {0};
    ln_status status = ln_il_print(ln_document_root(document), &text);
    ln_document_destroy(document);
    if (status != LN_OK) {
        ln_text_deinit(&text);
        return status;
    }
    return ln_text_take(&text, out_bytes, out_byte_count);
}

static const char *const il_extensions[] = {".net", NULL};

ln_serializer ln_serializer_il = {
    .name = "il",
    .doc = "IL, the language for models written by hand",
    .extensions = il_extensions,
    .probe = il_probe,
    .load_file = il_load_file,
    .load_mem = il_load_mem,
    .write = il_write,
};

ln_status ln_il_to_json(const char *path, char **out_json)
{
    if (!path || !out_json)
        return LN_FAIL(LN_INVALID, "turning IL into JSON needs a path and a place for the result");
    *out_json = NULL;
    ln_document *document;
    LN_TRY(ln_il_parse_file(path, &document));
    ln_text text = {0};
    ln_value_print(ln_document_root(document), &text);
    ln_text_puts(&text, "\n");
    ln_document_destroy(document);
    size_t len;
    return ln_text_take(&text, out_json, &len);
}
