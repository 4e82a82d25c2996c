// SPDX-License-Identifier: Apache-2.0
// JSON IR: the documented format, and its compiled form with the memory plan.
//
// People write it by hand, so what is read is easy JSON; what is written is JSON. The text becomes
// a value tree, to which serial/model_tree.h gives its meaning.

#include <lightnet/serializer.h>

#include <string.h>

#include "base/value.h"
#include "serial/model_tree.h"

// What is left of `bytes` after white space and comments.
static const char *skip_blank(const char *bytes, const char *end)
{
    while (bytes < end) {
        if (strchr(" \t\r\n", *bytes) && *bytes) {
            bytes++;
        } else if (end - bytes >= 2 && bytes[0] == '/' && bytes[1] == '/') {
            while (bytes < end && *bytes != '\n')
                bytes++;
        } else if (end - bytes >= 2 && bytes[0] == '/' && bytes[1] == '*') {
            bytes += 2;
            while (end - bytes >= 2 && !(bytes[0] == '*' && bytes[1] == '/'))
                bytes++;
            bytes += end - bytes >= 2 ? 2 : end - bytes;
        } else {
            break;
        }
    }
    return bytes;
}

static int ir_probe(const ln_serializer *serializer, const char *path, const char *bytes,
                    size_t byte_count)
{
    (void)serializer;
    (void)path;
    const char *first = skip_blank(bytes, bytes + byte_count);
    return first < bytes + byte_count && *first == '{' ? 80 : 0;
}

static ln_status ir_load_mem(ln_serializer *serializer, ln_context *ctx, const char *bytes,
                             size_t byte_count, const char *name)
{
    ln_document *document;
    LN_TRY(ln_document_parse(bytes, byte_count, name, LN_DIALECT_EASY, &document));
    ln_status status = ln_model_tree_read(serializer, ctx, document);
    ln_document_destroy(document);
    return status;
}

static ln_status ir_write(ln_serializer *serializer, const ln_context *ctx, char **out_bytes,
                          size_t *out_byte_count)
{
    (void)serializer;
    ln_document *document;
    LN_TRY(ln_model_tree_make(ctx, ctx->state >= LN_CONTEXT_PLANNED, &document));
    ln_text text = {0};
    ln_value_print(ln_document_root(document), &text);
    ln_text_puts(&text, "\n");
    ln_document_destroy(document);
    return ln_text_take(&text, out_bytes, out_byte_count);
}

static const char *const ir_extensions[] = {".json", NULL};

ln_serializer ln_serializer_ir = {
    .name = "ir",
    .doc = "JSON IR, plain or compiled with its memory plan",
    .extensions = ir_extensions,
    .probe = ir_probe,
    .load_mem = ir_load_mem,
    .write = ir_write,
    .writes_plan = 1,
};
