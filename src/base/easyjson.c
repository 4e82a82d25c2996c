// SPDX-License-Identifier: Apache-2.0
// Easy JSON is one of the dialects that the reader of values knows; here it only meets files.

#include <lightnet/easyjson.h>

#include <lightnet/allocator.h>

#include "base/value.h"

static ln_status print_document(ln_document *document, char **out_json)
{
    ln_text text = {0};
    ln_value_print_as_read(ln_document_root(document), &text);
    ln_text_puts(&text, "\n");
    size_t len;
    return ln_text_take(&text, out_json, &len);
}

ln_status ln_easyjson_to_json(const char *path, char **out_json)
{
    if (!path || !out_json)
        return LN_FAIL(LN_INVALID, "turning easy JSON into JSON needs a path and a place for it");
    *out_json = NULL;
    char *bytes;
    size_t len;
    LN_TRY(ln_text_read_file(path, LN_VALUE_MAX_BYTES, &bytes, &len));
    ln_document *document;
    ln_status status = ln_document_parse(bytes, len, path, LN_DIALECT_EASY, &document);
    if (status == LN_OK)
        status = print_document(document, out_json);
    ln_document_destroy(document);
    ln_free(bytes);
    return status;
}
