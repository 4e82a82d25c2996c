// SPDX-License-Identifier: Apache-2.0
// Any bytes give a document or an error; what is printed reads back to the same print.
// The first byte chooses the dialect.

#include "base/value.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <lightnet/allocator.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static ln_status print(ln_document *document, char **out_bytes, size_t *out_len)
{
    ln_text text = {0};
    ln_value_print(ln_document_root(document), &text);
    return ln_text_take(&text, out_bytes, out_len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ln_document *document;
    if (size == 0 || ln_document_parse((const char *)data + 1, size - 1, "fuzz",
                                       (ln_dialect)(data[0] % 3), &document) != LN_OK)
        return 0;
    char *first, *second;
    size_t first_len, second_len;
    if (print(document, &first, &first_len) == LN_OK) {
        ln_document *again;
        if (ln_document_parse(first, first_len, "again", LN_DIALECT_JSON, &again) != LN_OK ||
            print(again, &second, &second_len) != LN_OK || first_len != second_len ||
            memcmp(first, second, first_len) != 0)
            abort();
        ln_free(second);
        ln_document_destroy(again);
        ln_free(first);
    }
    ln_document_destroy(document);
    return 0;
}
